"""The times of one turn, all from the same zero: the end of the last voiced window (DESIGN §6).

Names follow the field: ``llm_first`` is TTFT, ``tts_first`` TTFB, ``endpoint`` the end-of-turn delay.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TurnTimes:
    """Clock readings of one turn in nanoseconds; None where the turn did not come that far or has no such step.

    ``speech_end_ns`` is t0, by the audio's own clock. For typed text it is the moment the text arrived.
    """

    speech_end_ns: int
    endpoint_ns: int | None = None
    """The audio that ended the turn had arrived."""
    asr_ns: int | None = None
    """The recogniser's final text was there."""
    llm_first_ns: int | None = None
    """The model's first piece of text."""
    tts_first_ns: int | None = None
    """The voice's first audio."""
    first_audio_ns: int | None = None
    """The first frame went out on the wire."""
    silence_ms: float = 0.0
    """What had to be waited for after t0: the configured silence, up to the end of the packet that completed it."""
    start_gap_ms: float = 0.0
    """Configured pause between ``tts start``, which goes out with the first sentence, and the first frame."""
    asr_busy_ms: float = 0.0
    """What the recogniser still needed once the turn was over; speculation makes it small."""
    llm_busy_ms: float = 0.0
    """What the model needed for the first sentence."""
    tts_busy_ms: float = 0.0
    """What the voice needed for its first audio."""
    thought_ahead: bool = False
    """The reply was begun before the turn was confirmed."""

    def latency_ms(self) -> dict[str, float | None]:
        """``endpoint, asr, llm_first, tts_first, first_audio, own`` in milliseconds from t0, None where not reached."""
        return {
            "endpoint": self._since(self.endpoint_ns),
            "asr": self._since(self.asr_ns),
            "llm_first": self._since(self.llm_first_ns),
            "tts_first": self._since(self.tts_first_ns),
            "first_audio": self._since(self.first_audio_ns),
            "own": self.own_ms(),
        }

    def own_ms(self) -> float | None:
        """What the server added beyond the models and the configured waits.

        The voice works during the start gap, so the longer of the two counts; recogniser and model come before it.
        """
        first_audio = self._since(self.first_audio_ns)
        if first_audio is None:
            return None
        waits = self.silence_ms + self.asr_busy_ms + self.llm_busy_ms + max(self.start_gap_ms, self.tts_busy_ms)
        return first_audio - waits

    def _since(self, ns: int | None) -> float | None:
        return None if ns is None else (ns - self.speech_end_ns) / 1e6
