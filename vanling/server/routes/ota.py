"""The XiaoZhi bootstrap: where a device learns the WebSocket's address, once per boot."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from vanling.protocols.xiaozhi.bootstrap import ServerFacts, boot_reply, read_boot_request
from vanling.server.public_url import Reached, websocket_url
from vanling.server.settings import ServerSettings

log = logging.getLogger(__name__)

PATHS = ("/xiaozhi/ota", "/api/ota")
WEBSOCKET_PATH = "/xiaozhi/v1/"
MAX_BODY_BYTES = 64 * 1024

CORS = {
    # The test page is served from anywhere, and reads nothing here that a plain request could not.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "client-id, content-type, device-id, authorization",
    "Access-Control-Max-Age": "86400",
}


@dataclass(frozen=True, slots=True)
class Ota:
    """``wall_ms`` and ``lan_host`` are asked at each request."""

    settings: ServerSettings
    lan_host: Callable[[], str]
    wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000

    def router(self) -> APIRouter:
        # Devices follow no redirect, and both slash forms are in use: each is a route of its own.
        router = APIRouter(tags=["xiaozhi"])
        for path in PATHS:
            for slash in ("", "/"):
                router.add_api_route(path + slash, self.boot, methods=["POST"], summary="Bootstrap of a device")
                router.add_api_route(path + slash, self.info, methods=["GET"], include_in_schema=False)
                activate = f"{path}/activate{slash}"
                router.add_api_route(activate, self.activate, methods=["POST"], summary="Activation of a device")
                for each in (path + slash, activate):
                    router.add_api_route(each, self.preflight, methods=["OPTIONS"], include_in_schema=False)
        return router

    async def boot(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self.settings.limits.request_timeout_s):
                body = await _read_body(request)
        except TimeoutError:
            return PlainTextResponse("body is too slow\n", 408, CORS | {"Connection": "close"})
        if body is None:
            return PlainTextResponse("body is too long\n", 413, CORS | {"Connection": "close"})
        headers = {name.lower(): value for name, value in request.headers.items()}
        now_ms = self.wall_ms()
        offset_min = time.localtime(now_ms / 1000).tm_gmtoff // 60
        facts = ServerFacts(self._url(request), now_ms, offset_min)
        device = read_boot_request(headers, body)
        log.info(
            "device asked where to connect",
            extra={
                "component": "OTA",
                "event": "ota_request",
                "device_id": device.device_id,
                "firmware": device.firmware_version,
                "remote": request.client.host if request.client else "",
                "websocket_url": facts.websocket_url,
            },
        )
        return JSONResponse(boot_reply(device, facts), headers=CORS)

    async def info(self, request: Request) -> Response:
        text = f"vanling's bootstrap for XiaoZhi devices. They will be sent to {self._url(request)}\n"
        return PlainTextResponse(text, headers=CORS)

    async def activate(self) -> Response:
        # No device is ever put into activation yet: whoever asks has been admitted.
        return JSONResponse({}, headers=CORS)

    async def preflight(self) -> Response:
        return Response(status_code=204, headers=CORS)

    def _url(self, request: Request) -> str:
        host, port = request.scope.get("server") or ("", 0)
        reached = Reached(
            headers={name.lower(): value for name, value in request.headers.items()},
            secure=request.url.scheme == "https",
            peer=request.client.host if request.client else "",
            local_host=host,
            local_port=port or self.settings.port,
        )
        settings = self.settings
        return websocket_url(WEBSOCKET_PATH, reached, settings.public_url, settings.forwarded_allow, self.lan_host())


async def _read_body(request: Request) -> bytes | None:
    """The body; None where it is longer than any device's."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)
