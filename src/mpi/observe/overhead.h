/* overhead.h: what is followed for a report, and how much of the run that may take.
 *
 * Every call and every get is counted, by counters that cost a few instructions. What costs more is done for a sample, and each kind of
 * it has a share of the time: when it has spent more, its samples get rarer. A small amount is free at any time, so that short programs and
 * the beginning of others are observed completely. More than that is not saved up: a program that calls MPI in phases would otherwise spend
 * the share of a long computation in a few milliseconds. The costs are those of one sample, as measured by bench/report_cost.sh, and not
 * timed each: reading the clock would be a large part of them. */
#ifndef HEARTH_MPI_OVERHEAD_H
#define HEARTH_MPI_OVERHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One kind of work, initially one of the values below. */
struct overhead {
    uint32_t share;              /* 1/share of the time */
    uint32_t free_ns;            /* free at any time */
    _Atomic uint64_t ns;         /* spent since the last question */
    _Atomic uint64_t paid_after; /* time since the start when all that was spent is paid */
};

/* Times of calls (call_time.c); stack walks, and accesses that are analysed (record.c). */
#define OVERHEAD_TIMING   ((struct overhead){.share = 800, .free_ns = 100000})
#define OVERHEAD_CALLERS  ((struct overhead){.share = 2000, .free_ns = 200000})
#define OVERHEAD_ANALYSIS ((struct overhead){.share = 1000, .free_ns = 200000})

/* Threads that add or ask at once may lose some: it is an estimate anyhow. */
static inline void overhead_add(struct overhead *o, uint64_t ns) {
    atomic_store_explicit(&o->ns, atomic_load_explicit(&o->ns, memory_order_relaxed) + ns,
                          memory_order_relaxed);
}

/* passed: nanoseconds since the start. */
static inline bool overhead_is_exceeded(struct overhead *o, uint64_t passed) {
    uint64_t paid = atomic_load_explicit(&o->paid_after, memory_order_relaxed) +
                    atomic_load_explicit(&o->ns, memory_order_relaxed) * o->share;
    paid = paid > passed ? paid : passed;
    atomic_store_explicit(&o->ns, 0, memory_order_relaxed);
    atomic_store_explicit(&o->paid_after, paid, memory_order_relaxed);
    return paid - passed > (uint64_t)o->free_ns * o->share;
}

#endif
