"""Binary messages: one Opus packet each, in the framing that the device announced."""

from __future__ import annotations

from dataclasses import dataclass, field

from vanling.core import framing
from vanling.errors import FramingError
from vanling.protocols.xiaozhi.refusal import Refused
from vanling.session.frame import ErrorCode

_KIND_OPUS = 0
_KIND_JSON = 1


@dataclass(frozen=True, slots=True)
class Packet:
    payload: bytes = field(repr=False)
    timestamp_ms: int = 0


def read_binary(version: int, message: bytes) -> Packet | str:
    """The Opus packet of a binary message, or the JSON text that framing 2 and 3 can carry in its place; raises
    :class:`Refused` where the header does not fit the message (it is never trusted to reach beyond it)."""
    try:
        kind, timestamp_ms, payload = framing.unpack(version, message)
    except FramingError:
        raise Refused(f"header does not fit framing {version}", "binary", ErrorCode.BAD_AUDIO) from None
    if kind == _KIND_OPUS:
        return Packet(payload, timestamp_ms)
    if kind != _KIND_JSON:
        raise Refused("binary message of an unknown type", "binary", ErrorCode.BAD_AUDIO)
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise Refused("text in a binary message is not UTF-8", "binary") from None


def write_binary(version: int, packet: bytes, timestamp_ms: int) -> bytes:
    return framing.pack(version, packet, timestamp_ms)
