"""First stage: characters that are neither shown nor spoken. Controls and lone surrogates go, pictures become signs."""

from __future__ import annotations

import unicodedata

from vanling.dialogue.emotion import PICTURE_EMOTIONS
from vanling.dialogue.text.chars import is_cjk
from vanling.dialogue.text.signs import PICTURE, picture

MAX_MARKS = 8
"""Combining characters after one letter; more is ornament (and would never let a sentence be cut)."""

_AS_SPACE = frozenset(
    "\t\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_AS_NEWLINE = frozenset("\r\u0085\u2028\u2029")
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0f"
_KEYCAP = "\u20e3"
_PICTURE_RANGES = (
    (0x231A, 0x231B),
    (0x2328, 0x2328),
    (0x23CF, 0x23CF),
    (0x23E9, 0x23FA),
    (0x24C2, 0x24C2),
    (0x2500, 0x2580),
    (0x2582, 0x2775),  # boxes, shapes, weather, hearts, stars, dingbats; but not the ▁ of DeepSeek's tags
    (0x2794, 0x27BF),
    (0x2B00, 0x2BFF),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1FBFF),
)
_MODIFIERS = ((0x1F3FB, 0x1F3FF), (0xE0000, 0xE007F))
"""Skin tones and the letters of flags: parts of the picture before."""
_TEXT_OR_PICTURE = frozenset("0123456789#*©®™‼⁉ℹ↔↕↖↗↘↙↩↪⤴⤵")
"""Text by themselves, a picture where U+FE0F follows (digits, ``#`` and ``*`` only with the keycap U+20E3)."""


class Scrub:
    """Feed characters, get what is left of them. Holds back one character at most."""

    def __init__(self) -> None:
        self._held = ""
        self._high = ""
        self._last = ""
        self._marks = 0

    def push(self, char: str) -> str:
        if char < "\u007f" and not self._held and not self._high and char not in _TEXT_OR_PICTURE:
            return self._plain(char)  # nearly every character of an English reply
        if "\ud800" <= char <= "\udfff":
            return self._surrogate(char)
        self._high = ""
        if self._held:
            held = self._held
            if char == _EMOJI_STYLE and len(held) == 1:
                self._held = held + char
                return ""
            self._held = ""
            if char == _KEYCAP:
                return self._picture(held[0] + _KEYCAP)
            if len(held) == 2 and held[0] not in "0123456789#*":
                return self._picture(held[0]) + self.push(char)
            return self._plain(held[0]) + self.push(char)
        if char in _TEXT_OR_PICTURE:
            self._held = char
            return ""
        return self._plain(char)

    def finish(self) -> str:
        held, self._held, self._high = self._held, "", ""
        if len(held) == 2 and held[0] not in "0123456789#*":
            return self._picture(held[0])
        return self._plain(held[0]) if held else ""

    def _surrogate(self, char: str) -> str:
        """A pair that came as two characters is one (some streams cut it in the middle); half a pair is nothing."""
        high, self._high = self._high, ""
        if char <= "\udbff":
            self._high = char
            return ""
        if not high:
            return ""
        return self.push(chr(0x10000 + ((ord(high) - 0xD800) << 10) + ord(char) - 0xDC00))

    def _plain(self, char: str) -> str:
        if char == "\n" or char in _AS_NEWLINE:
            return self._give("\n")
        if char in _AS_SPACE:
            return self._give(" ")
        if char < "\u007f":
            return self._give(char) if char >= " " else ""
        if char in _JOINERS:
            # Persian and Indian words need them; elsewhere they only glue pictures.
            last = self._last
            return self._give(char) if last > "\u05ff" and last.isalpha() and not is_cjk(last) else ""
        code = ord(char)
        if _within(code, _MODIFIERS):
            return ""
        if _within(code, _PICTURE_RANGES):
            return self._picture(char)
        category = unicodedata.category(char)
        if category[0] == "C" or "\ufe00" <= char <= "\ufe0f" or char == _KEYCAP:
            return ""
        if category[0] == "M":
            self._marks += 1
            return char if self._marks <= MAX_MARKS and self._last else ""
        return self._give(char)

    def _give(self, char: str) -> str:
        self._last = char
        self._marks = 0
        return char

    def _picture(self, shown: str) -> str:
        self._last = ""
        emotion = PICTURE_EMOTIONS.get(shown)
        return picture(emotion) if emotion else PICTURE


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
