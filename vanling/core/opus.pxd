"""Opus packets to int16 PCM and back."""

from libc.stdint cimport int16_t, int32_t

from vanling.core.opus_h cimport OpusDecoder, OpusEncoder


cdef class Decoder:
    cdef OpusDecoder *_state
    cdef readonly int rate
    cdef readonly int channels
    cdef int _last  # samples per channel of the last packet: what a loss is taken to have been
    cdef bint _busy

    cdef _decode(self, const unsigned char *data, Py_ssize_t size)


cdef class Encoder:
    cdef OpusEncoder *_state
    cdef readonly int rate
    cdef readonly int channels
    cdef readonly int bitrate
    cdef readonly int complexity
    cdef readonly double frame_ms
    cdef readonly int frame_samples
    cdef readonly int lookahead
    cdef int16_t *_pending  # the samples that do not fill a frame yet
    cdef int _filled  # of them, per channel
    cdef unsigned char *_packet
    cdef bint _busy

    cdef bytes _encode_frame(self, const int16_t *pcm)
