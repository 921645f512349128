"""uvicorn's HTTP/1.1 protocol with what a server on a home network needs besides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from vanling.server.intake import Intake

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers. httptools knows no limit."""
PIECE_BYTES = 1024
"""The parser begins every request in what it is given: 56 at most."""


class HttpProtocol(HttpToolsProtocol):
    """Bounds the head of a request in time and size; in time, what an answered request still sends and how long answers
    go unread; gives other connections their turn; passes on what a client sends in the same packet as its upgrade
    request (uvicorn loses it)."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        request_timeout_s: float,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._timeout_s = request_timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True
        self._intake: Intake

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._intake = Intake(self.loop, transport, self._receive, PIECE_BYTES, self._may_receive)
        self.flow = _Flow(transport, self._intake.wake)
        self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._intake.stop()
        self._rest_has_come()
        self._is_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._intake.feed(data)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._rest_has_come()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self._rest_has_come()
        super().on_message_complete()
        if self.cycle is not None and self.cycle.response_complete:
            self._keep_alive()  # uvicorn's timer has been stopped by the rest of the body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_head:
            self._unset_keepalive_if_required()
            self._await_rest()
        self._intake.wake()

    def shutdown(self) -> None:
        """uvicorn is going down; a request whose body still comes is not waited for."""
        super().shutdown()
        if not self._in_head:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_timer = self.loop.call_later(self._timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_read()

    # --- in -----------------------------------------------------------------------------------------------------

    def _may_receive(self) -> bool:
        return not self.flow.read_paused and not self.pipeline

    def _receive(self, piece: bytes) -> int:
        if self.parser is None or self.transport.is_closing():
            return 0
        if self._in_head:
            self._await_rest()
            self._head_bytes += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(piece[upgrade.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request.")
        else:
            if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
                self.send_400_response("Request headers are too long.")
        return 0

    def _upgrade(self, rest: bytes) -> None:
        answered = self.cycle is None or self.cycle.response_complete
        if not answered or not self._should_upgrade():
            self.send_400_response("Unsupported upgrade.")
            return
        self._unset_keepalive_if_required()  # of an earlier request on this connection
        rest += self._intake.stop()
        self.handle_websocket_upgrade()
        if rest and not self.transport.is_closing():
            protocol = self.transport.get_protocol()
            assert isinstance(protocol, asyncio.Protocol)
            protocol.data_received(rest)

    # --- time ---------------------------------------------------------------------------------------------------

    def _await_rest(self) -> None:
        """Of a head, or of the body of a request that has been answered without it."""
        if self._timer is None:
            self._timer = self.loop.call_later(self._timeout_s, self.transport.abort)

    def _rest_has_come(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _is_read(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _keep_alive(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


class _Flow(FlowControl):
    """The application's wish to get no more for now; the intake decides about the socket."""

    def __init__(self, transport: asyncio.Transport, wake: Callable[[], None]) -> None:
        super().__init__(transport)
        self._wake = wake

    def pause_reading(self) -> None:
        self.read_paused = True

    def resume_reading(self) -> None:
        self.read_paused = False
        self._wake()
