"""The HTTP side: the application with its routes, and the guard before them."""

from __future__ import annotations

import contextlib
import socket
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from vanling import __version__
from vanling.server import xiaozhi
from vanling.server.auth import Auth
from vanling.server.routes import ota
from vanling.server.settings import ServerSettings

OPEN_ROUTES = frozenset({"/healthz", *ota.PATHS, *(f"{path}/activate" for path in ota.PATHS)})
"""What answers without a token though one is required, in both slash forms. A device has none before its bootstrap."""


def create_app(settings: ServerSettings, auth: Auth) -> FastAPI:
    """The application; WebSockets do not pass through it (see ``websocket.py``)."""
    app = FastAPI(title="vanling", redirect_slashes=False, docs_url=None, redoc_url=None)
    app.include_router(ota.Ota(settings, lan_host).router())
    app.add_api_route("/", _welcome, methods=["GET"], include_in_schema=False)
    app.add_api_route("/healthz", _healthz, methods=["GET"], include_in_schema=False)
    for path in xiaozhi.PATHS:
        for slash in ("", "/"):
            app.add_api_route(path + slash, _websocket_only, methods=["GET"], include_in_schema=False)
    app.add_exception_handler(404, _not_found)
    app.add_middleware(_Guard, auth=auth)
    return app


class _Guard:
    """401 comes before 404: without a token, nobody learns which routes exist. A client that goes is no error."""

    def __init__(self, app: ASGIApp, auth: Auth) -> None:
        self._app = app
        self._auth = auth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].removesuffix("/") in OPEN_ROUTES or self._admits(scope):
            with contextlib.suppress(ClientDisconnect):  # it went in the middle of its body: nobody's fault
                await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse("a valid token is required\n", 401, {"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        return self._auth.check(headers, query)


async def _welcome(request: Request) -> Response:
    """For whoever opens the address that the server prints."""
    return PlainTextResponse(
        f"vanling {__version__} is running.\n\n"
        f"Enter {request.url.scheme}://{request.url.netloc}{ota.PATHS[0]} as OTA URL in a XiaoZhi device.\n\n"
        f"vanling {__version__} 正在运行。\n\n"
        f"请在小智设备的配网页面把 OTA 地址填为 {request.url.scheme}://{request.url.netloc}{ota.PATHS[0]}\n"
    )


async def _healthz() -> Response:
    return JSONResponse({"status": "ok"})


async def _websocket_only() -> Response:
    """For the person who opens a device's address in a browser, and the proxy that does not pass upgrades on."""
    return PlainTextResponse("this address speaks WebSocket\n", 426, {"Upgrade": "websocket"})


async def _not_found(request: Request, exc: Exception) -> Response:
    return JSONResponse({"detail": "no such route"}, 404)


def lan_host() -> str:
    """Our IPv4 address towards the network; loopback where there is none. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # RFC 5737: an address that nobody has
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
