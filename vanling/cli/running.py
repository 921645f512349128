"""Running a command's coroutine on the fastest event loop that is installed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from vanling.cli.main import leave

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Like :func:`asyncio.run`, on uvloop where it is there."""
    try:
        import uvloop  # noqa: PLC0415  (not on every platform)
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM like Ctrl-C, so that what is temporary is removed."""
    with _on_sigterm(signal.default_int_handler):
        yield


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM ends the process with 0, until the event loop has a better answer: libraries take seconds to load."""
    with _on_sigterm(lambda _number, _frame: sys.exit(0)):
        yield


@contextmanager
def hurried() -> Iterator[None]:
    """Ctrl-C ends the process at once: for the time in which it already ends because of an earlier one."""
    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _on_sigterm(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
