"""The part of libopus (opus.h, opus_defines.h) that vanling calls."""

from libc.stdint cimport int16_t, int32_t

cdef extern from "opus.h" nogil:
    ctypedef struct OpusDecoder:
        pass

    ctypedef struct OpusEncoder:
        pass

    int OPUS_APPLICATION_VOIP
    int OPUS_INVALID_PACKET
    int OPUS_RESET_STATE
    int OPUS_GET_LOOKAHEAD_REQUEST
    int OPUS_SET_BITRATE_REQUEST
    int OPUS_SET_COMPLEXITY_REQUEST

    const char *opus_strerror(int error)
    const char *opus_get_version_string()

    OpusDecoder *opus_decoder_create(int32_t rate, int channels, int *error)
    void opus_decoder_destroy(OpusDecoder *decoder)
    int opus_decoder_ctl(OpusDecoder *decoder, int request, ...)
    int opus_decode(OpusDecoder *decoder, const unsigned char *data, int32_t size, int16_t *pcm, int capacity, int fec)
    int opus_decoder_get_nb_samples(const OpusDecoder *decoder, const unsigned char *packet, int32_t size)

    OpusEncoder *opus_encoder_create(int32_t rate, int channels, int application, int *error)
    void opus_encoder_destroy(OpusEncoder *encoder)
    int opus_encoder_ctl(OpusEncoder *encoder, int request, ...)
    int32_t opus_encode(OpusEncoder *encoder, const int16_t *pcm, int frame_size, unsigned char *data, int32_t capacity)
