"""Pings, and what happens when no pong comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Keepalive:
    """A ping every ``interval_s``; ``late`` is called when its pong has not come within ``timeout_s``."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        interval_s: float,
        timeout_s: float,
        send: Callable[[bytes], None],
        late: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._send = send
        self._late = late
        self._timer: asyncio.TimerHandle | None = None
        self._count = 0
        self._awaited: bytes | None = None

    def start(self) -> None:
        self._timer = self._loop.call_later(self._interval_s, self._ping)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pong(self, payload: bytes) -> None:
        """Only the answer to the last ping counts: a client may send pongs by itself (RFC 6455 §5.5.3)."""
        if self._timer is not None and payload == self._awaited:
            self._awaited = None
            self._timer.cancel()
            self.start()

    def _ping(self) -> None:
        self._count += 1
        self._awaited = self._count.to_bytes(4, "big")
        self._timer = self._loop.call_later(self._timeout_s, self._late)
        self._send(self._awaited)
