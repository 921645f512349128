"""The times of one turn, all from the same zero: the end of the last voiced window (DESIGN §6).

Names follow the field: ``llm_first`` is TTFT, ``tts_first`` TTFB, ``endpoint`` the end-of-turn delay.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TurnTimes:
    """Clock readings of one turn in nanoseconds; None where the turn did not come that far or has no such step.

    ``speech_end_ns`` is t0. For typed text it is the moment the text arrived.
    """

    speech_end_ns: int
    endpoint_ns: int | None = None
    """The turn was declared over."""
    asr_ns: int | None = None
    """The recogniser's final text was there."""
    llm_first_ns: int | None = None
    """The model's first piece of text."""
    tts_first_ns: int | None = None
    """The voice's first audio."""
    start_ns: int | None = None
    """``tts start`` went out."""
    first_audio_ns: int | None = None
    """The first frame went out on the wire."""
    models_ready_ns: int | None = None
    """The models had delivered all that the first frame needs (the last of recogniser, model, voice)."""
    silence_ms: float = 0.0
    """Silence that the configuration waits for after t0 before a turn is over."""
    start_gap_ms: float = 0.0
    """Configured pause between ``tts start`` and the first frame."""
    models_ms: float = 0.0
    """Time that models and the turn's own waits took after the silence was over."""

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

        first_audio − (t0 + silence) − max(start gap, what the models still needed).
        """
        first_audio = self._since(self.first_audio_ns)
        if first_audio is None:
            return None
        return first_audio - self.silence_ms - max(self.start_gap_ms, self.models_ms)

    def _since(self, ns: int | None) -> float | None:
        return None if ns is None else (ns - self.speech_end_ns) / 1e6
