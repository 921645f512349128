#include "resample_kernel.h"

#include <math.h>

#include "pcm_kernel.h"

#define LANES 8

static const double pi = 3.14159265358979323846;

static double bessel_i0(double x)
{
    double sum = 1.0, term = 1.0;
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= (x / (2.0 * k)) * (x / (2.0 * k));
        sum += term;
    }
    return sum;
}

void vanling_design(float *bank, size_t phases, size_t taps, double cutoff, double beta)
{
    double half = (double)taps / 2.0;
    for (size_t phase = 0; phase < phases; phase++) {
        float *row = bank + phase * taps;
        double sum = 0.0;
        for (int pass = 0; pass < 2; pass++) /* once for the sum, once scaled by it */
            for (size_t i = 0; i < taps; i++) {
                double t = (double)i - (half - 1.0) - (double)phase / (double)phases;
                double edge = 1.0 - (t / half) * (t / half);
                double x = 2.0 * cutoff * t;
                double tap = edge < 0.0 ? 0.0 : bessel_i0(beta * sqrt(edge)) * (x == 0.0 ? 1.0 : sin(pi * x) / (pi * x));
                if (pass == 0)
                    sum += tap;
                else
                    row[i] = (float)(tap / sum);
            }
    }
}

/* Lanes side by side, because a compiler must not reorder one running sum; always in the same order, so a sample comes out
 * the same wherever a chunk began. */
static inline __attribute__((always_inline)) float inner(const float *x, const float *h, size_t taps)
{
    float sum[LANES] = {0};
    for (size_t i = 0; i < taps; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sum[lane] += x[i + lane] * h[i + lane];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

VANLING_WIDE
void vanling_fir(const float *in, float *out, size_t n, const float *bank, size_t taps, size_t phases,
                 size_t step_samples, size_t step_phase, vanling_cursor *at)
{
    size_t sample = at->sample, phase = at->phase;
    for (size_t k = 0; k < n; k++) {
        out[k] = inner(in + sample, bank + phase * taps, taps);
        sample += step_samples;
        phase += step_phase;
        if (phase >= phases) {
            phase -= phases;
            sample++;
        }
    }
    at->sample = sample;
    at->phase = phase;
}
