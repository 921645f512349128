"""Filters: cross-cutting work on what passes between a door and its session (routing of MCP, recording).

A filter sees every frame of one direction, in order, and says what becomes of it: it goes on, perhaps changed; it is
used up here; or the conversation ends. The order of a chain is the order of its list; the first answer that is not
``Continue`` ends the run, so what stands further back never sees that frame.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from vanling.session.frame import Frame, OutputMessage

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Continue(Generic[T]):
    """Hand ``frame`` on: the one that came, or another in its place."""

    frame: T


@dataclass(frozen=True, slots=True)
class Consumed:
    """This frame ends here."""


@dataclass(frozen=True, slots=True)
class Break:
    """End the session, in the way of its door."""

    reason: str = "filter"


@dataclass(frozen=True, slots=True)
class FilterContext:
    """The session that a filter works for."""

    session_id: str
    send: Callable[[OutputMessage], None]
    """Send a message of the filter's own to the client; it passes the output filters like the session's."""
    door: str = ""
    device_id: str = ""


class Filter(Generic[T]):
    """One per session and direction. Its calls come from the event loop and must return at once."""

    def process(self, ctx: FilterContext, frame: T) -> Continue[T] | Consumed | Break:
        """Say what becomes of ``frame``."""
        raise NotImplementedError

    def close(self, ctx: FilterContext) -> None:
        """The session is over: no frame comes any more."""


class FilterChain(Generic[T]):
    """Filters of one direction of one session, in order.

    A filter that raises has failed at this frame, which is dropped: what it should have kept from passing does not
    pass. The first failure of each is logged with its traceback, later ones at DEBUG only: frames come by the dozen.
    """

    def __init__(self, filters: Sequence[Filter[T]], ctx: FilterContext) -> None:
        self._filters = tuple(filters)
        self._ctx = ctx
        self._failed: set[Filter[T]] = set()

    def run(self, frame: T) -> Continue[T] | Consumed | Break:
        """The answer of the last filter that saw the frame."""
        verdict: Continue[T] | Consumed | Break = Continue(frame)
        for each in self._filters:
            try:
                verdict = each.process(self._ctx, frame)
            except Exception:
                self._report(each, "process")
                return Consumed()
            if not isinstance(verdict, Continue):
                return verdict
            frame = verdict.frame
        return verdict

    def close(self) -> None:
        """Tell every filter, also if one fails at it."""
        for each in self._filters:
            try:
                each.close(self._ctx)
            except Exception:
                self._report(each, "close")

    def _report(self, failed: Filter[T], where: str) -> None:
        level = logging.DEBUG if failed in self._failed else logging.ERROR
        self._failed.add(failed)
        log.log(
            level,
            "%s failed in %s",
            type(failed).__name__,
            where,
            exc_info=True,
            extra={"component": "FILTER", "event": "filter_error", "session_id": self._ctx.session_id},
        )


@dataclass(frozen=True, slots=True)
class SessionFilters:
    """The filters of one session, both lists in their order: the first in either sees a frame first."""

    input: Sequence[Filter[Frame]] = ()
    output: Sequence[Filter[OutputMessage]] = ()

    def __bool__(self) -> bool:
        return bool(self.input or self.output)


FilterFactory = Callable[[FilterContext], SessionFilters]
"""Makes the filters of one session; it may give an input and an output filter something in common."""


def no_filters(_: FilterContext) -> SessionFilters:
    return SessionFilters()
