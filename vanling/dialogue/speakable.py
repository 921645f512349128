"""From a model's raw output to sentences fit to be shown and spoken, each with its emotion.

Characters run through stages, one by one: :class:`~.text.scrub.Scrub` (controls, emoji), :class:`~.text.hidden.Hidden`
(thinking, tool calls, tags, code), :class:`~.text.markdown.Markdown`, :class:`~.splitter.SentenceSplitter`. No stage
sees how the stream was cut, so the result never depends on it; none looks at a character more than a few times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vanling.dialogue.emotion import NEUTRAL
from vanling.dialogue.splitter import Piece, SentenceSplitter
from vanling.dialogue.text.hidden import Hidden
from vanling.dialogue.text.markdown import Markdown
from vanling.dialogue.text.scrub import Scrub
from vanling.dialogue.text.signs import emotion_of, is_picture, is_tag


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text`` holds at least one letter or digit; ``emotion`` is one of the firmware's names."""

    text: str
    emotion: str = NEUTRAL


class Speakable:
    """Of one reply. Feed what the model gives, get sentences; :meth:`finish` gives what is left."""

    def __init__(self) -> None:
        self._scrub = Scrub()
        self._hidden = Hidden()
        self._markdown = Markdown()
        self._splitter = SentenceSplitter()
        self._emotion = ""
        """Of the sentence that goes on, or of a tag that waits for its sentence."""

    def feed(self, piece: str) -> Iterator[Sentence]:
        scrub, hidden, markdown = self._scrub.push, self._hidden.push, self._markdown.push
        for raw in piece:
            for char in scrub(raw):
                for kept in hidden(char):
                    for word in markdown(kept):
                        yield from self._sentences(self._splitter.feed(word))

    def finish(self) -> Iterator[Sentence]:
        rest = [kept for char in self._scrub.finish() for kept in self._hidden.push(char)]
        rest += self._hidden.finish()
        text = "".join(self._markdown.push(char) for char in rest) + self._markdown.finish()
        yield from self._sentences(self._splitter.feed(text))
        yield from self._sentences(self._splitter.finish())

    def _sentences(self, pieces: Iterator[Piece]) -> Iterator[Sentence]:
        for piece in pieces:
            text = tidy(piece.text)
            tags = [emotion_of(char) for char in piece.text if is_tag(char)]
            pictures = [emotion_of(char) for char in piece.text if is_picture(char)]
            found = next((name for name in (*tags, self._emotion, *pictures) if name), "")
            if any(char.isalnum() for char in text):
                yield Sentence(text, found or NEUTRAL)
                self._emotion = "" if piece.ends else found
            elif piece.ends:
                self._emotion = next((name for name in tags if name), "")


_SIGNS = "\U000f0000-\U000f02ff"
_BEFORE_MARK = re.compile(rf" *[{_SIGNS}]+ *(?=[{_SIGNS},.!?;:，。！？；：、…)）]|$)")
_BETWEEN_WORDS = re.compile(rf"(?<=[^\W\u1100-\U000effff])[{_SIGNS}]+(?=[^\W\u1100-\U000effff])")
_AROUND = re.compile(rf" *[{_SIGNS}]+ +| +[{_SIGNS}]+")
_ANY_SIGN = re.compile(rf"[{_SIGNS}]+")
_REPEATED = re.compile(r"([。！？，；：、～])\1+")

_MANY = re.compile(r"([!?.…~-])\1{3,}")


def tidy(text: str) -> str:
    """A sentence without signs, and what they leave behind; the same Chinese mark only once in a row."""
    if _ANY_SIGN.search(text):
        text = _BEFORE_MARK.sub("", text)
        text = _BETWEEN_WORDS.sub(" ", text)
        text = _AROUND.sub(" ", text)
        text = _ANY_SIGN.sub("", text)
    text = _MANY.sub(r"\1\1\1", text)
    return " ".join(_REPEATED.sub(r"\1", text).split())
