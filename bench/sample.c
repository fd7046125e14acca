/* sample.c: implements sample.h.
 *
 * The gets of one sequence are consecutive at the target, each on its own cache lines. The next get is drawn
 * from the normal distribution N(n/2, n/4) over their numbers, and drawn again if outside. Sizes are
 * independent of the numbers, so frequent and rare gets have the same mix of sizes.
 *
 * The confidence interval of a median is that of its order statistics, without an assumption about the
 * distribution. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

void *need(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return memory;
}

void samples_add(struct samples *s, double value) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->values = need(realloc(s->values, s->room * sizeof *s->values));
    }
    s->values[s->count++] = value;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(const struct samples *s, double rank) {
    double last = (double)s->count - 1;
    rank = rank < 0 ? 0 : rank > last ? last : rank;
    return s->values[(size_t)rank];
}

static void sort(struct samples *s) {
    qsort(s->values, s->count, sizeof *s->values, compare);
}

double samples_at(struct samples *s, double share) {
    sort(s);
    return s->count ? at(s, (double)s->count * share) : 0;
}

double samples_tenth(struct samples *s) {
    return samples_at(s, 0.1);
}

struct median samples_median(struct samples *s) {
    if (!s->count)
        return (struct median){0};
    sort(s);
    double n = (double)s->count, middle = (n - 1) / 2, spread = 0.98 * sqrt(n);
    return (struct median){at(s, middle), at(s, floor(middle - spread)), at(s, ceil(middle + spread))};
}

double samples_least(const struct samples *s) {
    double least = s->count ? s->values[0] : 0;
    for (size_t i = 1; i < s->count; i++)
        least = s->values[i] < least ? s->values[i] : least;
    return least;
}

void samples_free(struct samples *s) {
    free(s->values);
    *s = (struct samples){0};
}

void sequence_open(struct sequence *s, uint32_t distinct, uint64_t seed) {
    *s = (struct sequence){.distinct = distinct, .picks = need(calloc(distinct, sizeof *s->picks))};
    random_seed(&s->random, seed);
    for (uint32_t i = 0; i < distinct; i++) {
        uint8_t class = (uint8_t)random_below(&s->random, SIZE_CLASSES);
        s->picks[i] = (struct pick){.disp = s->memory, .bytes = 1u << class, .class = class};
        s->memory += round_up(1u << class, CACHE_LINE);
        s->data += 1u << class;
    }
}

static double uniform(struct random *r) { /* in (0, 1] */
    return ((double)(random_next(r) >> 11) + 1) / 9007199254740992.0;
}

static double normal(struct random *r) {
    double radius = sqrt(-2 * log(uniform(r)));
    return radius * cos(2 * M_PI * uniform(r));
}

const struct pick *sequence_next(struct sequence *s) {
    double n = s->distinct, number;
    do
        number = floor(n / 2 + n / 4 * normal(&s->random));
    while (number < 0 || number >= n);
    return &s->picks[(uint32_t)number];
}

void sequence_close(struct sequence *s) {
    free(s->picks);
}

long option(int argc, char **argv, const char *name, long fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return atol(argv[i + 1]);
    return fallback;
}
