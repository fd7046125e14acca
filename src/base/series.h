/* series.h: how some numbers went over time, in as much memory whether that was a second or a week.
 *
 * Time is cut into bins of one width. A bin holds the numbers as they were at its end. When all bins are full, two become one, and
 * the width doubles. */
#ifndef HEARTH_SERIES_H
#define HEARTH_SERIES_H

#include <stdint.h>

enum { SERIES_BINS = 128, SERIES_COLUMNS = 8 };

struct series {
    uint64_t start, width; /* in any unit of time */
    uint32_t count;        /* bins that are over */
    uint64_t values[SERIES_BINS][SERIES_COLUMNS];
};

void series_start(struct series *s, uint64_t start, uint64_t width);

/* When the bin that is open ends: to be noted then, at the latest with the first event after it. */
static inline uint64_t series_due(const struct series *s) {
    return s->start + (s->count + 1) * s->width;
}

/* These were the numbers ever since the last call until now: ends the bins that are over. */
void series_note(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]);

/* The same, and ends the open bin too. The last call. */
void series_end(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]);

#endif
