"""From a stream of text pieces to sentences that can be spoken one by one.

The borders between the pieces never change the result: text is looked at only where it can no longer change its
meaning. Sentence ends are found by ``sentence-stream``; what it keeps open too long is cut here.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentence_stream import SentenceBoundaryDetector

MAX_SENTENCE_CHARS = 400
"""A text without any sentence end is cut here at the latest, so that a voice can begin (pains P34)."""

_CUT_MARKS = "，；：、,;: \n"


class SentenceSplitter:
    """Feed pieces of text, get whole sentences; :meth:`finish` gives what is left."""

    def __init__(self) -> None:
        self._detector = SentenceBoundaryDetector()

    def feed(self, piece: str) -> Iterator[str]:
        # One character at a time makes the result independent of how the model cut its output.
        for char in piece:
            for sentence in self._detector.add_chunk(char):
                yield from cut_long(sentence)
            if len(self._detector.remaining_text) >= MAX_SENTENCE_CHARS:
                yield from self._flush_long()

    def finish(self) -> Iterator[str]:
        rest = self._detector.finish()
        if rest:
            yield from cut_long(rest)

    def _flush_long(self) -> Iterator[str]:
        rest = self._detector.finish()
        head, tail = _cut_once(rest)
        self._detector.remaining_text = tail
        if head.strip():
            yield head.strip()


def cut_long(sentence: str) -> Iterator[str]:
    """Cut a sentence of more than :data:`MAX_SENTENCE_CHARS` at its marks, or hard where it has none."""
    while len(sentence) > MAX_SENTENCE_CHARS:
        head, sentence = _cut_once(sentence)
        if head.strip():
            yield head.strip()
    if sentence.strip():
        yield sentence.strip()


def _cut_once(text: str) -> tuple[str, str]:
    window = text[:MAX_SENTENCE_CHARS]
    at = max(window.rfind(mark) for mark in _CUT_MARKS)
    at = at + 1 if at >= MAX_SENTENCE_CHARS // 2 else len(window)
    return text[:at], text[at:]
