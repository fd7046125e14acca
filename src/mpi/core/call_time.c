/* call_time.c: see call_time.h. */
#include "mpi/core/call_time.h"

enum { SHORT_NS = 1000, SELDOM = 8 };

bool call_time_is_on;
static uint64_t short_ticks;
static _Atomic(struct call_time *) called; /* the functions that were called */

/* The frame of the outermost MPI call of this thread. As with host_mark, an error handler that leaves by longjmp leaves no
 * stale mark: later frames are then above it. */
static _Thread_local const void *outermost __attribute__((tls_model("initial-exec")));

bool call_time_open(void) {
    short_ticks = (uint64_t)(SHORT_NS / clock_ns_per_tick());
    call_time_is_on = output_is_wanted();
    return call_time_is_on;
}

static void call_list(struct call_time *c) {
    if (atomic_exchange_explicit(&c->is_listed, true, memory_order_relaxed))
        return;
    struct call_time *first = atomic_load_explicit(&called, memory_order_relaxed);
    do
        c->next = first;
    while (!atomic_compare_exchange_weak_explicit(&called, &first, c, memory_order_release,
                                                  memory_order_relaxed));
}

/* Whether this call is a sample. */
static bool call_is_sampled(struct call_time *c) {
    uint32_t left = atomic_load_explicit(&c->until_sample, memory_order_relaxed);
    if (LIKELY(left > 1)) {
        atomic_store_explicit(&c->until_sample, left - 1, memory_order_relaxed);
        return false;
    }
    return true;
}

struct call_timer call_time_begin_slow(struct call_time *c, const void *frame) {
    struct call_timer t = {.outer = outermost};
    if (outermost && (uintptr_t)frame < (uintptr_t)outermost)
        return t;
    if (UNLIKELY(!atomic_load_explicit(&c->is_listed, memory_order_relaxed)))
        call_list(c);
    outermost = frame;
    t.call = c;
    atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
    if (call_is_sampled(c))
        t.begin = clock_ticks() | 1;
    return t;
}

/* Draws the distance to the next sample: from 1 to 2 * period - 1, because loops have periods. */
static void call_draw(struct call_time *c, uint64_t taken) {
    static _Thread_local uint64_t drawn __attribute__((tls_model("initial-exec")));
    c->period = taken >= short_ticks ? 1 : c->period < SELDOM ? 2 * c->period : SELDOM;
    uint32_t distance = 1 + (uint32_t)(random_mix(++drawn) % (2 * c->period - 1));
    atomic_store_explicit(&c->distance, distance, memory_order_relaxed);
    atomic_store_explicit(&c->until_sample, distance, memory_order_relaxed);
}

void call_time_end_slow(const struct call_timer *t) {
    outermost = t->outer;
    if (!t->begin)
        return;
    struct call_time *c = t->call;
    uint64_t now = clock_ticks(), taken = now > t->begin ? now - t->begin : 0;
    uint32_t distance = atomic_load_explicit(&c->distance, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->ticks, taken * (distance ? distance : 1), memory_order_relaxed);
    if (taken > atomic_load_explicit(&c->longest, memory_order_relaxed))
        atomic_store_explicit(&c->longest, taken, memory_order_relaxed);
    call_draw(c, taken);
}

/* ---- the report ---- */

static double call_seconds(uint64_t ticks) {
    return (double)ticks * clock_ns_per_tick() / 1e9;
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
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}
