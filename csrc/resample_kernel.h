/* A polyphase FIR: output k is the inner product of one phase's taps with the input around k * rate_in / rate_out. */
#ifndef VANLING_RESAMPLE_KERNEL_H
#define VANLING_RESAMPLE_KERNEL_H

#include <stddef.h>

typedef struct {
    float *bank;         /* phases * taps */
    size_t phases;       /* positions between two input samples */
    size_t taps;         /* of each phase; a multiple of 8 */
    size_t step_samples; /* from one output to the next, in whole input samples ... */
    size_t step_phase;   /* ... and phases */
} vanling_filter;

/* Where the next output lies: the input sample of its first tap, and its phase. */
typedef struct {
    size_t sample;
    size_t phase;
} vanling_cursor;

/* Fills the bank with a Kaiser-windowed sinc, each phase with unity gain at DC; `cutoff` in cycles per input sample. */
void vanling_design(const vanling_filter *filter, double cutoff, double beta);

/* Makes n outputs of `in` and moves the cursor behind them. */
void vanling_fir(const float *in, float *out, size_t n, const vanling_filter *filter, vanling_cursor *at);

#endif
