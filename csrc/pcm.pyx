"""PCM conversions and levels. int16 full scale is 32768, float32 full scale is 1.0."""

from libc.math cimport log10, sqrt
from libc.stdint cimport int16_t

cimport numpy as cnp

from vanling.core.checks cimport audio_type, need_int16, type_error, whole_number

cnp.import_array()

cdef extern from "pcm_kernel.h" nogil:
    void vanling_f32_to_i16(const float *pcm, int16_t *out, size_t n, float scale)
    void vanling_i16_to_f32(const int16_t *pcm, float *out, size_t n, float scale)
    double vanling_energy_i16(const int16_t *pcm, size_t n)
    double vanling_energy_f32(const float *pcm, size_t n)
    void vanling_fade_i16(int16_t *pcm, size_t frames, size_t channels)
    void vanling_fade_f32(float *pcm, size_t frames, size_t channels)


# Quieter than the smallest int16 step (-90.3 dBFS) by far; a finite number where JSON and comparisons need one.
SILENCE_DBFS = -120.0


def int16_to_float32(pcm):
    """int16 of any shape to float32 in [-1, 1)."""
    need_int16(pcm, 0)
    cdef cnp.ndarray source = pcm
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(source.ndim, source.shape, cnp.NPY_FLOAT32, 0)
    vanling_i16_to_f32(<int16_t *>source.data, <float *>out.data, source.size, 1.0 / 32768.0)
    return out


def float32_to_int16(pcm):
    """float32 of any shape to int16: rounded to nearest, saturated at full scale, NaN to 0."""
    if audio_type(pcm, 0) != cnp.NPY_FLOAT32:
        raise type_error("audio is an array of int16; wanted float32")
    cdef cnp.ndarray source = pcm
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(source.ndim, source.shape, cnp.NPY_INT16, 0)
    vanling_f32_to_i16(<float *>source.data, <int16_t *>out.data, source.size, 32768.0)
    return out


def rms(pcm):
    """Root mean square, full scale 1.0; 0.0 for no samples."""
    cdef int kind = audio_type(pcm, 0)
    cdef cnp.ndarray source = pcm
    cdef size_t n = source.size
    if n == 0:
        return 0.0
    if kind == cnp.NPY_INT16:
        return sqrt(vanling_energy_i16(<int16_t *>source.data, n) / n) / 32768.0
    return sqrt(vanling_energy_f32(<float *>source.data, n) / n)


def level_dbfs(pcm):
    """RMS level in dB of full scale, at least SILENCE_DBFS."""
    cdef double level = rms(pcm)
    return max(20.0 * log10(level), SILENCE_DBFS) if level > 0.0 else SILENCE_DBFS


def fade_out(pcm, n_samples):
    """A copy whose last n_samples fall linearly to zero."""
    cdef int kind = audio_type(pcm, 0)
    cdef cnp.ndarray out = cnp.PyArray_NewCopy(pcm, cnp.NPY_CORDER)
    if out.ndim not in (1, 2):
        raise type_error(f"audio has {out.ndim} dimensions; wanted (n,) or (n, channels)")
    cdef size_t channels = out.shape[1] if out.ndim == 2 else 1
    cdef size_t total = out.shape[0]
    cdef size_t frames = min(<size_t>whole_number(n_samples, "n_samples", 0, 0x3FFFFFFFFFFFFFFF), total)
    if kind == cnp.NPY_INT16:
        vanling_fade_i16(<int16_t *>out.data + (total - frames) * channels, frames, channels)
    else:
        vanling_fade_f32(<float *>out.data + (total - frames) * channels, frames, channels)
    return out


cdef void fade_out_i16(int16_t *pcm, size_t frames, size_t channels) noexcept nogil:
    vanling_fade_i16(pcm, frames, channels)
