"""When the next audio frame may leave, on absolute deadlines."""

from libc.stdint cimport int64_t


cdef class Pacer:
    cdef readonly int lead
    cdef readonly int64_t frame_ns
    cdef int64_t _end  # when all that was sent will have been played
    cdef bint _running

    cdef int _due(self, int64_t now) noexcept
