"""Virtual time: an event loop whose clock jumps to its next timer as soon as nothing else is left to do.

A conversation of minutes takes milliseconds and always the same course. A loop with neither work nor a timer would
block for ever; that is reported instead.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import selectors
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs as ever, but for the time."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self.seconds


class _JumpingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if not ready and timeout != 0:
            if timeout is None:
                raise AssertionError("everything waits for something that nothing will bring about")
            self._loop.seconds += timeout
        return ready


class LoopClock:
    """A :class:`vanling.clock.Clock` that shows the virtual loop's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop or asyncio.get_running_loop()

    def now_ns(self) -> int:
        return round(self._loop.time() * 1e9)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run to its end; then no task may be left, and nothing may have gone unnoticed."""
    loop = VirtualLoop()
    problems: list[str] = []
    loop.set_exception_handler(lambda _, context: problems.append(str(context)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = loop.run_until_complete(main)
            finally:
                left = asyncio.all_tasks(loop)
                for task in left:
                    task.cancel()
                if left:
                    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
                gc.collect(1)
                loop.run_until_complete(asyncio.sleep(0))
        assert not left, f"tasks left behind: {[task.get_coro() for task in left]}"
        assert not problems, problems
        return result
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def virtual(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make an async test one that runs in virtual time and leaves nothing behind."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        run_virtual(test(*args, **kwargs))

    return run
