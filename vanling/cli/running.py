"""Running a command's coroutine on the fastest event loop that is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Like :func:`asyncio.run`, on uvloop where it is there."""
    try:
        import uvloop  # noqa: PLC0415  (not on every platform)
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
