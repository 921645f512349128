/* A polyphase FIR: output k is the inner product of one phase's taps with the input around k * rate_in / rate_out. */
#ifndef VANLING_RESAMPLE_KERNEL_H
#define VANLING_RESAMPLE_KERNEL_H

#include <stddef.h>

/* Where the next output lies: its first tap's sample, and the phase between that sample and the one after it. */
typedef struct {
    size_t sample;
    size_t phase;
} vanling_cursor;

/* Fills `bank` (phases * taps, taps a multiple of 8): a Kaiser-windowed sinc, each phase with a gain of exactly one at DC.
 * `cutoff` is in cycles per input sample. */
void vanling_design(float *bank, size_t phases, size_t taps, double cutoff, double beta);

/* Makes n outputs of `in`; each output moves the cursor by step_samples + step_phase / phases. */
void vanling_fir(const float *in, float *out, size_t n, const float *bank, size_t taps, size_t phases,
                 size_t step_samples, size_t step_phase, vanling_cursor *at);

#endif
