/* The bar for vanling's Opus objects: the same libopus in a loop that does nothing else. Each returns ns per frame. */
#include <stdint.h>
#include <time.h>

int opus_decode(void *decoder, const unsigned char *data, int32_t size, int16_t *pcm, int capacity, int fec);
int32_t opus_encode(void *encoder, const int16_t *pcm, int frame_size, unsigned char *data, int32_t capacity);
void *opus_decoder_create(int32_t rate, int channels, int *error);
void *opus_encoder_create(int32_t rate, int channels, int application, int *error);
int opus_encoder_ctl(void *encoder, int request, ...);

enum { APPLICATION_VOIP = 2048, SET_BITRATE = 4002, SET_COMPLEXITY = 4010 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

void *loop_decoder(int rate)
{
    int error;
    return opus_decoder_create(rate, 1, &error);
}

void *loop_encoder(int rate, int bitrate, int complexity)
{
    int error;
    void *encoder = opus_encoder_create(rate, 1, APPLICATION_VOIP, &error);
    opus_encoder_ctl(encoder, SET_BITRATE, (int32_t)bitrate);
    opus_encoder_ctl(encoder, SET_COMPLEXITY, (int32_t)complexity);
    return encoder;
}

double loop_decode(void *decoder, const unsigned char *packets, const int32_t *sizes, int n)
{
    int16_t pcm[5760];
    double start = now_ns();
    for (int i = 0; i < n; i++) {
        if (opus_decode(decoder, packets, sizes[i], pcm, 5760, 0) < 0)
            return -1;
        packets += sizes[i];
    }
    return (now_ns() - start) / n;
}

double loop_encode(void *encoder, const int16_t *pcm, int frame, int n)
{
    unsigned char packet[4000];
    double start = now_ns();
    for (int i = 0; i < n; i++)
        if (opus_encode(encoder, pcm + i * frame, frame, packet, sizeof packet) < 0)
            return -1;
    return (now_ns() - start) / n;
}
