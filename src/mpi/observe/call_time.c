/* call_time.c: see call_time.h. */
#include "mpi/observe/call_time.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "mpi/observe/overhead.h"
#include "observe/output.h"

/* A timing takes some 80 ns: two readings of the clock, what is done with them, and branches that were not predicted. */
enum { TIMING_NS = 80, SELDOM_BITS = 10, SELDOM = 1 << SELDOM_BITS, LATE_NS = 100000, LATE_TIMES = 16 };

bool call_time_is_on, call_time_has_threads, call_time_may_be_light;
uint32_t call_time_light_above = UINT32_MAX;
static uint64_t opened_ticks;
static struct overhead timing;
static double draw_scale[SELDOM_BITS + 1]; /* [b]: 1 / log(1 - 1 / period), period 1 << b */
static _Atomic uint64_t callers;           /* threads that called MPI */
static _Atomic(struct call_time *) called; /* the functions that were called */

_Thread_local const void *call_time_outermost __attribute__((tls_model("initial-exec")));

static void call_start(bool threads) {
    opened_ticks = clock_ticks();
    timing = OVERHEAD_TIMING;
    call_time_has_threads = threads;
    for (int b = 1; b <= SELDOM_BITS; b++)
        draw_scale[b] = 1 / log(1 - 1.0 / (1 << b));
}

bool call_time_open(bool threads) {
    call_start(threads);
    call_time_is_on = output_is_wanted();
    return call_time_is_on;
}

void call_time_allow_light(bool allowed) {
    call_time_may_be_light = allowed && call_time_is_on && !call_time_has_threads;
    call_time_light_above = call_time_may_be_light ? CALL_TIME_LIGHT : UINT32_MAX;
}

static void call_list(struct call_time *c) {
    if (atomic_exchange_explicit(&c->is_listed, true, memory_order_relaxed))
        return;
    atomic_store_explicit(&c->spread, calloc(1, sizeof(struct call_spread)), memory_order_release);
    struct call_time *first = atomic_load_explicit(&called, memory_order_relaxed);
    do
        c->next = first;
    while (!atomic_compare_exchange_weak_explicit(&called, &first, c, memory_order_release,
                                                  memory_order_relaxed));
}

/* An atomic instruction is needed only if threads call MPI at once. */
static void call_add(_Atomic uint64_t *sum, uint64_t more) {
    if (UNLIKELY(call_time_has_threads))
        atomic_fetch_add_explicit(sum, more, memory_order_relaxed);
    else
        atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more,
                              memory_order_relaxed);
}

static void call_note_thread(void) {
    static _Thread_local bool is_known __attribute__((tls_model("initial-exec")));
    if (!is_known)
        atomic_fetch_add_explicit(&callers, 1, memory_order_relaxed);
    is_known = true;
}

/* Not 0, which says that a call is not timed. The counter may be coarse: to set its lowest bit would take half a tick of
 * each call, 4 ns on Neoverse N1. */
static uint64_t call_ticks(void) {
    uint64_t ticks = clock_ticks();
    return ticks + !ticks;
}

/* Samples, nested calls, and all calls if threads call MPI at once. */
struct call_timer call_time_begin_slow(struct call_time *c, const void *frame) {
    if (UNLIKELY(call_time_outermost != NULL) && (uintptr_t)frame < (uintptr_t)call_time_outermost)
        return (struct call_timer){0};
    call_time_enter(frame);
    uint32_t left = atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    uint32_t distance = atomic_load_explicit(&c->distance, memory_order_relaxed);
    if (call_time_has_threads) {
        call_add(&c->count, 1);
        call_note_thread();
    }
    if (left > 1) {
        atomic_store_explicit(&c->until_sample, left - 1, memory_order_relaxed);
        return (struct call_timer){.call = c};
    }
    if (!call_time_has_threads) {
        call_add(&c->count, distance ? distance : 1);
        atomic_store_explicit(&c->until_sample, distance, memory_order_relaxed); /* all are counted */
    }
    if (UNLIKELY(!atomic_load_explicit(&c->is_listed, memory_order_relaxed)))
        call_list(c);
    return (struct call_timer){.call = c, .begin = call_ticks()};
}

