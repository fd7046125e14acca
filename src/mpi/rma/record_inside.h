/* record_inside.h: what is recorded, for the files that fill it and write it. */
#ifndef HEARTH_MPI_RECORD_INSIDE_H
#define HEARTH_MPI_RECORD_INSIDE_H

#include "mpi/callers.h"
#include "mpi/rma/record.h"

enum { MOST_EVENTS = 256, MOST_CURVES = 64, SIZE_CLASSES = 64 };

/* Columns of the series: counts first, then what is there now. */
enum {
    SERIES_GETS,
    SERIES_HITS,
    SERIES_SERVED,
    SERIES_FETCHED,
    SERIES_ENTRIES,
    SERIES_USED,
    SERIES_STORAGE,
    SERIES_REGIONS
};

struct event {
    uint64_t ns, window, from, to;
    enum record_event what;
};

struct curve {
    uint64_t window;
    struct cache_reuse_curve curve;
};

struct recording {
    uint64_t due_ticks;           /* when a bin of the series may be over */
    uint32_t countdown, interval; /* gets until the next of the sample; as many stand for one */
    struct caller *judged;        /* whose get is not yet known to be a hit; NULL: none */
    struct window *judged_window;
    uint64_t judged_hits, judged_weight, sampled;
    double ticks_per_ns;
    struct random random;
    uint64_t sizes[SIZE_CLASSES];
    uint64_t closed[SERIES_COLUMNS]; /* of windows that are no more */
    struct series series;
    struct callers callers;
    uint64_t event_count; /* also those for which there was no room */
    struct event events[MOST_EVENTS];
    struct curve *curves[MOST_CURVES]; /* of windows that are no more */
    unsigned curve_count, curves_lost;
};

extern HIDDEN struct recording *recording; /* NULL: nothing is recorded */

/* Before anything is read: the outcome of the last get is known by now. */
void record_judge(void);

/* The columns as they are now, over all windows. */
void record_values(uint64_t values[SERIES_COLUMNS]);

#endif
