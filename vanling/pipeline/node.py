"""Nodes: pure stream transforms that know neither a session nor a socket.

A *sync* node belongs to the hearing half: it is pushed event by event, in the loop, and hands on through ``out``
without a queue or a task. An *async* node belongs to the reply half: it transforms one stream into another and runs
concurrently with its neighbours. Templates make instances; what a template shares (a model, a batcher) its
instances share, and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from vanling.clock import Clock
from vanling.pipeline.events import Event

Out = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class NodeContext:
    """What an instance is given by whoever runs it."""

    session_id: str
    clock: Clock
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    """Start a task that the session owns: cancelled and awaited when the session ends, its death noticed."""
    backlog_ms: Callable[[], float] = lambda: 0.0
    """Audio of the present reply that has been made and not yet sent."""
    thought_only: Callable[[], bool] = lambda: False
    """Whether the present reply is a guess still, which a resumed voice would throw away."""


class SyncNode(ABC):
    """A node of the hearing half."""

    @abstractmethod
    def push(self, event: Event, out: Out) -> None:
        """Take one event. May hand on any number of events now; those that come later go through the same ``out``."""

    def close(self) -> None:  # noqa: B027 - most nodes hold nothing
        """Give back what the instance holds; no event leaves it afterwards."""


class AsyncNode(ABC):
    """A node of the reply half."""

    @abstractmethod
    def stream(self, upstream: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Transform a stream. Ends when ``upstream`` ends; what it does not know it passes on."""


class SyncTemplate(ABC):
    """A prototype in the hearing half."""

    @abstractmethod
    def new_instance(self, context: NodeContext) -> SyncNode: ...


class AsyncTemplate(ABC):
    """A prototype in the reply half."""

    @abstractmethod
    def new_instance(self, context: NodeContext) -> AsyncNode: ...

    def capabilities(self) -> Sequence[object]:
        """Typed values that this node brings to a session, such as its ``AudioSpec``."""
        return ()


Template = SyncTemplate | AsyncTemplate