/* Draws the distance to the next sample, geometrically: each call is then a sample with the same probability, whatever was
 * before, and its time counts `period` times. */
static void call_draw(struct call_time *c, uint64_t passed) {
    static _Thread_local uint64_t drawn __attribute__((tls_model("initial-exec")));
    bool is_dear = overhead_is_exceeded(&timing, (uint64_t)((double)passed * clock_ns_per_tick()));
    uint32_t period = !is_dear ? 1 : c->period < SELDOM ? 2 * c->period : SELDOM, distance = 1;
    if (period > 1) {
        double uniform = ((double)(random_mix(++drawn) >> 11) + 0.5) / 0x1p53;
        distance += (uint32_t)(log(uniform) * draw_scale[__builtin_ctz(period)]);
    }
    c->period = period;
    atomic_store_explicit(&c->distance, distance, memory_order_relaxed);
    atomic_store_explicit(&c->until_sample, distance, memory_order_relaxed);
}

static void call_spread_add(struct call_spread *s, uint64_t taken, uint32_t calls) {
    unsigned bucket = taken ? 64 - (unsigned)__builtin_clzll(taken) : 0;
    bucket = bucket < CALL_TIME_BUCKETS ? bucket : CALL_TIME_BUCKETS - 1;
    call_add(&s->count[bucket], calls);
    call_add(&s->ticks[bucket], taken * calls);
}

uint64_t call_time_end_slow(struct call_timer t) {
    struct call_time *c = t.call;
    uint64_t end = clock_ticks(), taken = clock_ticks_between(t.begin, end);
    uint32_t weight = c->period;
    call_add(&c->ticks, taken * weight);
    call_add(&c->weights, weight);
    call_add(&c->timed, taken);
    overhead_add(&timing, TIMING_NS);
    struct call_spread *spread = atomic_load_explicit(&c->spread, memory_order_acquire);
    if (spread)
        call_spread_add(spread, taken, weight);
    if (taken > atomic_load_explicit(&c->longest, memory_order_relaxed))
        atomic_store_explicit(&c->longest, taken, memory_order_relaxed);
    call_draw(c, clock_ticks_between(opened_ticks, end));
    return taken * weight;
}

/* ---- the report ---- */

static double call_seconds(double ticks) {
    return ticks * clock_ns_per_tick() / 1e9;
}

/* A function that was never sampled has no distance yet. */
uint64_t call_time_count(const struct call_time *c) {
    uint64_t count = atomic_load_explicit(&c->count, memory_order_relaxed);
    uint32_t since = atomic_load_explicit(&c->distance, memory_order_relaxed) -
                     atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    return call_time_has_threads ? count : count + since;
}

/* What was timed is certain; the rest is the mean of the samples for the other calls. In ticks, of one function or of all. */
struct call_total {
    double timed, rest;
};

static struct call_total call_total(const struct call_time *c) {
    double timed = (double)atomic_load_explicit(&c->timed, memory_order_relaxed);
    double ticks = (double)atomic_load_explicit(&c->ticks, memory_order_relaxed);
    uint64_t weights = atomic_load_explicit(&c->weights, memory_order_relaxed);
    double all = weights ? ticks / (double)weights * (double)call_time_count(c) : 0;
    return (struct call_total){timed, all > timed ? all - timed : 0};
}

static struct call_total call_total_all(void) {
    struct call_total all = {0};
    for (const struct call_time *c = atomic_load_explicit(&called, memory_order_acquire); c; c = c->next) {
        struct call_total one = call_total(c);
        all.timed += one.timed;
        all.rest += one.rest;
    }
    return all;
}

