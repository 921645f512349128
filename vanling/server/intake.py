"""A client's bytes in portions, so that no client holds the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

BYTES_PER_PASS = 64 * 1024
WORK_PER_PASS = 16
"""Messages in one pass of the event loop; one costs up to 0.1 ms."""


class Intake:
    """Hands bytes to ``take`` in pieces, in order, and lets the loop serve others after a bounded amount of work.

    Reading is paused while anything is left, so no more than one read waits in memory. That pause is also what keeps
    uvloop from reading one socket up to 32 times before it looks at another, at a timer or at a signal.

    ``take`` gets one piece of at most ``piece_bytes`` and returns how many messages were in it; ``ready`` says whether
    it may be given one now. Where that becomes true, :meth:`wake` must be called.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        take: Callable[[bytes], int],
        piece_bytes: int,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._take = take
        self._piece_bytes = piece_bytes
        self._ready = ready
        self._data = b""
        self._at = 0
        self._paused = False
        self._next: asyncio.Handle | None = None

    def feed(self, data: bytes) -> None:
        """What was read. Handled at once as far as one pass goes, unless earlier bytes still wait."""
        self._data = self._withdraw() + data
        if self._next is None:
            self._pass()

    def wake(self) -> None:
        """Go on soon, if anything waits."""
        if self._next is None and (self._paused or self._data):
            self._next = self._loop.call_soon(self._pass)

    def stop(self) -> bytes:
        """Hand out nothing more; returns what has not been."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        rest = self._withdraw()
        self._resume()
        return rest

    def _pass(self) -> None:
        self._next = None
        work, end = 0, self._at + BYTES_PER_PASS
        while self._at < min(len(self._data), end) and work < WORK_PER_PASS and self._ready():
            piece = self._data[self._at : self._at + self._piece_bytes]
            self._at += len(piece)
            work += self._take(piece)
        if self._at < len(self._data) or not self._ready():
            self._pause()
            if self._ready():
                self.wake()
        else:
            self._withdraw()
            self._resume()

    def _withdraw(self) -> bytes:
        rest, self._data, self._at = self._data[self._at :], b"", 0
        return rest

    def _pause(self) -> None:
        if not self._paused and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()
