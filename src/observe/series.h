/* series.h: a time series of counters in constant memory, whether it covers a second or a week.
 *
 * Time is divided into bins of one width. A bin holds the values at its end. When all bins are full, pairs of bins
 * are merged and the width doubles. */
#ifndef HEARTH_SERIES_H
#define HEARTH_SERIES_H

#include <stdint.h>

enum { SERIES_BINS = 128, SERIES_COLUMNS = 8 };

struct series {
    uint64_t start, width; /* in any unit of time */
    uint32_t count;        /* completed bins */
    uint64_t values[SERIES_BINS][SERIES_COLUMNS];
};

void series_start(struct series *s, uint64_t start, uint64_t width);

/* The time at which the open bin ends. Call series_note then, at the latest with the first event after it. */
static inline uint64_t series_due(const struct series *s) {
    return s->start + (s->count + 1) * s->width;
}

/* The values have been constant since the last call: completes the bins that are over. */
void series_note(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]);

/* The same, and completes the open bin too. The last call. */
void series_end(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]);

#endif
