"""turn: the end of a turn and what was heard of it, joined, in the order of the turns."""

from __future__ import annotations

from collections import deque

from vanling.pipeline.events import Event, TurnHeard, TurnOutcome, TurnOver
from vanling.pipeline.node import NodeContext, Out, SyncNode, SyncTemplate


class TurnNode(SyncNode):
    """Recognitions of two turns may end in either order; the session must hear of the turns as they were spoken."""

    def __init__(self) -> None:
        self._open: deque[TurnOver] = deque()
        self._outcomes: dict[int, TurnOutcome] = {}

    def push(self, event: Event, out: Out) -> None:
        if isinstance(event, TurnOver):
            self._open.append(event)
            out(event)
        elif isinstance(event, TurnOutcome):
            self._outcomes[event.number] = event
            while self._open and self._open[0].number in self._outcomes:
                over = self._open.popleft()
                out(TurnHeard(over, self._outcomes.pop(over.number)))
        else:
            out(event)


class TurnTemplate(SyncTemplate):
    def new_instance(self, context: NodeContext) -> TurnNode:
        return TurnNode()
