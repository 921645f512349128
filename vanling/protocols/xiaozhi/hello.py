"""The device's hello: tolerant, because the browser page sends almost none of its members."""

from __future__ import annotations

from dataclasses import dataclass

from vanling.protocols.xiaozhi.note import Note
from vanling.protocols.xiaozhi.refusal import Refusal
from vanling.protocols.xiaozhi.wire import Json, JsonObject, get_number
from vanling.session.frame import AudioSpec, Codec, ErrorCode, Hello, Pace

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


def read_hello(message: JsonObject, note: Note) -> HelloRead:
    """Read a hello; it is always answered. What is unusable in it is replaced by what holds in effect, and only an
    audio format that is not Opus is an error to the client, since nothing it sends could be understood."""
    uplink, refusal = _read_audio_params(message.get("audio_params"), note)
    frame = Hello(uplink=uplink, features=_read_features(message.get("features")), ref="hello")
    return HelloRead(frame, _read_version(message, note), refusal)


def _read_audio_params(params: Json, note: Note) -> tuple[AudioSpec | None, Refusal | None]:
    if params is None:
        return None, None
    if not isinstance(params, dict):
        note("hello_odd", "hello: audio_params is not an object; the effective value holds")
        return None, None
    codec = params.get("format", "opus")
    if codec != "opus":
        note("hello_odd", "hello: audio format is not opus; the effective value holds")
        return None, Refusal(ErrorCode.BAD_AUDIO, 'audio_params.format must be "opus"', "hello")
    rate, channels, frame_ms = _read_rate(params, note), _read_channels(params, note), _read_frame_ms(params, note)
    return AudioSpec(Codec.OPUS, rate, channels, frame_ms, Pace.NONE), None


def _read_rate(params: JsonObject, note: Note) -> int:
    rate = get_number(params, "sample_rate")
    if rate in OPUS_RATES:
        return int(rate or UPLINK_RATE)
    if "sample_rate" in params:
        note("hello_odd", "hello: sample_rate is no Opus rate; the effective value holds")
    return UPLINK_RATE


def _read_channels(params: JsonObject, note: Note) -> int:
    channels = get_number(params, "channels")
    if channels in (1, 2):
        return int(channels or 1)
    if "channels" in params:
        note("hello_odd", "hello: channels is neither 1 nor 2; the effective value holds")
    return 1


def _read_frame_ms(params: JsonObject, note: Note) -> float:
    frame_ms = get_number(params, "frame_duration")
    if frame_ms in OPUS_FRAME_MS:
        return float(frame_ms or UPLINK_FRAME_MS)
    if "frame_duration" in params:
        note("hello_odd", "hello: frame_duration is no Opus duration; the effective value holds")
    return UPLINK_FRAME_MS


def _read_features(features: Json) -> frozenset[str]:
    if not isinstance(features, dict):
        return frozenset()
    return frozenset(name for name, value in features.items() if value is True)


def _read_version(message: JsonObject, note: Note) -> int | None:
    version = get_number(message, "version")
    if version in FRAMING_VERSIONS:
        return int(version or 1)
    if message.get("version") is not None:
        note("hello_odd", "hello: version is not 1, 2 or 3; the effective value holds")
    return None
