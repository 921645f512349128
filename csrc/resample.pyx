"""Streaming sample rate conversion by a polyphase FIR with a short, compensated delay."""

from libc.math cimport ceil
from libc.stdint cimport int16_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from math import gcd

cimport numpy as cnp

from vanling.core.checks cimport audio_type, type_error, value_error, whole_number

cnp.import_array()

cdef extern from "stdlib.h" nogil:
    void *aligned_alloc(size_t alignment, size_t size)

cdef extern from "pcm_kernel.h" nogil:
    void vanling_f32_to_i16(const float *pcm, int16_t *out, size_t n, float scale)
    void vanling_i16_to_f32(const int16_t *pcm, float *out, size_t n, float scale)

cdef extern from "resample_kernel.h" nogil:
    void vanling_design(const vanling_filter *filter, double cutoff, double beta)
    void vanling_fir(const float *pcm, float *out, size_t n, const vanling_filter *filter, vanling_cursor *at)

RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)

cdef enum:
    # Half the filter, in samples of the lower rate: 16 zero crossings are 1 ms into 16 kHz.
    ZEROS = 16
    # Input is taken in blocks of this, so that the buffers have one size whatever the chunk.
    BLOCK = 1024
    # A shorter call takes a few µs: less than giving the interpreter lock away and getting it back.
    LONG_CALL = 4096

# The Kaiser window's shape, and cutoff and stop band as parts of the lower rate's half: found by scanning for the best
# alias and ripple that 16 zero crossings give. Into 16 kHz: alias -90 dB from 9 kHz on, ripple 0.07 dB up to 6.5 kHz,
# -5 dB at 7.5 kHz. tests/core/test_resample_quality.py measures them.
cdef double BETA = 9.0
cdef double ROLLOFF = 0.945
cdef double STOP = 1.125
# Where 16 zero crossings would take longer (11.025 to 8 kHz) the filter is shorter, its slope wider, its cutoff lower.
cdef double MAX_DELAY_S = 0.002

_banks = {}


cdef class Bank:
    def __cinit__(self, int rate_in, int rate_out):
        cdef double ratio = max(1.0, rate_in / <double>rate_out)
        # A multiple of 4, so that the whole filter is a multiple of the kernel's 8 lanes.
        cdef size_t half = min(<size_t>ceil(ZEROS * ratio / 4), <size_t>(rate_in * MAX_DELAY_S / 4 + 1e-9)) * 4
        cdef size_t common = gcd(rate_in, rate_out)
        self.filter.taps = 2 * half
        self.filter.phases = rate_out // common
        self.filter.step_samples = rate_in // rate_out
        self.filter.step_phase = rate_in // common % self.filter.phases
        # A row of taps is a whole number of 32-byte vectors; so aligned, none straddles two cache lines.
        self.filter.bank = <float *>aligned_alloc(32, self.filter.phases * self.filter.taps * sizeof(float))
        if self.filter.bank == NULL:
            raise MemoryError
        cdef double slope = (STOP - ROLLOFF) * max(1.0, ZEROS * ratio / half)
        vanling_design(&self.filter, 0.5 * (STOP - slope) / ratio, BETA)

    def __dealloc__(self):
        free(self.filter.bank)


