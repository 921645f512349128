"""Announcements that wait for their moment (CONVERSATION rule 5.6)."""

from __future__ import annotations

from collections import deque

from vanling.session.settings import MS

HELLO_LISTEN_MS = 2_000
"""After a hello, the first listen/start is waited for this long."""

MAX_WAITING_SAYS = 16
"""More than that nobody wants to hear when a device comes back; the oldest go."""


class Saying:
    """First come, first said; the floor's owner asks for the next one when nobody speaks."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque(maxlen=MAX_WAITING_SAYS)
        self._ready_ns: int | None = None
        self._ready = False
        """A client is there and has had its time to say that it listens."""

    @property
    def waits(self) -> bool:
        return bool(self._waiting)

    @property
    def ready(self) -> bool:
        return self._ready

    @property
    def due_ns(self) -> int | None:
        """When :meth:`on_time` makes a difference."""
        return self._ready_ns if self._waiting and not self._ready else None

    def hello(self, now_ns: int) -> None:
        self._ready_ns = now_ns + HELLO_LISTEN_MS * MS

    def listen_start(self) -> None:
        """The device listens, so it can speak as well."""
        self._ready = True

    def on_time(self, now_ns: int) -> None:
        self._ready = self._ready or (self._ready_ns is not None and now_ns >= self._ready_ns)

    def add(self, text: str) -> None:
        self._waiting.append(text)

    def again(self, text: str) -> None:
        """It was withdrawn before anybody heard of it."""
        self._waiting.appendleft(text)

    def next(self) -> str | None:
        """Take the next one, if its time has come."""
        return self._waiting.popleft() if self._waiting and self._ready else None
