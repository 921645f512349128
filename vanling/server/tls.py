"""TLS that shows a stall as early as plain TCP does."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from typing import cast


class TlsProtocol(SSLProtocol):
    """asyncio's TLS layer over a transport that buffers nothing.

    ``loop.create_server(ssl=…)`` leaves the encrypted side of the connection its default 64 kB: twenty seconds of
    speech that a client has not taken, and nobody can see. The layer is put together here instead, on either loop.
    """

    def __init__(self, app: asyncio.Protocol, context: ssl.SSLContext, close_timeout_s: float) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            app,
            context,
            None,  # type: ignore[arg-type]  # nobody waits, as in asyncio's own server
            server_side=True,
            ssl_handshake_timeout=10,
            ssl_shutdown_timeout=close_timeout_s,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).set_write_buffer_limits(high=1, low=0)
        super().connection_made(transport)
