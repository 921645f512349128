"""One port for HTTP and WebSockets: started and stopped by its owner, never by a signal handler of uvicorn's."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import socket
import ssl
from collections.abc import Generator, Mapping
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from vanling.errors import StartError
from vanling.server import xiaozhi
from vanling.server.app import create_app
from vanling.server.auth import Auth
from vanling.server.door_session import SessionFactory
from vanling.server.gate import Door, Gate
from vanling.server.http_protocol import HttpProtocol
from vanling.server.listening import BACKLOG, bind
from vanling.server.public_url import from_public_url
from vanling.server.settings import ServerSettings
from vanling.server.tls import TlsProtocol
from vanling.server.websocket import WebSocketProtocol

log = logging.getLogger(__name__)


class HttpServer:
    """``app`` is the HTTP application (:func:`create_app`'s by default), ``doors`` are further WebSocket doors,
    ``sockets`` what :func:`~vanling.server.listening.bind` has taken already."""

    def __init__(
        self,
        settings: ServerSettings,
        sessions: SessionFactory,
        *,
        app: FastAPI | None = None,
        doors: Mapping[str, Door] | None = None,
        sockets: list[socket.socket] | None = None,
    ) -> None:
        self._settings = settings
        self._auth = Auth(settings.auth_required, settings.tokens)
        self.app = app or create_app(settings, self._auth)
        self.xiaozhi = xiaozhi.XiaozhiDoor(sessions, settings.limits)
        self._gate = Gate(settings, self._auth, {**dict.fromkeys(xiaozhi.PATHS, self.xiaozhi), **(doors or {})})
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._sockets = sockets
        self._port = 0

    @property
    def port(self) -> int:
        """The port that is listened on; 0 before the start."""
        return self._port

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(self._settings.host, self._settings.host)
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"{'https' if self._settings.tls_cert else 'http'}://{host}:{self._port}"

    async def start(self) -> None:
        """Bind and serve; raises :class:`StartError` where that cannot be, ``ConfigError`` for a bad public URL."""
        settings = self._settings
        if settings.public_url:
            from_public_url(settings.public_url, "/")
        config = self._config()
        sockets = self._sockets or bind(settings.host, settings.port)
        self._port = sockets[0].getsockname()[1]
        server = self._server = _Server(config)
        self._serving = asyncio.create_task(server.serve(sockets=sockets), name="http server")
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({ready, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if not server.ready.is_set():
            ready.cancel()
            self._serving.result()
            raise StartError("the HTTP server ended while it was starting")
        log.info("listening on %s", self.url, extra={"component": "HTTP", "event": "listening"})

    async def stop(self) -> None:
        """Drain: accept nothing more, close every session and socket, and be gone within ``drain_timeout_s``."""
        server, serving = self._server, self._serving
        if server is None or serving is None:
            return
        self._server = self._serving = None
        deadline = asyncio.get_running_loop().time() + self._settings.drain_timeout_s
        server.close_listeners()
        self._gate.shut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline - 1.0):
                await self.xiaozhi.drain()
        server.stop()
        done, _ = await asyncio.wait({serving}, timeout=max(deadline - asyncio.get_running_loop().time(), 0.5))
        server.abort_connections()
        if not done:
            serving.cancel()
            await asyncio.wait({serving})
        log.info("stopped", extra={"component": "HTTP", "event": "stopped"})

    async def wait(self) -> None:
        """Until the server has ended."""
        if self._serving is not None:
            await asyncio.wait({self._serving})

    def _config(self) -> uvicorn.Config:
        settings = self._settings
        for name in ("uvicorn", "uvicorn.error"):  # its start and stop lines say what ours say
            logging.getLogger(name).setLevel(logging.WARNING)
        config = uvicorn.Config(
            self.app,
            http=functools.partial(HttpProtocol, request_timeout_s=settings.limits.request_timeout_s),  # type: ignore[arg-type]
            ws=functools.partial(WebSocketProtocol, upgrade=self._gate, limits=settings.limits),  # type: ignore[arg-type]
            lifespan="off",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            # Longer than a Close may go unanswered, or uvicorn complains about each device.
            timeout_graceful_shutdown=math.ceil(settings.limits.close_timeout_s),
            ssl_certfile=settings.tls_cert or None,
            ssl_keyfile=settings.tls_key or None,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            raise StartError(f"TLS: cannot use server.tls_cert and server.tls_key: {error}") from error
        if config.ssl is not None:
            self._add_tls(config, config.ssl)
        return config

    def _add_tls(self, config: uvicorn.Config, context: ssl.SSLContext) -> None:
        plain = config.http_protocol_class
        timeout_s = self._settings.limits.close_timeout_s

        def over_tls(**arguments: Any) -> asyncio.Protocol:
            return cast("asyncio.Protocol", TlsProtocol(plain(**arguments), context, timeout_s))

        config.http_protocol_class = over_tls  # type: ignore[assignment]
        config.ssl = None  # or uvicorn would add a second layer


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: SIGTERM must drain conversations first."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Once a second for the Date header, and at once when asked to stop; uvicorn's wakes ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._stop.wait()

    def stop(self) -> None:
        self.should_exit = True
        self._stop.set()

    def close_listeners(self) -> None:
        for server in self.servers:
            server.close()

    def abort_connections(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()
