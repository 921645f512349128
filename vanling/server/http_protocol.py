"""uvicorn's HTTP/1.1 protocol with what a server on a home network needs besides."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers. httptools knows no limit."""


class HttpProtocol(HttpToolsProtocol):
    """Bounds the head of a request in time and size, and passes on what a client sends in the same packet as its
    upgrade request (uvicorn loses it)."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        head_timeout_s: float,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_timeout_s = head_timeout_s
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self._in_head:
            self._await_head()
            self._head_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                self._pass_on(data[upgrade.args[0] :])
            else:
                self.send_400_response("Unsupported upgrade.")
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request.")
        else:
            if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
                self.send_400_response("Request headers are too long.")

    def _pass_on(self, rest: bytes) -> None:
        if rest and not self.transport.is_closing():
            protocol = self.transport.get_protocol()
            assert isinstance(protocol, asyncio.Protocol)
            protocol.data_received(rest)

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._head_timeout_s, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
