"""Blocking work off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from vanling.contracts.engines import Priority

T = TypeVar("T")


class Offload(Protocol):
    """Runs short blocking work, such as encoding a piece of audio, in a worker thread."""

    async def run(self, priority: Priority, function: Callable[..., T], *args: object) -> T:
        """Run ``function(*args)`` and return its result; work that was cancelled before it began is never done."""
