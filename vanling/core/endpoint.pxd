"""Silence confirmation: when speech has begun and when it has ended, in samples."""

from libc.stdint cimport int64_t


cdef class Endpointer:
    cdef readonly int rate
    cdef readonly double threshold
    cdef readonly double deactivation
    cdef int64_t _min_speech
    cdef int64_t _min_silence
    cdef int64_t _confirmed  # min_silence + confirm
    cdef int64_t _voiced
    cdef int64_t _silence
    cdef int _state

    cdef int _advance(self, int64_t n, double probability) noexcept
