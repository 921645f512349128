"""Worker threads: order, cancellation, bounds, shutdown."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from vanling.contracts.engines import Priority
from vanling.engines.workers import Workers
from vanling.errors import EngineError


@pytest.fixture
def workers() -> Iterator[Workers]:
    pool = Workers("test", 1, max_pending=4)
    yield pool
    pool.close()


class Busy:
    """Occupies the one worker thread until released."""

    def __init__(self, workers: Workers) -> None:
        self._begun = threading.Event()
        self._go_on = threading.Event()
        self._workers = workers

    def _hold(self) -> None:
        self._begun.set()
        self._go_on.wait()

    async def __aenter__(self) -> Callable[[], None]:
        self._task = asyncio.ensure_future(self._workers.run(Priority.CONFIRMED, self._hold))
        await asyncio.to_thread(self._begun.wait)
        return self._go_on.set

    async def __aexit__(self, *_: object) -> None:
        self._go_on.set()
        await self._task


async def settled() -> None:
    """Let every task that is ready reach its next await."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_result_and_error_come_back(workers: Workers) -> None:
    assert await workers.run(Priority.REST, lambda a, b: a + b, 1, 2) == 3
    with pytest.raises(KeyError):
        await workers.run(Priority.REST, {}.__getitem__, "x")


async def test_lower_priority_waits_and_equals_keep_their_order(workers: Workers) -> None:
    order: list[str] = []
    async with Busy(workers) as release:
        jobs = []
        for name, priority in (
            ("rest", Priority.REST),
            ("speculation", Priority.SPECULATION),
            ("first", Priority.CONFIRMED),
            ("second", Priority.CONFIRMED),
        ):
            jobs.append(asyncio.ensure_future(workers.run(priority, order.append, name)))
            await settled()
        release()
        await asyncio.gather(*jobs)
    assert order == ["first", "second", "speculation", "rest"]


async def test_job_cancelled_before_it_began_never_runs(workers: Workers) -> None:
    ran: list[int] = []
    async with Busy(workers) as release:
        dropped = asyncio.ensure_future(workers.run(Priority.CONFIRMED, ran.append, 1))
        kept = asyncio.ensure_future(workers.run(Priority.CONFIRMED, ran.append, 2))
        await settled()
        dropped.cancel()
        await settled()
        assert workers.pending == 1
        release()
        await kept
    assert ran == [2]


async def test_running_job_is_abandoned_and_its_error_logged_once(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def fail() -> None:
        begun.set()
        go_on.wait()
        raise ValueError("too late")

    task = asyncio.ensure_future(workers.run(Priority.CONFIRMED, fail))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with caplog.at_level(logging.WARNING):
        go_on.set()
        assert await workers.run(Priority.CONFIRMED, lambda: "next") == "next"
    assert [record for record in caplog.records if "too late" in record.getMessage()].__len__() == 1


async def test_full_queue_refuses(workers: Workers) -> None:
    async with Busy(workers) as release:
        waiting = [asyncio.ensure_future(workers.run(Priority.REST, int)) for _ in range(4)]
        await settled()
        with pytest.raises(EngineError, match="overloaded"):
            await workers.run(Priority.CONFIRMED, int)
        release()
        await asyncio.gather(*waiting)


async def test_close_fails_what_waits_and_refuses_what_comes() -> None:
    workers = Workers("test", 1)
    busy = Busy(workers)
    async with busy as release:
        waiting = asyncio.ensure_future(workers.run(Priority.REST, int))
        await settled()
        closing = asyncio.ensure_future(asyncio.to_thread(workers.close))
        with pytest.raises(EngineError, match="closed"):
            await waiting
        release()
        await closing
    with pytest.raises(EngineError, match="closed"):
        await workers.run(Priority.REST, int)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vanling-test")]


async def test_the_loop_is_never_blocked(workers: Workers) -> None:
    async with Busy(workers) as release:
        waiting = asyncio.ensure_future(workers.run(Priority.REST, int))
        await asyncio.wait_for(settled(), 1)
        assert not waiting.done()
        release()
        await waiting


def test_run_blocking_serves_builders(workers: Workers) -> None:
    assert workers.run_blocking(threading.current_thread).name == "vanling-test-0"
    with pytest.raises(ZeroDivisionError):
        workers.run_blocking(divmod, 1, 0)
