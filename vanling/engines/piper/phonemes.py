"""From text to the numbers that a Piper voice takes, by gruut (MIT), whose lexicon speaks espeak's dialect of IPA."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gruut
import numpy as np
from gruut.const import Sentence
from gruut.text_processor import TextProcessor
from numpy.typing import NDArray

from vanling.engines.piper.lexicon import Lexicon
from vanling.engines.piper.text import clean, pieces
from vanling.errors import EngineUnavailableError

log = logging.getLogger(__name__)

PAD, BEGIN, END = "_", "^", "$"
_MINOR, _MAJOR = ",", "."
_BREAK_MARKS = frozenset(",;:.!?")
LONGEST = 320
"""Symbols of one synthesis. Characters do not bound them (``W`` alone has nine), and time and memory of the voice's
encoder grow with their square: three thousand take gigabytes, and seconds in which nobody else is spoken to."""
_WORD_OR_DIGIT = re.compile(r"[^\W\d_]+|\d")


class Phonemizer:
    """Turns text into phoneme ids, in one thread: gruut's plain lexicon is bound to the first that asks it."""

    def __init__(self, locale: str, phoneme_ids: Mapping[str, Sequence[int]], lexicon: Lexicon | None = None) -> None:
        if not gruut.is_language_supported(locale):
            raise EngineUnavailableError(
                f"gruut has no phonemes for {locale}; known: {', '.join(sorted(gruut.get_supported_languages()))}"
            )
        lookup: dict[str, Any] = {} if lexicon is None else {"lookup_phonemes": lexicon}
        self._gruut = TextProcessor(default_lang=locale, model_prefix="espeak", **lookup)
        self._language = locale.split("-", maxsplit=1)[0]
        self._ids = phoneme_ids
        self.dropped = 0
        """Symbols so far that the voice has no sound for."""

    def sentences(self, text: str) -> Iterator[NDArray[np.int64]]:
        """Ids of one synthesis after another, each a sentence or a part of a long one; nothing for unspeakable text."""
        for piece in pieces(clean(text, self._language)):
            for sentence in self._read(piece):
                for symbols in _short(self._symbols(sentence)):
                    if any(symbol not in _BREAK_MARKS and symbol != " " for symbol in symbols):
                        yield self._numbers(symbols)

    def _read(self, piece: str) -> list[Sentence]:
        """gruut's reading; what it stumbles over (numbers out of its range) is read as bare words and digits."""
        try:
            return list(self._gruut.sentences(*self._gruut(piece)))
        except Exception as error:
            log.warning("gruut failed: %r", error, extra={"component": "TTS", "event": "phonemes_failed"})
            plain = " ".join(_WORD_OR_DIGIT.findall(piece))
            return list(self._gruut.sentences(*self._gruut(plain)))

    def _symbols(self, sentence: Sentence) -> list[str]:
        symbols: list[str] = []
        for word in sentence:
            if word.is_major_break or word.is_minor_break:
                mark = word.text.strip()[:1]
                fallback = _MAJOR if word.is_major_break else _MINOR
                symbols.append(mark if mark in _BREAK_MARKS else fallback)
            elif word.phonemes:
                if symbols:
                    symbols.append(" ")
                symbols.extend("".join(word.phonemes))
        return symbols

    def _numbers(self, symbols: list[str]) -> NDArray[np.int64]:
        pad = self._ids[PAD]
        numbers = [*self._ids[BEGIN], *pad]
        for symbol in symbols:
            known = self._ids.get(symbol)
            if known is None:
                self.dropped += 1
                log.debug("no sound for %r", symbol, extra={"component": "TTS", "event": "symbol_dropped"})
                continue
            numbers.extend(known)
            numbers.extend(pad)
        numbers.extend(self._ids[END])
        return np.array(numbers, np.int64)


def _short(symbols: list[str]) -> Iterator[list[str]]:
    """Parts of at most :data:`LONGEST` symbols, cut at a pause, else between words, in the second half of each."""
    while len(symbols) > LONGEST:
        cut = _border(symbols)
        yield symbols[:cut]
        symbols = symbols[cut:]
    yield symbols


def _border(symbols: Sequence[str]) -> int:
    for marks in (_BREAK_MARKS, frozenset(" ")):
        for i in range(LONGEST - 1, LONGEST // 2, -1):
            if symbols[i] in marks:
                return i + 1
    return LONGEST
