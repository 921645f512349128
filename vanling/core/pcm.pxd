"""PCM loops that the other compiled modules share."""

from libc.stdint cimport int16_t

cdef void fade_out_i16(int16_t *pcm, size_t frames, size_t channels) noexcept nogil
