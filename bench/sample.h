/* sample.h: series of measurements, and the sequence of gets of the CLaMPI paper's micro-benchmark. Does not
 * use MPI. */
#ifndef HEARTH_BENCH_SAMPLE_H
#define HEARTH_BENCH_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

/* ---- series ---- */

struct samples {
    double *values;
    size_t count, room;
};

struct median {
    double value, low, high; /* with its 95 % confidence interval; all 0 for an empty series */
};

void samples_add(struct samples *s, double value);
struct median samples_median(struct samples *s);    /* sorts the values */
double samples_tenth(struct samples *s);            /* the 10th percentile; sorts the values */
double samples_at(struct samples *s, double share); /* the quantile of a share of 0 .. 1; sorts the values */
double samples_least(const struct samples *s);
void samples_free(struct samples *s);

/* ---- the micro-benchmark's gets ---- */

enum { SIZE_CLASSES = 17 }; /* 2^0 .. 2^16 bytes */

struct pick {
    uint64_t disp;
    uint32_t bytes;
    uint8_t class; /* bytes = 1 << class */
};

struct sequence {
    uint32_t distinct; /* N */
    struct pick *picks;
    uint64_t memory; /* bytes that the N picks cover, each in whole cache lines */
    uint64_t data;   /* bytes of the N picks alone */
    struct random random;
};

void sequence_open(struct sequence *s, uint32_t distinct, uint64_t seed);
const struct pick *sequence_next(struct sequence *s);
void sequence_close(struct sequence *s);

/* ---- helpers of every program ---- */

/* The value of --NAME N on the command line, or the fallback. */
long option(int argc, char **argv, const char *name, long fallback);

void *need(void *memory); /* ends the program if NULL */

#endif
