"""Streaming sample rate conversion."""

from libc.stdint cimport int64_t


cdef extern from "resample_kernel.h" nogil:
    ctypedef struct vanling_filter:
        float *bank
        size_t phases
        size_t taps
        size_t step_samples
        size_t step_phase

    ctypedef struct vanling_cursor:
        size_t sample
        size_t phase


cdef class Bank:
    """The filter of one pair of rates; made once and shared by all its resamplers."""

    cdef vanling_filter filter


cdef class Resampler:
    cdef readonly int rate_in
    cdef readonly int rate_out
    cdef Bank _bank
    cdef const vanling_filter *_filter  # the bank's
    cdef vanling_cursor _at  # relative to the start of _window
    cdef float *_window  # the input that later outputs still need, and the block at hand
    cdef size_t _filled
    cdef float *_made
    cdef int64_t _taken  # samples in, since the start of the stream
    cdef int64_t _given  # samples out
    cdef int _kind  # the numpy type of the stream, -1 before its first chunk
    cdef bint _busy

    cdef int _enter(self) except -1
    cdef _make(self, const void *data, size_t n, int64_t end)
    cdef void _start(self) noexcept
    cdef size_t _outputs_in_window(self) noexcept nogil
    cdef int64_t _available(self, int64_t taken) noexcept nogil
    cdef void _run(self, const void *data, size_t n, void *out, int64_t limit) noexcept nogil