/* The share of the estimated rest that fits into the time outside of the timed calls; each thread has the time of the run. */
static double call_rest_limit(struct call_total all) {
    uint64_t threads = atomic_load_explicit(&callers, memory_order_relaxed);
    double run = (double)clock_ticks_between(opened_ticks, clock_ticks()) * (double)(threads ? threads : 1);
    double room = run > all.timed ? run - all.timed : 0;
    return all.rest > room ? room / all.rest : 1;
}

double call_time_limit(void) {
    struct call_total all = call_total_all();
    double estimated = all.timed + all.rest;
    return estimated > 0 ? (all.timed + all.rest * call_rest_limit(all)) / estimated : 1;
}

/* The mean of the bucket that holds the end of the fastest 1 / parts of the calls. */
static double call_fastest(const struct call_spread *s, uint64_t parts) {
    uint64_t all = 0, so_far = 0;
    for (int b = 0; b < CALL_TIME_BUCKETS; b++)
        all += atomic_load_explicit(&s->count[b], memory_order_relaxed);
    for (int b = 0; b < CALL_TIME_BUCKETS; b++) {
        uint64_t count = atomic_load_explicit(&s->count[b], memory_order_relaxed);
        so_far += count;
        if (count && parts * so_far >= all)
            return (double)atomic_load_explicit(&s->ticks[b], memory_order_relaxed) / (double)count;
    }
    return 0;
}

struct call_late call_time_late(const struct call_spread *s) {
    double ns = clock_ns_per_tick(), usual = call_fastest(s, 10);
    struct call_late late = {.usual = usual * ns / 1e9, .fastest = call_fastest(s, 100) * ns / 1e9};
    for (int b = 1; b < CALL_TIME_BUCKETS; b++) {
        double least = (double)((uint64_t)1 << (b - 1));
        uint64_t count = atomic_load_explicit(&s->count[b], memory_order_relaxed);
        if (!count || least < LATE_TIMES * usual || least * ns < LATE_NS)
            continue;
        double ticks = (double)atomic_load_explicit(&s->ticks[b], memory_order_relaxed);
        late.count += count;
        late.seconds += (ticks - (double)count * usual) * ns / 1e9;
    }
    return late;
}

/* seconds: the limited time of all calls of the function. */
static void call_late_json(struct json *j, const struct call_spread *s, double seconds) {
    struct call_late late = s ? call_time_late(s) : (struct call_late){0};
    json_number(j, "usual", late.usual);
    json_number(j, "fastest", late.fastest);
    if (!late.count)
        return;
    json_count(j, "late", late.count);
    json_number(j, "late_seconds", late.seconds < seconds ? late.seconds : seconds);
}

static void call_json(struct json *j, const struct call_time *c, double limit) {
    struct call_total total = call_total(c);
    double seconds = call_seconds(total.timed + total.rest * limit);
    if (total.timed <= 0) /* MPI_Finalize, which has not returned */
        return;
    json_open(j, NULL, '{');
    json_string(j, "call", c->name);
    json_count(j, "count", call_time_count(c));
    json_number(j, "seconds", seconds);
    json_number(j, "longest", call_seconds((double)atomic_load_explicit(&c->longest, memory_order_relaxed)));
    call_late_json(j, atomic_load_explicit(&c->spread, memory_order_acquire), seconds);
    json_close(j, '}');
}

void call_time_json(struct json *j) {
    if (!call_time_is_on)
        return;
    struct call_total all = call_total_all();
    double limit = call_rest_limit(all);
    json_open(j, "mpi", '{');
    json_number(j, "seconds", call_seconds(all.timed + all.rest * limit));
    json_open(j, "calls", '[');
    for (const struct call_time *c = atomic_load_explicit(&called, memory_order_acquire); c; c = c->next)
        call_json(j, c, limit);
    json_close(j, ']');
    json_close(j, '}');
}
