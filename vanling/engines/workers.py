"""Worker threads with a priority queue: what a person waits for goes before what may be thrown away (rule 7.3)."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from vanling.errors import EngineError

log = logging.getLogger(__name__)

T = TypeVar("T")

JOIN_S = 2.0
"""How long :meth:`Workers.close` waits for a running call before it abandons the thread."""


class Workers:
    """``threads`` daemon threads that serve one queue: lower priority first, first come first served within one.

    A job whose caller is cancelled before it began is dropped; one that runs is abandoned: it ends unheard, and its
    error, if any, is logged. At most ``max_pending`` jobs wait.
    """

    def __init__(self, name: str, threads: int = 1, *, max_pending: int = 1024) -> None:
        self.name = name
        self._max_pending = max_pending
        self._ready = threading.Condition()
        self._queue: list[tuple[int, int, _Job]] = []
        self._live = 0
        self._order = itertools.count()
        self._closed = False
        self._deliveries: dict[asyncio.AbstractEventLoop, _Delivery] = {}
        self._threads = [
            threading.Thread(target=self._work, name=f"vanling-{name}-{n}", daemon=True) for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pending(self) -> int:
        """Jobs that wait for a thread."""
        return self._live

    async def run(self, priority: int, fn: Callable[..., T], *args: object) -> T:
        """Call ``fn(*args)`` in a worker thread and return what it returns.

        Raises what ``fn`` raises, and EngineError where the queue is full or closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        job = _Job(fn, args, _LoopOutcome(future, self._delivery_to(loop)))
        self._enqueue(priority, job)
        try:
            return await future
        except asyncio.CancelledError:
            self._withdraw(job)
            raise

    def run_blocking(self, fn: Callable[..., T], *args: object) -> T:
        """Call ``fn(*args)`` in a worker thread and block until it is done: for builders, outside the event loop."""
        outcome = _Outcome()
        self._enqueue(0, _Job(fn, args, outcome))
        result: T = outcome.wait()
        return result

    def close(self) -> None:
        """Refuse new jobs, fail the waiting ones, and join the threads for at most two seconds together."""
        with self._ready:
            if self._closed:
                return
            self._closed = True
            waiting = [job for _, _, job in self._queue if not job.withdrawn]
            self._queue.clear()
            self._live = 0
            self._ready.notify_all()
        for job in waiting:
            self._finish(job, None, EngineError(f"the {self.name} worker was closed"))
        for thread in self._threads:
            thread.join(JOIN_S / len(self._threads))

    def _delivery_to(self, loop: asyncio.AbstractEventLoop) -> _Delivery:
        delivery = self._deliveries.get(loop)
        if delivery is None:
            alive = {known: delivery for known, delivery in self._deliveries.items() if not known.is_closed()}
            delivery = alive[loop] = _Delivery(loop)
            self._deliveries = alive
        return delivery

    def _enqueue(self, priority: int, job: _Job) -> None:
        with self._ready:
            if self._closed:
                raise EngineError(f"the {self.name} worker was closed")
            if self._live >= self._max_pending:
                raise EngineError(f"the {self.name} worker is overloaded: {self._live} jobs wait")
            heapq.heappush(self._queue, (int(priority), next(self._order), job))
            self._live += 1
            self._ready.notify()

    def _withdraw(self, job: _Job) -> None:
        with self._ready:
            job.withdrawn = True
            # What it held (audio, messages) may be large; the entry itself stays in the heap until it surfaces.
            if not job.begun and not self._closed:
                job.args = ()
                self._live -= 1

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                result, error = job.fn(*job.args), None
            except Exception as raised:
                result, error = None, raised
            self._finish(job, result, error)
            del job, result, error

    def _next(self) -> _Job | None:
        with self._ready:
            while True:
                while self._queue:
                    _, _, job = heapq.heappop(self._queue)
                    if not job.withdrawn:
                        job.begun = True
                        self._live -= 1
                        return job
                if self._closed:
                    return None
                self._ready.wait()

    def _finish(self, job: _Job, result: object, error: Exception | None) -> None:
        if job.withdrawn and error is not None:
            log.warning(
                "an abandoned %s job failed: %r", self.name, error, extra={"component": "WORKERS", "event": "abandoned"}
            )
        job.outcome.put(result, error)


class _Job:
    __slots__ = ("args", "begun", "fn", "outcome", "withdrawn")

    def __init__(self, fn: Callable[..., Any], args: tuple[object, ...], outcome: _Outcome | _LoopOutcome) -> None:
        self.fn = fn
        self.args = args
        self.outcome = outcome
        self.begun = False
        self.withdrawn = False


class _Outcome:
    """Where a blocked caller waits."""

    __slots__ = ("_done", "_error", "_result")

    def __init__(self) -> None:
        self._done = threading.Event()
        self._result: Any = None
        self._error: Exception | None = None

    def put(self, result: object, error: Exception | None) -> None:
        self._result, self._error = result, error
        self._done.set()

    def wait(self) -> Any:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result


class _LoopOutcome:
    """Where a coroutine waits."""

    __slots__ = ("_delivery", "_future")

    def __init__(self, future: asyncio.Future[Any], delivery: _Delivery) -> None:
        self._future = future
        self._delivery = delivery

    def put(self, result: object, error: Exception | None) -> None:
        self._delivery.put(self._future, result, error)


class _Delivery:
    """Hands results to one loop: those that finish before the loop wakes up share one wake-up."""

    __slots__ = ("_done", "_loop", "_scheduled", "_shut")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done: deque[tuple[asyncio.Future[Any], object, Exception | None]] = deque()
        self._scheduled = False
        self._shut = threading.Lock()

    def put(self, future: asyncio.Future[Any], result: object, error: Exception | None) -> None:
        with self._shut:
            self._done.append((future, result, error))
            if self._scheduled:
                return
            self._scheduled = True
        try:
            self._loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            self._done.clear()

    def _deliver(self) -> None:
        with self._shut:
            done, self._done = self._done, deque()
            self._scheduled = False
        for future, result, error in done:
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
