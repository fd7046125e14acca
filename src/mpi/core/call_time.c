/* call_time.c: see call_time.h. */
#include "mpi/core/call_time.h"

#include <stdlib.h>

enum { SHORT_NS = 4000, SELDOM = 16, LATE_NS = 100000, LATE_TIMES = 16 };

bool call_time_is_on;
static uint64_t short_ticks;
static _Atomic(struct call_time *) called; /* the functions that were called */

static bool has_threads;

_Thread_local const void *call_time_outermost __attribute__((tls_model("initial-exec")));

bool call_time_open(bool threads) {
    short_ticks = (uint64_t)(SHORT_NS / clock_ns_per_tick());
    has_threads = threads;
    call_time_is_on = output_is_wanted();
    return call_time_is_on;
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
    if (UNLIKELY(has_threads))
        atomic_fetch_add_explicit(sum, more, memory_order_relaxed);
    else
        atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more,
                              memory_order_relaxed);
}

/* Mostly some 20 instructions: the call counts and is no sample. */
struct call_timer call_time_begin_slow(struct call_time *c, const void *frame) {
    if (UNLIKELY(call_time_outermost != NULL) && (uintptr_t)frame < (uintptr_t)call_time_outermost)
        return (struct call_timer){0};
    call_time_outermost = frame;
    call_add(&c->count, 1);
    uint32_t left = atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    if (LIKELY(left > 1)) {
        atomic_store_explicit(&c->until_sample, left - 1, memory_order_relaxed);
        return (struct call_timer){.call = c};
    }
    if (UNLIKELY(!atomic_load_explicit(&c->is_listed, memory_order_relaxed)))
        call_list(c);
    return (struct call_timer){.call = c, .begin = clock_ticks() | 1};
}

/* Draws the distance to the next sample: from 1 to 2 * period - 1, because loops have periods. */
static void call_draw(struct call_time *c, uint64_t taken) {
    static _Thread_local uint64_t drawn __attribute__((tls_model("initial-exec")));
    c->period = taken >= short_ticks ? 1 : c->period < SELDOM ? 2 * c->period : SELDOM;
    uint32_t distance = 1 + (uint32_t)(random_mix(++drawn) % (2 * c->period - 1));
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
    uint64_t taken = clock_ticks_between(t.begin, clock_ticks());
    uint32_t distance = atomic_load_explicit(&c->distance, memory_order_relaxed);
    distance = distance ? distance : 1;
    call_add(&c->ticks, taken * distance);
    struct call_spread *spread = atomic_load_explicit(&c->spread, memory_order_acquire);
    if (spread)
        call_spread_add(spread, taken, distance);
    if (taken > atomic_load_explicit(&c->longest, memory_order_relaxed))
        atomic_store_explicit(&c->longest, taken, memory_order_relaxed);
    call_draw(c, taken);
    return taken * distance;
}

/* ---- the report ---- */

static double call_seconds(uint64_t ticks) {
    return (double)ticks * clock_ns_per_tick() / 1e9;
}

/* The mean of the bucket that holds the end of the fastest tenth. */
static double call_usual(const struct call_spread *s) {
    uint64_t all = 0, so_far = 0;
    for (int b = 0; b < CALL_TIME_BUCKETS; b++)
        all += atomic_load_explicit(&s->count[b], memory_order_relaxed);
    for (int b = 0; b < CALL_TIME_BUCKETS; b++) {
        uint64_t count = atomic_load_explicit(&s->count[b], memory_order_relaxed);
        so_far += count;
        if (count && 10 * so_far >= all)
            return (double)atomic_load_explicit(&s->ticks[b], memory_order_relaxed) / (double)count;
    }
    return 0;
}

struct call_late call_time_late(const struct call_spread *s) {
    double ns = clock_ns_per_tick(), usual = call_usual(s);
    struct call_late late = {.usual = usual * ns / 1e9};
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

static void call_late_json(struct json *j, const struct call_spread *s) {
    struct call_late late = s ? call_time_late(s) : (struct call_late){0};
    if (!late.count)
        return;
    json_number(j, "usual", late.usual);
    json_count(j, "late", late.count);
    json_number(j, "late_seconds", late.seconds);
}

void call_time_json(struct json *j) {
    uint64_t ticks = 0;
    struct call_time *first = atomic_load_explicit(&called, memory_order_acquire);
    if (!call_time_is_on)
        return;
    for (const struct call_time *c = first; c; c = c->next)
        ticks += atomic_load_explicit(&c->ticks, memory_order_relaxed);
    json_open(j, "mpi", '{');
    json_number(j, "seconds", call_seconds(ticks));
    json_open(j, "calls", '[');
    for (const struct call_time *c = first; c; c = c->next) {
        if (!atomic_load_explicit(&c->ticks, memory_order_relaxed)) /* MPI_Finalize, which has not returned */
            continue;
        json_open(j, NULL, '{');
        json_string(j, "call", c->name);
        json_count(j, "count", atomic_load_explicit(&c->count, memory_order_relaxed));
        json_number(j, "seconds", call_seconds(atomic_load_explicit(&c->ticks, memory_order_relaxed)));
        json_number(j, "longest", call_seconds(atomic_load_explicit(&c->longest, memory_order_relaxed)));
        call_late_json(j, atomic_load_explicit(&c->spread, memory_order_acquire));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}
