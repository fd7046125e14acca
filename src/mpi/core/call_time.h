/* call_time.h: the time that the program spends in MPI, by call, while a report is wanted.
 *
 * Every call counts; its time is sampled. A call that mostly takes long is timed each time. One that mostly takes less than a
 * microsecond is timed once in some 8 times, at random distances, and then stands for all calls since the last sample. The
 * estimate has no bias, and costs a short call a few nanoseconds on average.
 *
 * Only the outermost call of a thread counts: the MPI library calls some of its own functions by their public names. */
#ifndef HEARTH_MPI_CALL_TIME_H
#define HEARTH_MPI_CALL_TIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* One MPI function, initially CALL_TIME(name). Threads that call it at once may lose a sample, never a count. */
#define CALL_TIME(function)                                                                                  \
    { .name = function, .period = 1 }
struct call_time {
    const char *name;
    _Atomic uint64_t count, ticks, longest; /* ticks: estimated, of all calls; longest: of the sampled ones */
    _Atomic uint32_t until_sample;          /* calls up to and including the next sample */
    _Atomic uint32_t distance;              /* calls that the next sample stands for */
    uint32_t period;                        /* mean distance */
    _Atomic bool is_listed;
    struct call_time *next;
};

/* A call in progress. */
struct call_timer {
    struct call_time *call; /* NULL: it does not count */
    const void *outer;
    uint64_t begin; /* 0: not sampled */
};

extern HIDDEN bool call_time_is_on;

/* Call once, in MPI_Init. Returns whether calls must be timed, because a report is wanted. */
bool call_time_open(void);

struct call_timer call_time_begin_slow(struct call_time *c, const void *frame);
void call_time_end_slow(const struct call_timer *t);

/* `frame`: the caller's frame address. */
static inline struct call_timer call_time_begin(struct call_time *c, const void *frame) {
    return UNLIKELY(call_time_is_on) ? call_time_begin_slow(c, frame) : (struct call_timer){0};
}
static inline void call_time_end(const struct call_timer *t) {
    if (UNLIKELY(t->call != NULL))
        call_time_end_slow(t);
}

/* Writes the member "mpi": seconds and, for each function that was called, count, seconds and the longest call. */
void call_time_json(struct json *j);

#endif
