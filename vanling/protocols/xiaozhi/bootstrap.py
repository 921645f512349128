"""The bootstrap ("OTA") reply: what a device is told once per boot (firmware ``Ota::CheckVersion``).

What the reply must not hold is as important: an ``mqtt`` member, even an empty one, makes the device choose MQTT; a
null section stops py-xiaozhi; a version that is not dotted integers crashes the firmware at every boot; values persist
in the device's flash, so an empty token and version 1 are said explicitly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vanling.protocols.xiaozhi.identity import read_id
from vanling.protocols.xiaozhi.refusal import Refused
from vanling.protocols.xiaozhi.wire import Json, JsonObject, get_str, parse_object

# std::stoi takes 32 bits a segment and throws beyond.
_VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){0,4}", re.ASCII)
_NO_VERSION = "0.0.0"
"""Older than anything: never an update."""


@dataclass(frozen=True, slots=True)
class BootRequest:
    device_id: str = ""
    client_id: str = ""
    firmware_version: str = ""
    """Dotted integers, or empty."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the reply needs to know of the server at this moment."""

    websocket_url: str
    now_ms: int
    """Wall time, ms since the epoch, UTC."""
    utc_offset_min: int
    token: str = ""


def read_boot_request(headers: Mapping[str, str], body: bytes) -> BootRequest:
    """``headers`` has lower-case names. Nothing but the headers is guaranteed: boards paste their Wi-Fi's name into
    the body unescaped, so a quote in it makes the body invalid JSON."""
    described = _read_body(body)
    application = described.get("application")
    version = get_str(application, "version") if isinstance(application, dict) else None
    if version is None:
        version = headers.get("user-agent", "").rpartition("/")[2]
    return BootRequest(
        device_id=read_id(headers.get("device-id") or get_str(described, "mac_address") or ""),
        client_id=read_id(headers.get("client-id") or get_str(described, "uuid") or ""),
        firmware_version=version if _VERSION.fullmatch(version) else "",
    )


def boot_reply(request: BootRequest, facts: ServerFacts) -> dict[str, Json]:
    return {
        "server_time": {"timestamp": facts.now_ms, "timezone_offset": facts.utc_offset_min},
        "firmware": {"version": request.firmware_version or _NO_VERSION, "url": "", "force": 0},
        "websocket": {"url": facts.websocket_url, "token": facts.token, "version": 1},
    }


def _read_body(body: bytes) -> JsonObject:
    try:
        return parse_object(body.decode("utf-8", "replace"))
    except Refused:
        return {}
