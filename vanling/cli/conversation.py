"""What a simulated device saw of one turn of conversation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vanling.session.metrics import TurnTimes

LATENCIES = ("endpoint", "asr", "llm_first", "tts_first", "first_audio")


@dataclass(slots=True)
class Conversation:
    """Texts, audio and clock readings (monotonic nanoseconds, None where it did not happen) of one turn."""

    session_id: str = ""
    heard: str = ""
    sentences: list[str] = field(default_factory=list)
    emotions: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """What the server complained about."""
    rate: int = 24_000
    """Sample rate of ``audio`` in Hz: the downlink's, as the server's hello says."""
    frame_ms: float = 60.0
    audio: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, np.int16))
    """The reply, decoded and joined."""
    arrivals_ns: list[int] = field(default_factory=list)
    """When each Opus packet of the reply arrived."""
    bad_packets: int = 0
    """Packets that could not be decoded."""
    speech_end_ns: int | None = None
    """When the last voiced sample was spoken (typed text: when it was sent)."""
    stt_ns: int | None = None
    tts_start_ns: int | None = None
    tts_stop_ns: int | None = None
    underruns: int = 0
    underrun_ms: float = 0.0
    dropped: int = 0
    discarded: int = 0
    """What became of packets in the device's speaker; see :class:`vanling.cli.playback.Playback`."""

    @property
    def reply(self) -> str:
        return " ".join(self.sentences)

    @property
    def frames(self) -> int:
        return len(self.arrivals_ns)

    @property
    def audio_s(self) -> float:
        return len(self.audio) / self.rate

    def latency_ms(self, times: TurnTimes | None = None) -> dict[str, float | None]:
        """:data:`LATENCIES` from the true end of speech; what a client cannot see is None without the server's times.

        A client sees that recognition is over when it is told the text, and the first audio when it arrives.
        """
        first_ns = self.arrivals_ns[0] if self.arrivals_ns else None
        if times is None:
            seen = (None, self.stt_ns, None, None, first_ns)
            return dict(zip(LATENCIES, (self._since(ns, self.speech_end_ns) for ns in seen), strict=True))
        # A device that heard no end of speech in what it said leaves the zero to the server, whose clock is the same.
        zero_ns = times.speech_end_ns if self.speech_end_ns is None else self.speech_end_ns
        first_ns = first_ns if times.first_audio_ns is None else times.first_audio_ns
        told = (times.endpoint_ns, times.asr_ns, times.llm_first_ns, times.tts_first_ns, first_ns)
        return dict(zip(LATENCIES, (self._since(ns, zero_ns) for ns in told), strict=True))

    def document(self, times: TurnTimes | None = None) -> dict[str, object]:
        """What ``--json`` prints (DESIGN §5)."""
        return {
            "heard": self.heard,
            "reply": self.reply,
            "sentences": self.sentences,
            "frames": self.frames,
            "latency_ms": {name: _rounded(value) for name, value in self.latency_ms(times).items()},
            "audio_s": round(self.audio_s, 3),
            "session_id": self.session_id,
        }

    @staticmethod
    def _since(ns: int | None, zero_ns: int | None) -> float | None:
        return None if ns is None or zero_ns is None else (ns - zero_ns) / 1e6


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
