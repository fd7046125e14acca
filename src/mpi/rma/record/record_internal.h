/* record_internal.h: the recording's data structures, for the files that fill and write them. */
#ifndef HEARTH_MPI_RECORD_INTERNAL_H
#define HEARTH_MPI_RECORD_INTERNAL_H

#include "mpi/core/callers.h"
#include "mpi/rma/record/record.h"

enum { MOST_EVENTS = 256, MOST_MADE = 256, MOST_CURVES = 64 };

/* Columns of the series: counters first, then gauges. */
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

/* Where a window was created; kept by its rank 0. */
struct made {
    uint64_t window;
    uintptr_t address; /* return address */
};

struct recording {
    uint64_t due_ticks;           /* when a bin of the series may be over */
    uint32_t until_note;          /* gets that were to pass before this one; see record_light */
    uint32_t countdown, interval; /* gets until the next sample; gets per sample */
    uint32_t unclocked,
        skipped; /* gets for which the clock is not read, because gets are frequent: left, in all */
    uint64_t clocked_ticks;               /* when it was read last */
    uint64_t begun_ticks, sampling_ticks; /* the start of the recording; the time that samples took */
    struct caller *judged;                /* the caller whose last get has no known outcome yet; NULL: none */
    struct window *judged_window;
    uint64_t judged_hits, judged_weight, sampled;
    double ticks_per_ns;
    struct random random;
    uint64_t closed[SERIES_COLUMNS]; /* of freed windows */
    struct series series;
    struct callers callers;
    uint64_t event_count; /* includes events that did not fit */
    struct event events[MOST_EVENTS];
    struct curve *curves[MOST_CURVES]; /* of freed windows */
    unsigned curve_count, curves_lost;
    struct made made[MOST_MADE];
    unsigned made_count;
};

extern HIDDEN struct recording *rma_recording; /* NULL: recording is off */

/* Call before reading: resolves the outcome of the last sampled get. */
void rma_record_judge(void);

/* The current value of each column, over all windows. */
void rma_record_values(uint64_t values[SERIES_COLUMNS]);

#endif
