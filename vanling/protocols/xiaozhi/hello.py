"""The device's hello: tolerant, because the browser page sends almost none of its members."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from vanling.protocols.xiaozhi.refusal import Refusal
from vanling.protocols.xiaozhi.wire import Json, JsonObject, get_number
from vanling.session.frame import AudioSpec, Codec, ErrorCode, Hello, Pace

log = logging.getLogger(__name__)

OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
OPUS_FRAME_MS = (2.5, 5, 10, 20, 40, 60, 80, 100, 120)
FRAMING_VERSIONS = (1, 2, 3)
UPLINK_RATE = 16_000
UPLINK_FRAME_MS = 60.0


@dataclass(frozen=True, slots=True)
class HelloRead:
    frame: Hello
    framing_version: int | None
    """What the hello asks for; None where it says nothing usable."""
    refusal: Refusal | None


def read_hello(message: JsonObject) -> HelloRead:
    """Read a hello; it is always answered. What is unusable in it is replaced by what holds in effect, and only an
    audio format that is not Opus is an error to the client, since nothing it sends could be understood."""
    uplink, refusal = _read_audio_params(message.get("audio_params"))
    frame = Hello(uplink=uplink, features=_read_features(message.get("features")), ref="hello")
    return HelloRead(frame, _read_version(message), refusal)


def _read_audio_params(params: Json) -> tuple[AudioSpec | None, Refusal | None]:
    if params is None:
        return None, None
    if not isinstance(params, dict):
        _warn("audio_params is not an object")
        return None, None
    codec = params.get("format", "opus")
    if codec != "opus":
        _warn("audio format is not opus")
        return None, Refusal(ErrorCode.BAD_AUDIO, 'audio_params.format must be "opus"', "hello")
    return AudioSpec(Codec.OPUS, _read_rate(params), _read_channels(params), _read_frame_ms(params), Pace.NONE), None


def _read_rate(params: JsonObject) -> int:
    rate = get_number(params, "sample_rate")
    if rate in OPUS_RATES:
        return int(rate or UPLINK_RATE)
    if "sample_rate" in params:
        _warn("sample_rate is no Opus rate")
    return UPLINK_RATE


def _read_channels(params: JsonObject) -> int:
    channels = get_number(params, "channels")
    if channels in (1, 2):
        return int(channels or 1)
    if "channels" in params:
        _warn("channels is neither 1 nor 2")
    return 1


def _read_frame_ms(params: JsonObject) -> float:
    frame_ms = get_number(params, "frame_duration")
    if frame_ms in OPUS_FRAME_MS:
        return float(frame_ms or UPLINK_FRAME_MS)
    if "frame_duration" in params:
        _warn("frame_duration is no Opus duration")
    return UPLINK_FRAME_MS


def _read_features(features: Json) -> frozenset[str]:
    if not isinstance(features, dict):
        return frozenset()
    return frozenset(name for name, value in features.items() if value is True)


def _read_version(message: JsonObject) -> int | None:
    version = get_number(message, "version")
    if version in FRAMING_VERSIONS:
        return int(version or 1)
    if message.get("version") is not None:
        _warn("version is not 1, 2 or 3")
    return None


def _warn(what: str) -> None:
    log.warning("hello: %s; the effective value holds", what, extra={"component": "WS", "event": "hello_odd"})