cdef class Resampler:
    """Converts one mono stream; not thread-safe."""

    def __cinit__(self, rate_in, rate_out):
        self.rate_in = _known_rate(rate_in, "rate_in")
        self.rate_out = _known_rate(rate_out, "rate_out")
        self._kind = -1
        if self.rate_in == self.rate_out:
            return
        pair = (self.rate_in, self.rate_out)
        bank = _banks.get(pair)
        if bank is None:
            bank = _banks.setdefault(pair, Bank(self.rate_in, self.rate_out))
        self._bank = bank
        self._filter = &self._bank.filter
        self._window = <float *>malloc((self._filter.taps + BLOCK) * sizeof(float))
        # A block makes at most BLOCK * ratio outputs, and one more by the phase it begins with.
        self._made = <float *>malloc((<size_t>(BLOCK * (<double>self.rate_out / self.rate_in)) + 2) * sizeof(float))
        if self._window == NULL or self._made == NULL:
            raise MemoryError
        self._start()

    def __dealloc__(self):
        free(self._window)
        free(self._made)

    @property
    def delay_ms(self):
        """How far the input must run ahead of the output, in ms."""
        return 0.0 if self._bank is None else self._filter.taps / 2 * 1000.0 / self.rate_in

    def process(self, pcm):
        """Take a chunk of any size; return the samples that can be made of it."""
        cdef int kind = audio_type(pcm, 1)
        self._enter()
        if self._kind != kind:
            if self._kind >= 0:
                raise type_error("the audio changed its dtype in mid-stream; flush() or reset() comes first")
            self._kind = kind
        cdef cnp.ndarray source = pcm
        cdef size_t n = cnp.PyArray_DIM(source, 0)
        if self._bank is None:
            return cnp.PyArray_NewCopy(source, cnp.NPY_CORDER)
        self._taken += n
        cdef int64_t end = self._available(self._taken)
        return self._make(cnp.PyArray_DATA(source), n, end)

    def flush(self):
        """The samples that still waited for input; the stream then begins anew."""
        self._enter()
        cdef int kind = cnp.NPY_INT16 if self._kind < 0 else self._kind
        cdef cnp.npy_intp none = 0
        if self._bank is None or self._taken == 0:
            self.reset()
            return cnp.PyArray_EMPTY(1, &none, kind, 0)
        cdef int64_t step = _step(self._filter)
        cdef int64_t end = (2 * self._taken * <int64_t>self._filter.phases + step) // (2 * step)
        out = self._make(NULL, self._filter.taps // 2, end)
        self.reset()
        return out

    def reset(self):
        """Forget the stream, as if newly made."""
        self._enter()
        self._kind = -1
        if self._bank is not None:
            self._start()

    cdef int _enter(self) except -1:
        if self._busy:
            raise value_error("this resampler is in use by another thread; give each thread or stream its own")
        return 0

    cdef _make(self, const void *data, size_t n, int64_t end):
        cdef cnp.npy_intp count = end - self._given
        cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &count, self._kind, 0)
        cdef void *to = cnp.PyArray_DATA(out)
        if n > LONG_CALL:
            self._busy = True
            with nogil:
                self._run(data, n, to, end)
            self._busy = False
        else:
            self._run(data, n, to, end)
        return out

    cdef void _start(self) noexcept:
        # The first output lies on the first input sample: before that are half a filter of zeros, less that sample.
        self._filled = self._filter.taps // 2 - 1
        memset(self._window, 0, self._filled * sizeof(float))
        self._at.sample = 0
        self._at.phase = 0
        self._taken = 0
        self._given = 0

    cdef int64_t _available(self, int64_t taken) noexcept nogil:
        """How many outputs, counted from the start of the stream, `taken` inputs make."""
        cdef int64_t step = _step(self._filter)
        cdef int64_t ready = taken - <int64_t>(self._filter.taps // 2)
        return max(self._given, (ready * <int64_t>self._filter.phases + step - 1) // step) if ready > 0 else self._given

    cdef void _run(self, const void *data, size_t n, void *out, int64_t limit) noexcept nogil:
        """Take n samples (zeros if data is NULL) block by block; write outputs up to the limit-th of the stream."""
        cdef size_t done = 0, take, count, keep
        cdef int64_t origin = self._given
        while done < n:
            take = min(n - done, <size_t>BLOCK)
            if data == NULL:
                memset(self._window + self._filled, 0, take * sizeof(float))
            elif self._kind == cnp.NPY_INT16:
                vanling_i16_to_f32(<const int16_t *>data + done, self._window + self._filled, take, 1.0)
            else:
                memcpy(self._window + self._filled, <const float *>data + done, take * sizeof(float))
            self._filled += take
            done += take
            count = self._outputs_in_window()
            if <int64_t>count > limit - self._given:
                count = limit - self._given
            vanling_fir(self._window, self._made, count, self._filter, &self._at)
            if self._kind == cnp.NPY_INT16:
                vanling_f32_to_i16(self._made, <int16_t *>out + (self._given - origin), count, 1.0)
            else:
                memcpy(<float *>out + (self._given - origin), self._made, count * sizeof(float))
            self._given += count
            # What lies before the next output's first tap is done with.
            keep = min(self._at.sample, self._filled)
            memmove(self._window, self._window + keep, (self._filled - keep) * sizeof(float))
            self._filled -= keep
            self._at.sample -= keep

    cdef size_t _outputs_in_window(self) noexcept nogil:
        """Outputs whose taps all lie in the window: those with sample + taps <= filled."""
        cdef size_t taps = self._filter.taps, phases = self._filter.phases
        cdef size_t step = _step(self._filter)
        if self._at.sample + taps > self._filled:
            return 0
        return ((self._filled - taps - self._at.sample + 1) * phases - self._at.phase + step - 1) // step


cdef inline int64_t _step(const vanling_filter *filter) noexcept nogil:
    """From one output to the next, in phases."""
    return filter.step_samples * filter.phases + filter.step_phase


cdef int _known_rate(object rate, str name) except -1:
    cdef long long value = whole_number(rate, name, -0x7FFFFFFF, 0x7FFFFFFF)
    if value not in RATES:
        raise value_error(f"{name} is {value} Hz; wanted one of {', '.join(map(str, RATES))}")
    return <int>value
