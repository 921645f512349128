"""What a connection has handed to its transport and the network has not taken yet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from vanling.server.settings import WireLimits

log = logging.getLogger(__name__)


class Backlog:
    """Counts bytes in and out of the transport's write buffer, so that one question has an exact answer: has the last
    audio frame left? Two faults end the connection: too much waits, or something waits for too long."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        limits: WireLimits,
        give_up: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._limits = limits
        self._give_up = give_up
        self._written = 0
        self._audio_end = 0
        self._waiters: list[Callable[[], None]] = []
        self._paused = False
        self._watched_end = 0
        self._watched_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes, audio: bool) -> None:
        # Counted before it is written: the transport may call paused() from within.
        self._written += len(data)
        if audio:
            self._audio_end = self._written
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > self._limits.max_backlog_bytes:
            log.warning("client does not read; aborted", extra={"component": "WS", "event": "backlog_full"})
            self._give_up()

    def writable(self) -> bool:
        return self._taken() >= self._audio_end

    def when_writable(self, callback: Callable[[], None]) -> None:
        self._waiters.append(callback)
        if self.writable():
            self._loop.call_soon(self._wake)

    def forget_waiters(self) -> None:
        self._waiters.clear()

    def paused(self) -> None:
        """The transport's buffer is no longer empty."""
        self._paused = True
        self._watch()
        if self._timer is None:
            self._timer = self._loop.call_later(self._limits.unwritten_timeout_s, self._look)

    def resumed(self) -> None:
        """The transport's buffer is empty again."""
        self._paused = False
        self._wake()

    def stop(self) -> None:
        self.forget_waiters()
        self._paused = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _taken(self) -> int:
        return self._written - self._transport.get_write_buffer_size()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for index, callback in enumerate(waiters):
            if not self.writable():  # an earlier waiter has sent a frame
                self._waiters = waiters[index:] + self._waiters
                return
            callback()

    def _watch(self) -> None:
        self._watched_end = self._written
        self._watched_since = self._loop.time()

    def _look(self) -> None:
        """One timer for many pauses: it is not cancelled at each resume, it looks again when it comes due."""
        self._timer = None
        if not self._paused:
            return
        waited = self._loop.time() - self._watched_since
        if self._taken() >= self._watched_end:
            self._watch()
            waited = 0.0
        elif waited >= self._limits.unwritten_timeout_s - 0.001:
            log.warning("a frame was not taken in time; aborted", extra={"component": "WS", "event": "write_stall"})
            self._give_up()
            return
        self._timer = self._loop.call_later(self._limits.unwritten_timeout_s - waited, self._look)
