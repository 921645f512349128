"""Silence confirmation: when speech has begun and when it has ended, in samples (CONVERSATION rule 1.1)."""

from enum import IntEnum
from typing import final

class State(IntEnum):
    """Where the present speech stands."""

    IDLE = 0
    """No speech, or a run of voice that is still too short to be any."""
    SPEECH = 1
    """Speech, with or without a silence shorter than min_silence_ms at its end."""
    FALLING = 2
    """min_silence_ms of silence after speech: probably the end."""
    CONFIRMED = 3
    """confirm_ms more of it: the end. Reported by one push only."""

@final
class Endpointer:
    """Counts voiced and silent samples of one stream. Reads no clock; not thread-safe.

    Of a window with probability p:

    * p >= threshold is **voiced**: it adds to the run and takes the silence back to zero. IDLE becomes SPEECH once the
      run has min_speech_ms; FALLING becomes SPEECH.
    * p < deactivation is **silent**: after voice, it adds to the silence. SPEECH becomes FALLING at min_silence_ms and
      CONFIRMED at min_silence_ms + confirm_ms. In IDLE, a run too short to be speech lapses at min_silence_ms: both
      counts go back to zero.
    * between the two, a silence that has begun goes on, and nothing else changes: it is never voiced, and begins no
      silence.

    Silence counts after voice only: in IDLE without a run both counts are zero. A window counts whole, so one that is
    longer than the rest of a limit may pass two states at once (SPEECH to CONFIRMED). After CONFIRMED the counts can
    still be read; the next push, whatever it brings, starts from IDLE with both at zero.
    """

    def __init__(
        self,
        rate: int,
        threshold: float,
        deactivation: float,
        min_speech_ms: float,
        min_silence_ms: float,
        confirm_ms: float,
    ) -> None:
        """
        rate: of the counted samples in Hz, 1000 to 384000.
        threshold, deactivation: probabilities, 0 <= deactivation <= threshold <= 1.
        min_speech_ms, min_silence_ms, confirm_ms: 0 to 3 600 000, taken to the nearest sample.

        Raises AudioValueError, AudioTypeError.
        """

    @property
    def rate(self) -> int:
        """Rate of the counted samples in Hz."""

    @property
    def threshold(self) -> float:
        """Voiced from this probability on."""

    @property
    def deactivation(self) -> float:
        """Silent below this probability."""

    @property
    def state(self) -> State:
        """What the last push returned; IDLE before the first."""

    @property
    def voiced_ms(self) -> float:
        """Voiced audio of the present run in ms, also while it is too short to be SPEECH."""

    @property
    def silence_ms(self) -> float:
        """Silence after the present run's last voiced window in ms."""

    def push(self, n_samples: int, probability: float) -> State:
        """Count a window of n_samples (0 to 2**31 - 1) that is speech with this probability (0 to 1).

        Raises AudioValueError (a NaN too) or AudioTypeError, and then counts nothing.
        """

    def reset(self) -> None:
        """Back to IDLE with nothing counted."""
