"""Nodes outside a session: a clock that is told the time, tasks that are looked after, a detector on a string."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from vanling.clock import ManualClock
from vanling.contracts.engines import Priority, Samples
from vanling.pipeline.chain import run_reply
from vanling.pipeline.events import Event, PcmFrame
from vanling.pipeline.node import AsyncTemplate, NodeContext

T = TypeVar("T")
E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Mark(Event):
    """An event that no node knows."""

    name: str = "mark"


@dataclass
class Bench:
    """What a node is given, and what came out of it."""

    clock: ManualClock = field(default_factory=lambda: ManualClock(1_000_000_000))
    out: list[Event] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    backlog_ms: float = 0.0

    @property
    def context(self) -> NodeContext:
        return NodeContext("s1", self.clock, self.spawn, lambda: self.backlog_ms)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def settle(self) -> None:
        """Until every task has done what it can do now."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def end(self) -> None:
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.out if isinstance(event, kind)]

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.out]


class StringVad:
    """A VadQueue whose verdicts come when the test says so."""

    window_samples = 512

    def __init__(self) -> None:
        self.handle: StringHandle | None = None

    def open(self, on_window: Callable[[Samples, float], None], on_error: Callable[[Exception], None]) -> StringHandle:
        self.handle = StringHandle(on_window, on_error)
        return self.handle


class StringHandle:
    dropped = 0

    def __init__(self, on_window: Callable[[Samples, float], None], on_error: Callable[[Exception], None]) -> None:
        self._on_window, self._on_error = on_window, on_error
        self.waiting: deque[Samples] = deque()
        self.log: list[str] = []
        self.closed = False

    def push(self, window: Samples) -> None:
        assert window.shape == (512,)
        assert window.dtype == np.float32
        self.waiting.append(window)
        self.log.append("window")

    def reset(self) -> None:
        self.log.append("reset")

    def close(self) -> None:
        self.closed = True

    def judge(self, *verdicts: float | Exception) -> None:
        """The verdicts of the oldest windows, in order."""
        for verdict in verdicts:
            window = self.waiting.popleft()
            if isinstance(verdict, Exception):
                self._on_error(verdict)
            else:
                self._on_window(window, verdict)


def pcm(n_samples: int, value: int = 0, arrived_ns: int = 1_000_000_000) -> PcmFrame:
    return PcmFrame(np.full(n_samples, value, np.int16), arrived_ns)


class Inline:
    """An Offload that keeps the priorities it was given."""

    def __init__(self) -> None:
        self.priorities: list[Priority] = []

    async def run(self, priority: Priority, function: Callable[..., T], *args: object) -> T:
        self.priorities.append(priority)
        await asyncio.sleep(0)
        return function(*args)


async def through(template: AsyncTemplate, events: Sequence[Event], bench: Bench) -> list[Event]:
    """What one node makes of a stream."""

    async with aclosing(stream_of(events)) as upstream:
        return [event async for event in template.new_instance(bench.context).stream(upstream)]


async def stream_of(events: Sequence[Event]) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


async def reply(templates: Sequence[AsyncTemplate], head: Event, bench: Bench) -> list[Event]:
    return [event async for event in run_reply(templates, bench.context, head)]
