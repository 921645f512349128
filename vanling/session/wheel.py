"""One timer for all sessions: the earliest deadline is armed, whatever is due is called (rule 5.3)."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Callable

from vanling.clock import Clock

log = logging.getLogger(__name__)


class Slot:
    """One caller's place in the wheel; it holds at most one deadline."""

    __slots__ = ("_wheel", "call", "when_ns")

    def __init__(self, wheel: TimerWheel, call: Callable[[int], None]) -> None:
        self._wheel = wheel
        self.call = call
        self.when_ns: int | None = None

    def arm(self, when_ns: int | None) -> None:
        """Be called at ``when_ns`` or as soon after as the loop allows; None: not at all."""
        if when_ns != self.when_ns:
            self.when_ns = when_ns
            if when_ns is not None:
                self._wheel._push(self, when_ns)


class TimerWheel:
    """Absolute deadlines for any number of slots from a single event-loop timer."""

    def __init__(self, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self._clock = clock
        self._loop = loop
        self._heap: list[tuple[int, int, Slot]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._armed_ns: int | None = None

    def slot(self, call: Callable[[int], None]) -> Slot:
        """``call(now_ns)`` is what happens at the slot's deadline."""
        return Slot(self, call)

    def _push(self, slot: Slot, when_ns: int) -> None:
        heapq.heappush(self._heap, (when_ns, next(self._order), slot))
        if self._armed_ns is None or when_ns < self._armed_ns:
            self._arm(when_ns)

    def _arm(self, when_ns: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_ns = when_ns
        self._timer = self._loop.call_later(max(0.0, (when_ns - self._clock.now_ns()) / 1e9), self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._armed_ns = None
        heap = self._heap
        while heap:
            when_ns, _, slot = heap[0]
            if slot.when_ns != when_ns:  # re-armed or withdrawn meanwhile
                heapq.heappop(heap)
                continue
            now_ns = self._clock.now_ns()
            if when_ns > now_ns:
                break
            heapq.heappop(heap)
            slot.when_ns = None
            try:
                slot.call(now_ns)
            except Exception:
                log.exception("timer call failed", extra={"component": "SESSION", "event": "timer_error"})
        if heap and (self._armed_ns is None or heap[0][0] < self._armed_ns):
            self._arm(heap[0][0])
