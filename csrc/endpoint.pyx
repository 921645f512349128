"""Silence confirmation: when speech has begun and when it has ended, in samples (CONVERSATION rule 1.1)."""

from libc.stdint cimport int64_t

from vanling.core.checks cimport real_number, value_error, whole_number

from enum import IntEnum


class State(IntEnum):
    """Where the present speech stands."""

    IDLE = 0
    SPEECH = 1
    FALLING = 2
    CONFIRMED = 3


cdef tuple STATES = tuple(State)

cdef enum:
    IDLE = 0
    SPEECH = 1
    FALLING = 2
    CONFIRMED = 3

    MAX_MS = 3600000
    MAX_PUSH = 0x7FFFFFFF


cdef class Endpointer:
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

    def __cinit__(self, rate, threshold, deactivation, min_speech_ms, min_silence_ms, confirm_ms):
        self.rate = <int>whole_number(rate, "rate", 1000, 384000)
        self.threshold = real_number(threshold, "threshold", 0.0, 1.0)
        self.deactivation = real_number(deactivation, "deactivation", 0.0, 1.0)
        if self.threshold < self.deactivation:
            raise value_error(f"threshold {threshold} is below deactivation {deactivation}; wanted at least that")
        self._min_speech = _samples(min_speech_ms, "min_speech_ms", self.rate)
        self._min_silence = _samples(min_silence_ms, "min_silence_ms", self.rate)
        self._confirmed = self._min_silence + _samples(confirm_ms, "confirm_ms", self.rate)

    @property
    def state(self):
        """The state that the last push returned."""
        return STATES[self._state]

    @property
    def voiced_ms(self):
        """Voiced audio of the present run, in ms."""
        return self._voiced * 1000.0 / self.rate

    @property
    def silence_ms(self):
        """Silence since the present run's last voiced window, in ms."""
        return self._silence * 1000.0 / self.rate

    def push(self, n_samples, probability):
        """Count a window of n_samples that is speech with this probability."""
        cdef int64_t n = whole_number(n_samples, "n_samples", 0, MAX_PUSH)
        cdef double p = real_number(probability, "probability", 0.0, 1.0)
        self._state = self._advance(n, p)
        return STATES[self._state]

    def reset(self):
        """Back to IDLE with nothing counted."""
        self._state = IDLE
        self._voiced = 0
        self._silence = 0

    cdef int _advance(self, int64_t n, double probability) noexcept:
        cdef int state = self._state
        if state == CONFIRMED:
            state = IDLE
            self._voiced = 0
            self._silence = 0
        if probability >= self.threshold:
            if n == 0:
                return state
            self._voiced += n
            self._silence = 0
            return SPEECH if state != IDLE or self._voiced >= self._min_speech else IDLE
        if self._voiced == 0:
            return state  # silence counts after speech only
        if probability < self.deactivation or self._silence:
            # Between the two levels a silence that has begun goes on, and one that has not does not begin.
            self._silence += n
        if self._silence == 0:
            return state
        if state == IDLE:
            if self._silence >= self._min_silence:  # too short to be speech: the run lapses
                self._voiced = 0
                self._silence = 0
            return IDLE
        if self._silence >= self._confirmed:
            return CONFIRMED
        return FALLING if self._silence >= self._min_silence else SPEECH


cdef int64_t _samples(object value, str name, int rate) except -1:
    return <int64_t>(real_number(value, name, 0.0, MAX_MS) * rate / 1000.0 + 0.5)
