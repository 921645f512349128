"""Being called: what is a wake word, and the greeting that leaves room for a one-breath command (CONVERSATION §2)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from vanling.session.settings import MS

WAKE_LISTEN_MS = 2_000
"""A listen/start this soon after a detect belongs to it (rule 2.3); without one the greeting comes then."""

GREETING_DELAY_MS = 400
"""After that listen/start, the greeting leaves room for a one-breath command (rule 2.2)."""


class Waking:
    """The last detect, and a greeting that is due."""

    def __init__(self, wake_words: Sequence[str], *, greets: bool) -> None:
        self._wake_words = frozenset(_plain(word) for word in wake_words)
        self._greets = greets
        self._detect_ns: int | None = None
        self.greeting_ns: int | None = None
        """When the greeting is due; None: there is none to come."""

    def detected(self, text: str, now_ns: int) -> bool:
        """A detect came; whether it is a wake."""
        self._detect_ns = now_ns
        return _plain(text) in self._wake_words

    def woken(self, now_ns: int) -> None:
        if self._greets:
            self.greeting_ns = now_ns + WAKE_LISTEN_MS * MS

    def takes_start(self, now_ns: int) -> bool:
        """Whether a listen/start belongs to the last detect; it does so once."""
        if self._detect_ns is None or now_ns - self._detect_ns > WAKE_LISTEN_MS * MS:
            return False
        self._detect_ns = None
        if self.greeting_ns is not None:
            self.greeting_ns = now_ns + GREETING_DELAY_MS * MS
        return True

    def drop_greeting(self) -> None:
        self.greeting_ns = None

    def greeting_is_due(self, now_ns: int) -> bool:
        """Whether to greet now; once."""
        if self.greeting_ns is None or now_ns < self.greeting_ns:
            return False
        self.greeting_ns = None
        return True


def _plain(text: str) -> str:
    """A wake word without case, width, spaces and marks, so that "Hi, Lexin!" is "hilexin"."""
    return "".join(ch for ch in unicodedata.normalize("NFKC", text).casefold() if ch.isalnum())
