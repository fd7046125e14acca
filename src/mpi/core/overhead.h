/* overhead.h: what is followed for a report, and how much of the run that may take.
 *
 * Every call and every get is counted, by counters that cost a few instructions. What costs more is done for a sample, and each kind of
 * it has a share of the time since the start: when it has spent more, its samples get rarer. A small amount is free, so that
 * short programs and the beginning of others are observed completely. The costs are those of one sample, as measured by
 * bench/report_cost.sh, and not timed each: reading the clock would be a large part of them. */
#ifndef HEARTH_MPI_OVERHEAD_H
#define HEARTH_MPI_OVERHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OVERHEAD_FREE_NS = 100000, /* of each kind */
    OVERHEAD_TIMING = 400,     /* times of calls (call_time.c): 1/400 of the run */
    OVERHEAD_CALLERS = 1000,   /* stack walks (record.c) */
    OVERHEAD_ANALYSIS = 400    /* accesses to the keys that the analyses follow (record.c) */
};

/* One kind. Initially {.share = OVERHEAD_X}. */
struct overhead {
    uint32_t share;
    _Atomic uint64_t ns; /* spent */
};

/* Threads that add at once may lose some: it is an estimate anyhow. */
static inline void overhead_add(struct overhead *o, uint64_t ns) {
    atomic_store_explicit(&o->ns, atomic_load_explicit(&o->ns, memory_order_relaxed) + ns,
                          memory_order_relaxed);
}

/* passed: nanoseconds since the start. */
static inline bool overhead_is_exceeded(const struct overhead *o, uint64_t passed) {
    return atomic_load_explicit(&o->ns, memory_order_relaxed) > OVERHEAD_FREE_NS + passed / o->share;
}

#endif
