"""A session with filters around it: door → input filters → session → output filters → door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from vanling.filters.chain import Break, Continue, FilterChain, FilterContext, FilterFactory
from vanling.server.door_session import DoorSession, Identity
from vanling.session.frame import Close, CloseOut, Frame, OutputMessage
from vanling.session.transport import Outbound


class FilteredSession:
    """To the door it is the session, to the session its way out. A session without filters goes without this."""

    def __init__(self, outbound: Outbound, make: FilterFactory, session_id: str, who: Identity) -> None:
        ctx = FilterContext(session_id, self.send, who.door, who.device_id)
        filters = make(ctx)
        self.needed = bool(filters)
        """Whether there are any filters."""
        self._outbound = outbound
        self._input = FilterChain(filters.input, ctx)
        self._output = FilterChain(filters.output, ctx)
        self._session: DoorSession | None = None
        self._broken = False
        self._closed = False

    def attach(self, session: DoorSession) -> FilteredSession:
        """``session`` was built with this as its way out."""
        self._session = session
        return self

    # --- the door's side ------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._attached.id

    def feed(self, frame: Frame) -> None:
        if self._broken:
            return
        verdict = self._input.run(frame)
        if isinstance(verdict, Continue):
            self._attached.feed(verdict.frame)
        elif isinstance(verdict, Break):
            self._break(verdict)

    async def close(self, reason: str) -> None:
        try:
            await self._attached.close(reason)
        finally:
            if not self._closed:
                self._closed = True
                self._input.close()
                self._output.close()

    # --- the session's side ---------------------------------------------------------------------------------------

    def send(self, message: OutputMessage) -> None:
        if isinstance(message, CloseOut):
            # Filters see the end, but none can keep the door from closing.
            self._output.run(message)
            self._outbound.send(message)
            return
        if self._broken:
            return
        verdict = self._output.run(message)
        if isinstance(verdict, Continue):
            self._outbound.send(verdict.frame)
        elif isinstance(verdict, Break):
            self._break(verdict)

    def writable(self) -> bool:
        return self._outbound.writable()

    def when_writable(self, callback: Callable[[], None]) -> None:
        self._outbound.when_writable(callback)

    # --- the end --------------------------------------------------------------------------------------------------

    def _break(self, verdict: Break) -> None:
        """Nothing passes any more but the session's end; it comes a step later, as the session may be amid its own."""
        self._broken = True
        asyncio.get_running_loop().call_soon(self._attached.feed, Close(reason=verdict.reason))

    @property
    def _attached(self) -> DoorSession:
        if self._session is None:
            raise RuntimeError("no session has been attached")
        return self._session
