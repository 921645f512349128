"""Signs that the stages pass on inside the text, one private character each; a model's own are removed before.

An emotion or a removed picture stays at its place in this way until the sentence is whole, and still is a single
character that no chunk border can divide.
"""

from __future__ import annotations

from vanling.dialogue.emotion import EMOTIONS

FORGET = "\U000f0000"
"""What came before was thinking: drop what has not been said yet."""

PICTURE = "\U000f0001"
"""A picture without an emotion."""

_NAMES = sorted(EMOTIONS)
_PICTURES = 0xF0100
_TAGS = 0xF0200


def picture(emotion: str) -> str:
    """The sign of a picture that shows an emotion."""
    return chr(_PICTURES + _NAMES.index(emotion))


def tag(emotion: str) -> str:
    """The sign of a written emotion tag."""
    return chr(_TAGS + _NAMES.index(emotion))


def is_picture(char: str) -> bool:
    return char == PICTURE or _PICTURES <= ord(char) < _TAGS


def is_tag(char: str) -> bool:
    return _TAGS <= ord(char) < _TAGS + len(_NAMES)


def emotion_of(sign: str) -> str:
    """The emotion of a picture or a tag; empty for any other character."""
    code = ord(sign)
    if _PICTURES <= code < _TAGS + len(_NAMES):
        place = (code - _PICTURES) % (_TAGS - _PICTURES)
        return _NAMES[place] if place < len(_NAMES) else ""
    return ""
