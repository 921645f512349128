#include "resample_kernel.h"

#include <math.h>

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

void vanling_design(const vanling_filter *filter, double cutoff, double beta)
{
    size_t phases = filter->phases, taps = filter->taps;
    double half = (double)taps / 2.0;
    for (size_t phase = 0; phase < phases; phase++) {
        float *row = filter->bank + phase * taps;
        double sum = 0.0;
        for (size_t i = 0; i < taps; i++) {
            double t = (double)i - (half - 1.0) - (double)phase / (double)phases;
            double edge = 1.0 - (t / half) * (t / half);
            double x = 2.0 * cutoff * t;
            double sinc = x == 0.0 ? 1.0 : sin(pi * x) / (pi * x);
            double tap = edge < 0.0 ? 0.0 : bessel_i0(beta * sqrt(edge)) * sinc;
            row[i] = (float)tap;
            sum += tap;
        }
        for (size_t i = 0; i < taps; i++)
            row[i] = (float)(row[i] / sum);
    }
}

/* Vectors of the gcc and clang kind. Two widths, because what a compiler makes of a vector wider than the machine's
 * goes through memory. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Both keep several running sums, because one would wait for its own last addition, and always add them up in the same
 * order, so a sample comes out the same wherever a chunk began. */
ALWAYS_INLINE float inner_by_four(const float *x, const float *h, size_t taps)
{
    four a = {0}, b = {0}, c = {0}, d = {0};
    size_t i = 0;
    for (; i + 16 <= taps; i += 16) {
        a += *(const four *)(x + i) * *(const four *)(h + i);
        b += *(const four *)(x + i + 4) * *(const four *)(h + i + 4);
        c += *(const four *)(x + i + 8) * *(const four *)(h + i + 8);
        d += *(const four *)(x + i + 12) * *(const four *)(h + i + 12);
    }
    if (i < taps) {
        a += *(const four *)(x + i) * *(const four *)(h + i);
        b += *(const four *)(x + i + 4) * *(const four *)(h + i + 4);
    }
    a = (a + b) + (c + d);
    return (a[0] + a[2]) + (a[1] + a[3]);
}

ALWAYS_INLINE float inner_by_eight(const float *x, const float *h, size_t taps)
{
    eight a = {0}, b = {0};
    size_t i = 0;
    for (; i + 16 <= taps; i += 16) {
        a += *(const eight *)(x + i) * *(const eight *)(h + i);
        b += *(const eight *)(x + i + 8) * *(const eight *)(h + i + 8);
    }
    if (i < taps)
        a += *(const eight *)(x + i) * *(const eight *)(h + i);
    a += b;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

ALWAYS_INLINE void fir(const float *in, float *out, size_t n, const vanling_filter *filter, vanling_cursor *at,
                       int wide)
{
    size_t sample = at->sample, phase = at->phase;
    size_t taps = filter->taps;
    for (size_t k = 0; k < n; k++) {
        const float *x = in + sample, *h = filter->bank + phase * taps;
        out[k] = wide ? inner_by_eight(x, h, taps) : inner_by_four(x, h, taps);
        sample += filter->step_samples;
        phase += filter->step_phase;
        if (phase >= filter->phases) {
            phase -= filter->phases;
            sample++;
        }
    }
    at->sample = sample;
    at->phase = phase;
}

#if defined(__x86_64__) && !defined(VANLING_NARROW)
__attribute__((target("avx2,fma"))) static void fir_avx2(const float *in, float *out, size_t n,
                                                         const vanling_filter *filter, vanling_cursor *at)
{
    fir(in, out, n, filter, at, 1);
}
#endif

void vanling_fir(const float *in, float *out, size_t n, const vanling_filter *filter, vanling_cursor *at)
{
#if defined(__x86_64__) && !defined(VANLING_NARROW)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        fir_avx2(in, out, n, filter, at);
        return;
    }
#endif
    fir(in, out, n, filter, at, 0);
}
