#include "pcm_kernel.h"

void vanling_f32_to_i16(const float *in, int16_t *out, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++) {
        float x = in[i] * scale;
        x = x == x ? x : 0.0f;
        x = x < -32768.0f ? -32768.0f : x;
        x = x > 32767.0f ? 32767.0f : x;
        /* Clamped first: the conversion of a value that int cannot hold is undefined. */
        out[i] = (int16_t)(int32_t)(x + (x < 0.0f ? -0.5f : 0.5f));
    }
}

void vanling_i16_to_f32(const int16_t *in, float *out, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)in[i] * scale;
}

double vanling_energy_i16(const int16_t *in, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)((int32_t)in[i] * in[i]);
    return (double)sum;
}

double vanling_energy_f32(const float *in, size_t n)
{
    /* Eight sums side by side: a single one could not be vectorised without changing its rounding. */
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sums[lane] += (double)in[i + lane] * in[i + lane];
    for (; i < n; i++)
        sums[0] += (double)in[i] * in[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void vanling_fade_i16(int16_t *pcm, size_t frames, size_t channels)
{
    for (size_t i = 0; i < frames; i++)
        for (size_t c = 0; c < channels; c++)
            pcm[i * channels + c] = (int16_t)((float)pcm[i * channels + c] * ((float)(frames - 1 - i) / (float)frames));
}

void vanling_fade_f32(float *pcm, size_t frames, size_t channels)
{
    for (size_t i = 0; i < frames; i++)
        for (size_t c = 0; c < channels; c++)
            pcm[i * channels + c] *= (float)(frames - 1 - i) / (float)frames;
}
