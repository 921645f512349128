"""Audio formats at the doors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Codec(Enum):
    OPUS = "opus"
    PCM16 = "pcm16"
    PCMU = "pcmu"
    PCMA = "pcma"


class Pace(Enum):
    """How audio may leave a door."""

    REALTIME = "realtime"
    """One frame per frame duration, a small lead ahead."""
    NONE = "none"
    """As fast as it is made."""


@dataclass(frozen=True, slots=True)
class AudioSpec:
    """An audio format on one side of a door."""

    codec: Codec = Codec.OPUS
    rate: int = 24_000
    """Hz."""
    channels: int = 1
    frame_ms: float = 60.0
    pace: Pace = Pace.REALTIME
