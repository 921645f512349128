"""Wall time as a parameter: everything that needs "now" is given a :class:`Clock`."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Monotonic time in nanoseconds; its zero is arbitrary."""

    def now_ns(self) -> int: ...


class MonotonicClock:
    """The machine's monotonic clock."""

    __slots__ = ()

    def now_ns(self) -> int:
        return time.monotonic_ns()


class ManualClock:
    """A clock that stands still until it is told to move; for tests and simulations."""

    __slots__ = ("_now_ns",)

    def __init__(self, now_ns: int = 0) -> None:
        self._now_ns = now_ns

    def now_ns(self) -> int:
        return self._now_ns

    def advance_ms(self, ms: float) -> int:
        """Move forward by ``ms`` milliseconds and return the new time."""
        self._now_ns += int(ms * 1e6)
        return self._now_ns
