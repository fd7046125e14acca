/* call_time.h: the time that the program spends in MPI, by call, while a report is wanted.
 *
 * Every call counts; its time is sampled. Timing may take 1/800 of the run (overhead.h): as long as less was spent, every call is timed.
 * Where calls are more frequent, one in up to 1024 is, at random distances, and counts as often.
 *
 * Most calls that are not timed are light: a decrement, and the hook. Only functions that move data or wait for it are, as MPI calls none of its
 * public functions inside them, and only if threads do not call MPI at once.
 *
 * The estimate has no bias, but a long call among short ones that are not timed may count for many. What the calls that were
 * not timed took is therefore limited to the time that passed outside of those that were: a rank spends at most its run in MPI.
 *
 * Only the outermost call of a thread counts: the MPI library calls some of its own functions by their public names. */
#ifndef HEARTH_MPI_CALL_TIME_H
#define HEARTH_MPI_CALL_TIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "observe/json.h"

/* How the times of a function's calls are distributed, estimated: [b] those of less than 1 << b ticks. */
enum { CALL_TIME_BUCKETS = 48 };
struct call_spread {
    _Atomic uint64_t count[CALL_TIME_BUCKETS], ticks[CALL_TIME_BUCKETS];
};

/* One MPI function, initially CALL_TIME(name). Threads that call it at once may lose a sample, never a count. */
#define CALL_TIME(function)                                                                                  \
    { .name = function, .period = 1 }
struct call_time {
    const char *name;
    _Atomic uint32_t until_sample; /* calls up to and including the next sample */
    _Atomic uint32_t distance;     /* the same, when it was drawn */
    _Atomic uint64_t count; /* up to the last sample, that included; all, if threads call MPI at once */
    _Atomic uint64_t ticks,
        weights; /* sums over the samples: time, weighted by the period of each; the weights */
    _Atomic uint64_t timed, longest; /* of the samples */
    uint32_t period;                 /* mean distance of the next sample */
    _Atomic bool is_listed;
    struct call_spread *_Atomic spread; /* NULL: no memory, or not listed yet */
    struct call_time *next;
};

/* A call in progress. Two words, which functions return in registers. */
struct call_timer {
    struct call_time *call; /* NULL: it does not count */
    uint64_t begin;         /* 0: not sampled */
};

extern HIDDEN bool call_time_is_on, call_time_has_threads;
/* Whether calls may be light; never if threads call MPI at once. */
extern HIDDEN bool call_time_may_be_light;
/* A call is light if more calls than this are left until the next sample: CALL_TIME_LIGHT, or UINT32_MAX if none is, as inside of a call
 * that is not light. */
enum { CALL_TIME_LIGHT = 1 };
extern HIDDEN uint32_t call_time_light_above;

/* The frame of the outermost MPI call of this thread. As with host_mark, an error handler that leaves by longjmp leaves no
 * stale mark: later frames are then above it. */
extern HIDDEN _Thread_local const void *call_time_outermost __attribute__((tls_model("initial-exec")));

/* Call once, in MPI_Init. `threads`: several may call MPI at once. Returns whether calls must be timed, because a report is
 * wanted. */
bool call_time_open(bool threads);
/* After it: whether a call may go to its hook directly where it is not timed. */
void call_time_allow_light(bool allowed);

/* Counts a call that is light, or returns false. */
static inline __attribute__((always_inline)) bool call_time_passes(struct call_time *c) {
    uint32_t left = atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    if (UNLIKELY(left <= call_time_light_above))
        return false;
    atomic_store_explicit(&c->until_sample, left - 1, memory_order_relaxed);
    return true;
}

static inline void call_time_enter(const void *frame) {
    call_time_outermost = frame;
    if (call_time_may_be_light)
        call_time_light_above = UINT32_MAX;
}
static inline void call_time_leave(void) {
    call_time_outermost = NULL;
    if (call_time_may_be_light)
        call_time_light_above = CALL_TIME_LIGHT;
}

struct call_timer call_time_begin_slow(struct call_time *c, const void *frame);
uint64_t call_time_end_slow(struct call_timer t);

/* `frame`: the caller's frame address. */
static inline struct call_timer call_time_begin(struct call_time *c, const void *frame) {
    if (LIKELY(!call_time_is_on))
        return (struct call_timer){0};
    uint32_t left = atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    if (UNLIKELY(left <= 1 || call_time_outermost || call_time_has_threads))
        return call_time_begin_slow(c, frame);
    atomic_store_explicit(&c->until_sample, left - 1, memory_order_relaxed);
    call_time_enter(frame);
    return (struct call_timer){.call = c};
}
/* Returns the ticks that the call stands for: 0 unless it is a sample. */
static inline __attribute__((always_inline)) uint64_t call_time_end(const struct call_timer *t) {
    if (LIKELY(!t->call))
        return 0;
    call_time_leave();
    return t->begin ? call_time_end_slow(*t) : 0;
}

/* Calls that took far longer than usual: 16 times as long as the fastest tenth, and 100 us or more. `seconds`: the time
 * beyond the usual one. */
struct call_late {
    uint64_t count;
    double seconds, usual, fastest; /* fastest: of a call that is as fast as the fastest hundredth */
};
struct call_late call_time_late(const struct call_spread *s);

/* By what the estimated times must be multiplied for the time in MPI to stay within the run; at most 1. */
double call_time_limit(void);

uint64_t call_time_count(const struct call_time *c);

/* Writes the member "mpi": seconds and, for each function that was called, count, seconds, the longest call, and those that
 * took far longer than usual. */
void call_time_json(struct json *j);

#endif
