"""From a stream of clean text to sentences that can be spoken one by one.

The borders between the pieces never change the result: each character is judged with what came before it, and a full
stop only once the character (for ``U.S.``: the word) behind it is known. The rules are those of :mod:`.text.borders`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vanling.dialogue.text.borders import Border, after_mark, after_word
from vanling.dialogue.text.chars import CJK_CLAUSE, CLOSERS, ENDERS, LATIN_CLAUSE, is_cjk, is_mark
from vanling.dialogue.text.signs import FORGET, is_picture

MAX_WIDTH = 300
"""Longest sentence: so many Latin letters, or a third of that in Chinese characters (pains P34)."""

FIRST_MAX_WIDTH = 120
"""Longest first piece of a reply without any clause mark: 20 words are 2 s of a slow model (pains P37)."""

HARD_WIDTH = 400
"""A text without blanks (an address) is cut here, between two characters."""

CJK_WIDTH = 3
FIRST_CLAUSE_UNITS = 8
"""The first clause is spoken by itself from 4 words or 8 Chinese characters on: a word counts 2, a character 1."""

_LONGEST_NEXT_WORD = 24


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or a part of one; ``ends`` is False where the sentence goes on in the next piece."""

    text: str
    ends: bool = True


class SentenceSplitter:
    """Feed pieces of text, get sentences; :meth:`finish` gives what is left.

    ``first_clause``: the first piece may be only the first clause of its sentence, so that a voice can begin.
    """

    def __init__(self, *, first_clause: bool = True) -> None:
        self._eager = first_clause
        self._out: list[Piece] = []
        self._gap = False
        self._closed = False
        self._clear()

    def feed(self, text: str) -> Iterator[Piece]:
        for char in text:
            self._push(char)
            if self._out:
                yield from self._take()

    def finish(self) -> Iterator[Piece]:
        self._emit(len(self._text), ends=True)
        yield from self._take()

    # --- one character ------------------------------------------------------------------------------------------------

    def _push(self, char: str) -> None:
        if char == FORGET:
            self._clear()
        elif char == "\n":
            self._emit(len(self._text), ends=True)
        elif self._word_from:
            self._in_next_word(char)
        elif self._mark_at:
            self._behind_mark(char)
        else:
            self._append(char)

    def _behind_mark(self, char: str) -> None:
        text = self._text
        if char == " " or is_picture(char):
            self._gap = True
            self._keep(char)
            return
        if not self._gap and (char in ENDERS or char in CLOSERS or is_mark(char)):
            if char in ENDERS and not self._closed:
                self._mark_end = len(text) + 1
            self._closed = self._closed or char in CLOSERS
            self._keep(char)
            return
        border = after_mark("".join(text[: self._mark_end]), char, gap=self._gap, closed=self._closed)
        if border is Border.BY_NEXT_WORD:
            self._word_from = len(text)
            self._keep(char)
            return
        self._decide(border, len(text))
        self._append(char)

    def _in_next_word(self, char: str) -> None:
        """The word behind an abbreviation tells whether a sentence begins with it."""
        word_from = self._word_from
        if (char.isalpha() or char in "'’") and len(self._text) - word_from < _LONGEST_NEXT_WORD:
            self._keep(char)
            return
        word = "".join(self._text[word_from:])
        self._decide(after_word(word), word_from)
        self._push(char)

    def _decide(self, border: Border, at: int) -> None:
        self._mark_at = self._word_from = 0
        if border is Border.YES:
            self._emit(at, ends=True)

    def _append(self, char: str) -> None:
        """A character within a sentence."""
        text = self._text
        if text and not (is_mark(char) or char in CLOSERS or is_picture(char)) and self._cut_before(char):
            self._push(char)
            return
        self._keep(char)
        if char in ENDERS and len(self._text) > 1:
            self._mark_at = self._mark_end = len(self._text)
            self._gap = self._closed = False

    def _keep(self, char: str) -> None:
        """Add to the sentence and note where it could be cut."""
        text = self._text
        if not text and char == " ":
            return
        before = text[-1] if text else ""
        text.append(char)
        cjk = is_cjk(char)
        self._width += CJK_WIDTH if cjk else 1
        if char == " ":
            self._blank_at = len(text)
            if before in LATIN_CLAUSE or before in CJK_CLAUSE or before in "—–":
                self._clause_at = len(text)
        elif char in CJK_CLAUSE or (char in CLOSERS and self._clause_at == len(text) - 1):
            self._clause_at = len(text)
        if cjk:
            self._units += 1
        elif char.isalnum() and not (before.isalnum() or (before in "'’.-_/:@" and before)):
            self._units += 2

    # --- cuts ---------------------------------------------------------------------------------------------------------

    def _cut_before(self, char: str) -> bool:
        at = len(self._text)
        if self._eager and self._clause_at == at and self._units >= FIRST_CLAUSE_UNITS and not self._date(char):
            self._emit(at, ends=False)
            return True
        limit = FIRST_MAX_WIDTH if self._eager else MAX_WIDTH
        cut = self._best_cut(char) if self._width >= limit else 0
        if cut:
            self._emit(cut, ends=False)
        return cut > 0

    def _date(self, char: str) -> bool:
        """``Jan 1, 1980`` is one thing."""
        return char.isdigit() and "".join(self._text[-4:]).rstrip(" ,")[-1:].isdigit()

    def _best_cut(self, char: str) -> int:
        text = self._text
        if self._clause_at > len(text) // 3:
            return self._clause_at
        if is_cjk(char) and is_cjk(text[-1]):
            return len(text)
        if self._blank_at:
            return self._blank_at
        return len(text) if self._width >= HARD_WIDTH and text[-1] != "\u200d" else 0

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _emit(self, at: int, *, ends: bool) -> None:
        """Give away the first ``at`` characters; the rest is read again, as the beginning of what follows."""
        head, tail = "".join(self._text[:at]).strip(), self._text[at:]
        self._clear()
        if any(char.isalnum() for char in head):
            self._eager = False
        if head:
            self._out.append(Piece(head, ends))
        for char in tail:
            self._push(char)

    def _clear(self) -> None:
        self._text: list[str] = []
        self._width = self._units = 0
        self._clause_at = self._blank_at = 0
        self._mark_at = self._mark_end = self._word_from = 0
        self._gap = self._closed = False

    def _take(self) -> list[Piece]:
        out, self._out = self._out, []
        return out
