/* report_curve.c: sums the curves of all ranks: the hit ratio as a function of the size of each rank's cache. A curve
 * is a list of steps; the steps of all ranks are appended to one list, which is sorted at the end. */
#include <math.h>
#include <stdlib.h>

#include "report/report.h"

void curve_add(struct curve *sum, uint64_t gets, uint64_t distinct_bytes, uint64_t part,
               const uint64_t *bytes, const uint64_t *hits, size_t count) {
    sum->steps = list_grown(sum->steps, sum->count, count, sizeof *sum->steps);
    for (size_t i = 0; i < count; i++)
        sum->steps[sum->count + i] = (struct step){.bytes = bytes[i], .hits = (double)hits[i]};
    sum->count += count;
    sum->is_there = true;
    sum->gets += gets;
    sum->share = part > sum->share ? part : sum->share;
    sum->distinct_bytes = distinct_bytes > sum->distinct_bytes ? distinct_bytes : sum->distinct_bytes;
}

static int curve_by_size(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Sorts the steps, merges those of equal size, and accumulates them. */
void curve_finish(struct curve *c) {
    size_t kept = 0;
    if (!c->count)
        return;
    qsort(c->steps, c->count, sizeof *c->steps, curve_by_size);
    for (size_t i = 1; i < c->count; i++)
        if (c->steps[i].bytes == c->steps[kept].bytes) {
            c->steps[kept].hits += c->steps[i].hits;
        } else {
            c->steps[kept + 1] = c->steps[i];
            c->steps[kept + 1].hits += c->steps[kept].hits;
            kept++;
        }
    c->count = kept + 1;
}

double curve_at(const struct curve *c, uint64_t bytes) {
    double hits = 0;
    for (size_t i = 0; i < c->count && c->steps[i].bytes <= bytes; i++)
        hits = c->steps[i].hits;
    return c->gets ? fmin(hits / (double)c->gets, 1) : 0;
}

double curve_most(const struct curve *c) {
    return curve_at(c, UINT64_MAX);
}

uint64_t curve_enough(const struct curve *c, double less) {
    uint64_t bytes = 1024;
    while (bytes < 1ull << 62 && curve_at(c, bytes) < curve_most(c) - less)
        bytes *= 2;
    return bytes;
}
