/* Per-sample loops over PCM, written so that a compiler vectorises them. Sizes are in samples. */
#ifndef VANLING_PCM_KERNEL_H
#define VANLING_PCM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Rounds to nearest and saturates; NaN becomes 0. `scale` 1 for samples already in int16 steps, 32768 for +-1.0. */
void vanling_f32_to_i16(const float *in, int16_t *out, size_t n, float scale);
void vanling_i16_to_f32(const int16_t *in, float *out, size_t n, float scale);

/* Sums of squares, in int16 steps squared or in +-1.0 squared. */
double vanling_energy_i16(const int16_t *in, size_t n);
double vanling_energy_f32(const float *in, size_t n);

/* Linear ramp to zero over `frames` frames of `channels` interleaved samples, in place; the last frame is zero. */
void vanling_fade_i16(int16_t *pcm, size_t frames, size_t channels);
void vanling_fade_f32(float *pcm, size_t frames, size_t channels);

#endif
