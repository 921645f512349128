"""Opus packets to int16 PCM and back, on the libopus that ships beside this module."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int16_t, int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport numpy as cnp

from vanling.core.checks cimport need_int16, real_number, type_error, value_error, whole_number
from vanling.core.opus_h cimport *
from vanling.core.pcm cimport fade_out_i16

from vanling.errors import OpusError

cnp.import_array()

RATES = (8000, 12000, 16000, 24000, 48000)
FRAME_MS = (2.5, 5, 10, 20, 40, 60, 80, 100, 120)

cdef enum:
    # The longest packet of the format is 120 ms in 48 frames of 1275 bytes and their lengths (RFC 6716 §3.2): 61 298.
    MAX_PACKET = 65536
    # What libopus can make of 120 ms at its highest rate: six frames of 20 ms, 1275 bytes each, with headers.
    PACKET_CAPACITY = 7680
    # A loss before anything was heard: the frame that devices send (xiaozhi-esp32 audio_service.h).
    FIRST_LOSS_MS = 60
    # Long enough to hide the edge of a cut-off tone, short enough to keep the last phoneme.
    FADE_MS = 5


def opus_version():
    """The version string of the libopus in use."""
    return opus_get_version_string().decode()


cdef class Decoder:
    """Decodes one stream; not thread-safe."""

    def __cinit__(self, rate, channels=1):
        cdef int error = 0
        self.rate = _opus_rate(rate)
        self.channels = <int>whole_number(channels, "channels", 1, 2)
        self._last = self.rate * FIRST_LOSS_MS // 1000
        self._state = opus_decoder_create(self.rate, self.channels, &error)
        check(error, "opening an Opus decoder")

    def __dealloc__(self):
        if self._state != NULL:
            opus_decoder_destroy(self._state)

    @property
    def last_duration_ms(self):
        """Duration of the last packet, which is what a loss is concealed with."""
        return self._last * 1000.0 / self.rate

    def decode(self, packet):
        """One packet to int16 PCM; None or b"" conceals one loss."""
        cdef Py_buffer view
        if packet is None:
            return self._decode(NULL, 0)
        if PyBytes_CheckExact(packet):
            return self._decode(<const unsigned char *>PyBytes_AS_STRING(packet), PyBytes_GET_SIZE(packet))
        try:
            PyObject_GetBuffer(packet, &view, PyBUF_SIMPLE)
        except (TypeError, BufferError):
            raise type_error(f"packet is {type(packet).__name__}; wanted bytes or None") from None
        try:
            return self._decode(<const unsigned char *>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    def reset(self):
        """Forget the stream, as if newly made."""
        enter(self._busy)
        check(opus_decoder_ctl(self._state, OPUS_RESET_STATE), "resetting an Opus decoder")
        self._last = self.rate * FIRST_LOSS_MS // 1000

    cdef _decode(self, const unsigned char *data, Py_ssize_t size):
        cdef int n, got
        cdef cnp.npy_intp shape[2]
        cdef int16_t *out
        cdef cnp.ndarray pcm
        enter(self._busy)
        if size > MAX_PACKET:
            raise OpusError(f"an Opus packet of {size} bytes; none is longer than {MAX_PACKET}", OPUS_INVALID_PACKET)
        if size == 0:
            data = NULL
            n = self._last
        else:
            n = opus_decoder_get_nb_samples(self._state, data, <int32_t>size)
            if n <= 0:
                raise refused(n if n < 0 else OPUS_INVALID_PACKET, size)
        shape[0] = n
        shape[1] = self.channels
        pcm = cnp.PyArray_EMPTY(1 if self.channels == 1 else 2, shape, cnp.NPY_INT16, 0)
        out = <int16_t *>cnp.PyArray_DATA(pcm)
        self._busy = True
        with nogil:
            got = opus_decode(self._state, data, <int32_t>size, out, n, 0)
        self._busy = False
        if got < 0:
            raise refused(got, size)
        self._last = got
        return pcm if got == n else pcm[:got]


cdef class Encoder:
    """Encodes one stream of speech; not thread-safe."""

    def __cinit__(self, rate, channels=1, frame_ms=60, bitrate=24000, complexity=5):
        cdef int error = 0
        self.rate = _opus_rate(rate)
        self.channels = <int>whole_number(channels, "channels", 1, 2)
        self.bitrate = <int>whole_number(bitrate, "bitrate", 6000, 510000)
        self.complexity = <int>whole_number(complexity, "complexity", 0, 10)
        self.frame_ms = real_number(frame_ms, "frame_ms", 2.5, 120)
        if self.frame_ms not in FRAME_MS:
            raise value_error(f"frame_ms is {frame_ms}; wanted one of {', '.join(map(str, FRAME_MS))}")
        if self.frame_ms == 2.5 and self.rate == 12000:
            # Measured with 1.3.1 and later: what is decoded has 4/5 of the pitch.
            raise value_error("frame_ms is 2.5 at 12000 Hz, which libopus encodes at a wrong pitch; wanted 5 or more")
        self.frame_samples = <int>(self.rate * self.frame_ms / 1000)
        self._pending = <int16_t *>malloc(self.frame_samples * self.channels * sizeof(int16_t))
        self._packet = <unsigned char *>malloc(PACKET_CAPACITY)
        if self._pending == NULL or self._packet == NULL:
            raise MemoryError
        self._state = opus_encoder_create(self.rate, self.channels, OPUS_APPLICATION_VOIP, &error)
        check(error, "opening an Opus encoder")
        check(opus_encoder_ctl(self._state, OPUS_SET_BITRATE_REQUEST, <int32_t>self.bitrate), "setting the bitrate")
        check(opus_encoder_ctl(self._state, OPUS_SET_COMPLEXITY_REQUEST, <int32_t>self.complexity), "setting effort")
        cdef int32_t lookahead = 0
        check(opus_encoder_ctl(self._state, OPUS_GET_LOOKAHEAD_REQUEST, &lookahead), "reading the lookahead")
        self.lookahead = lookahead

    def __dealloc__(self):
        if self._state != NULL:
            opus_encoder_destroy(self._state)
        free(self._pending)
        free(self._packet)

    def encode(self, pcm):
        """Take any number of samples; return the packets that they complete."""
        enter(self._busy)
        need_int16(pcm, self.channels)
        cdef cnp.ndarray source = pcm
        cdef const int16_t *data = <const int16_t *>cnp.PyArray_DATA(source)
        cdef Py_ssize_t left = cnp.PyArray_DIM(source, 0)
        cdef int take
        cdef list packets = []
        if self._filled:
            take = <int>min(left, <Py_ssize_t>(self.frame_samples - self._filled))
            memcpy(self._pending + self._filled * self.channels, data, take * self.channels * sizeof(int16_t))
            self._filled += take
            data += take * self.channels
            left -= take
            if self._filled == self.frame_samples:
                self._filled = 0
                packets.append(self._encode_frame(self._pending))
        while left >= self.frame_samples:
            packets.append(self._encode_frame(data))
            data += self.frame_samples * self.channels
            left -= self.frame_samples
        if left:
            memcpy(self._pending, data, left * self.channels * sizeof(int16_t))
            self._filled = <int>left
        return packets

    def flush(self):
        """The packet of the samples that wait, faded out and filled up with silence; [] if none wait."""
        enter(self._busy)
        if self._filled == 0:
            return []
        # A decoder plays `lookahead` samples late: what lies in the last of them would be cut off, not heard, so the
        # fade has to end before.
        cdef int end = self._filled
        if self.lookahead < self.frame_samples:
            end = min(end, self.frame_samples - self.lookahead)
        cdef int fade = min(end, self.rate * FADE_MS // 1000)
        fade_out_i16(self._pending + (end - fade) * self.channels, fade, self.channels)
        memset(self._pending + end * self.channels, 0, (self.frame_samples - end) * self.channels * sizeof(int16_t))
        self._filled = 0
        return [self._encode_frame(self._pending)]

    def reset(self):
        """Drop the samples that wait and forget the stream, as if newly made."""
        enter(self._busy)
        self._filled = 0
        check(opus_encoder_ctl(self._state, OPUS_RESET_STATE), "resetting an Opus encoder")

    cdef bytes _encode_frame(self, const int16_t *pcm):
        cdef int32_t size
        self._busy = True
        with nogil:
            size = opus_encode(self._state, pcm, self.frame_samples, self._packet, PACKET_CAPACITY)
        self._busy = False
        check(size, "encoding a frame")
        return PyBytes_FromStringAndSize(<char *>self._packet, size)


cdef int _opus_rate(object rate) except -1:
    cdef long long value = whole_number(rate, "rate", -0x7FFFFFFF, 0x7FFFFFFF)
    if value not in RATES:
        raise value_error(f"rate is {value} Hz; Opus has {', '.join(map(str, RATES))}")
    return <int>value


cdef inline int enter(bint busy) except -1:
    # The interpreter lock is released inside libopus; a second thread in the same object would corrupt its state.
    if busy:
        raise value_error("this Opus object is in use by another thread; give each thread or stream its own")
    return 0


cdef int check(int code, str doing) except -1:
    if code < 0:
        raise OpusError(f"{doing}: {opus_strerror(code).decode()}", code)
    return 0


cdef object refused(int code, Py_ssize_t size):
    return OpusError(f"libopus refused a packet of {size} bytes: {opus_strerror(code).decode()}", code)
