/* record_internal.h: the recording's data structures, for the files that fill and write them. */
#ifndef HEARTH_MPI_RECORD_INTERNAL_H
#define HEARTH_MPI_RECORD_INTERNAL_H

#include "base/compiler.h"
#include "base/random.h"
#include "mpi/observe/callers.h"
#include "mpi/observe/overhead.h"
#include "mpi/windows/caching/record/record.h"
#include "observe/series.h"

enum { MOST_EVENTS = 256, MOST_MADE = 256, MOST_CURVES = 64, RECORD_SIZE_CLASSES = 64 };

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
    uint64_t due_ticks; /* when a bin of the series may be over */
    uint32_t distance;  /* gets from the last note to the next, drawn; its mean is `period` */
    uint32_t period;
    uint64_t noted;       /* gets up to the last note */
    uint64_t noted_ticks; /* its time */
    unsigned noted_class; /* its size */
    uint64_t sizes[RECORD_SIZE_CLASSES];
    uint64_t sample_at, sampled; /* gets at which the next call site is sampled, and was the last */
    uint32_t interval;           /* mean number of gets from one to the next */
    struct caller *last;         /* of the last sample; NULL: it had no row */
    uint64_t begun_ticks;        /* the start of the recording */
    uint32_t followed;           /* accesses that were analysed */
    struct overhead walks, analysis;
    struct caller *judged; /* the caller whose last get has no known outcome yet; NULL: none */
    struct window *judged_window;
    uint64_t judged_hits, judged_weight;
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

/* Adds gets that are taken to be like those of the call site so far. */
void rma_record_extend(struct caller *row, uint64_t gets);

/* Gets since the last note, and since the last sample of a call site: they are taken to be like it. */
uint64_t rma_record_unnoted(void);
uint64_t rma_record_unsampled(void);

/* The current value of each column, over all windows. */
void rma_record_values(uint64_t values[SERIES_COLUMNS]);

#endif
