"""uvicorn's HTTP/1.1 protocol with what a server on a home network needs besides."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState


class HttpProtocol(HttpToolsProtocol):
    """Drops a peer that connects and never finishes its first request, and passes on what a client sends in the same
    packet as its upgrade request (uvicorn loses it)."""

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
        self._request_timeout_s = request_timeout_s
        self._request_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._request_timer = self.loop.call_later(self._request_timeout_s, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_request_timer()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        self._stop_request_timer()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
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

    def _pass_on(self, rest: bytes) -> None:
        if rest and not self.transport.is_closing():
            protocol = self.transport.get_protocol()
            assert isinstance(protocol, asyncio.Protocol)
            protocol.data_received(rest)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None
