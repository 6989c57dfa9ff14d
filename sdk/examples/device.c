/*
 * Encodes frames of samples for the Device Insights Service, on a microcontroller: C99, no allocation, no floating point but for float32
 * samples, any byte order. Send each frame as one binary message of the WebSocket {url}/stream/ingest. The protocol is described in
 * INGEST.md of the service; frame-vectors.json has frames to test an encoder with.
 *
 * Copy what is above the example. Compiled as a program, this file prints frames in hex:
 *
 *   cc -std=c99 -o device device.c -lm
 *   ./device vectors            the frames of frame-vectors.json
 *   ./device pulse EPOCH_MS     20 s of a pulse of 72 bpm at 100 Hz, measured since EPOCH_MS
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DI_HEADER_BYTES 16
/* The device has no clock: the service counts time from the arrivals. */
#define DI_NO_CLOCK UINT64_MAX

enum di_encoding { DI_INT16 = 1, DI_INT24 = 2, DI_INT32 = 3, DI_FLOAT32 = 4 };

static void di_put(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

/* A whole number as the bits of an IEEE 754 double, which holds it exactly below 2^53. */
static uint64_t di_double_bits(uint64_t value)
{
    uint64_t exponent = 1023 + 52;
    if (value == 0)
        return 0;
    while (!(value >> 52)) {
        value <<= 1;
        exponent--;
    }
    return exponent << 52 | (value & 0xfffffffffffffu);
}

/*
 * Writes the header of a frame. Returns its bytes, or 0 where there is no room.
 *
 * channel: index in the device model
 * seq:     number of the first instant since the start of the session (an instant is one value of each sub-channel)
 * ts_ms:   time of the first instant, ms since the epoch, below 2^53; or DI_NO_CLOCK
 */
static size_t di_header(uint8_t *out, size_t room, uint8_t channel, enum di_encoding encoding, uint32_t seq, uint64_t ts_ms)
{
    if (room < DI_HEADER_BYTES)
        return 0;
    out[0] = 1; /* version */
    out[1] = channel;
    out[2] = (uint8_t)encoding;
    out[3] = 0;
    di_put(out + 4, seq, 4);
    di_put(out + 8, ts_ms == DI_NO_CLOCK ? 0x7ff8000000000000u : di_double_bits(ts_ms), 8);
    return DI_HEADER_BYTES;
}

/*
 * Writes a frame of whole numbers; with several sub-channels they are interleaved, and count is a multiple of them.
 *
 * encoding: DI_INT16, DI_INT24 or DI_INT32: the narrowest that holds the samples
 * Returns the frame's bytes, or 0 where there is no room, no sample, or a sample that the encoding does not hold.
 */
size_t di_encode_int(uint8_t *out, size_t room, uint8_t channel, uint32_t seq, uint64_t ts_ms, enum di_encoding encoding,
                     const int32_t *samples, size_t count)
{
    const size_t width = (size_t)encoding + 1;
    const int32_t most = (int32_t)(((uint32_t)1 << (8 * width - 1)) - 1);
    if (encoding == DI_FLOAT32 || count == 0 || room < DI_HEADER_BYTES || count > (room - DI_HEADER_BYTES) / width)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (samples[i] > most || samples[i] < -most - 1)
            return 0;
        di_put(out + DI_HEADER_BYTES + i * width, (uint32_t)samples[i], width);
    }
    return di_header(out, room, channel, encoding, seq, ts_ms) + count * width;
}

/* Writes a frame of float32 samples; NaN is a missing value. Returns the frame's bytes, or 0 where there is no room or no sample. */
size_t di_encode_float(uint8_t *out, size_t room, uint8_t channel, uint32_t seq, uint64_t ts_ms, const float *samples, size_t count)
{
    if (count == 0 || room < DI_HEADER_BYTES || count > (room - DI_HEADER_BYTES) / 4)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &samples[i], sizeof bits);
        di_put(out + DI_HEADER_BYTES + 4 * i, bits, 4);
    }
    return di_header(out, room, channel, DI_FLOAT32, seq, ts_ms) + 4 * count;
}

/* ---- The example ---- */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_HZ 100
#define FRAME_INSTANTS 20

static void print_frame(const uint8_t *frame, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        printf("%02x", frame[i]);
    printf("\n");
}

static void print_vectors(void)
{
    uint8_t frame[64];
    const int32_t narrow[] = {0, 1, -1, 32767, -32768};
    const int32_t middle[] = {8388607, -8388608, 65536};
    const int32_t wide[] = {2147483647, -2147483647 - 1};
    const float fractions[] = {0.5f, -1.25f, NAN};
    print_frame(frame, di_encode_int(frame, sizeof frame, 0, 0, 1763600000000u, DI_INT16, narrow, 5));
    print_frame(frame, di_encode_int(frame, sizeof frame, 1, 4294967200u, 1763600000001u, DI_INT24, middle, 3));
    print_frame(frame, di_encode_int(frame, sizeof frame, 255, 7, DI_NO_CLOCK, DI_INT32, wide, 2));
    print_frame(frame, di_encode_float(frame, sizeof frame, 2, 100, 946684800000u, fractions, 3));
    /* No room, no sample, and a sample that int16 does not hold: nothing is written. */
    print_frame(frame, di_encode_int(frame, 20, 0, 0, 0, DI_INT16, narrow, 5));
    print_frame(frame, di_encode_float(frame, sizeof frame, 0, 0, 0, fractions, 0));
    print_frame(frame, di_encode_int(frame, sizeof frame, 0, 0, 0, DI_INT16, middle, 3));
}

static void print_pulse(uint64_t epoch_ms)
{
    uint8_t frame[DI_HEADER_BYTES + 2 * FRAME_INSTANTS];
    int32_t samples[FRAME_INSTANTS];
    for (uint32_t seq = 0; seq < 20 * RATE_HZ; seq += FRAME_INSTANTS) {
        for (uint32_t i = 0; i < FRAME_INSTANTS; i++) {
            const double phase = 6.283185307179586 * 72 / 60 * (seq + i) / RATE_HZ;
            samples[i] = (int32_t)(8000 * sin(phase) + 2500 * sin(2 * phase + 1));
        }
        print_frame(frame, di_encode_int(frame, sizeof frame, 0, seq, epoch_ms + 1000 / RATE_HZ * seq, DI_INT16, samples, FRAME_INSTANTS));
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "vectors") == 0)
        print_vectors();
    else if (argc == 3 && strcmp(argv[1], "pulse") == 0)
        print_pulse(strtoull(argv[2], NULL, 10));
    else
        return fprintf(stderr, "device vectors | device pulse EPOCH_MS\n"), 2;
    return 0;
}
