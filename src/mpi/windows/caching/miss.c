/* miss.c: gets that are issued to MPI although the cache admits them: misses, and hits that are revalidated.
 *
 * The get is issued first. An index slot and storage are found while it is in flight (get_reserve); the call that
 * completes it copies the data from the program's buffer into the entry (inflight.c). A get whose data cannot be kept
 * is counted as bypassed. */
#include "mpi/windows/caching/miss.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "base/settings.h"
#include "mpi/windows/caching/bypass.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/caching/inflight/rma_request.h"
#include "mpi/windows/caching/inflight/rma_verify.h"
#include "mpi/windows/caching/window/score.h"
#include "observe/bypass_reason.h"
#include "observe/probe.h"
#include "tables/shape.h"

void rma_miss_draw_recheck(struct window *w) {
    static struct random random = {.state = 0x5eed};
    uint64_t mean = w->fresh.is_auto ? rma_verify_interval(w) : settings_get()->recheck;
    w->fresh.recheck = mean ? 1 + random_below(&random, (uint32_t)(2 * mean - 1)) : UINT64_MAX;
}

/* The operation that will compare the first `head` bytes; its `cached` is NULL if memory ran out. Requires the lock. */
static struct op comparison(struct window *w, struct rma_target *t, const struct get *g,
                            const struct access *a, uint32_t entry, uint64_t head) {
    struct op op = {.kind = g->request ? OP_REQUEST : OP_RECHECK,
                    .window = w,
                    .target = t,
                    .entry = CACHE_NONE,
                    .address = a->address,
                    .bytes = head,
                    .buffer = a->buffer,
                    .here = a->here,
                    .cached = malloc(head),
                    .filled = cache_owner_of(w->cache, entry)};
    if (op.cached)
        memcpy(op.cached, cache_data(w->cache, entry), head);
    if (w->fresh.is_auto)
        rma_verify_begin(&op);
    return op;
}

static void count_recheck(struct window *w, struct rma_target *t, const struct access *a, uint32_t entry,
                          uint64_t head) {
    if (rma_check_is_on) {
        cache_touch(w->cache, entry, a->bytes);
        rma_get_note_hit(w, t, a->address, head);
    } else {
        w->count.gets++;
        w->count.bypassed++;
        w->why[BYPASSED_recheck]++;
    }
}

/* Adds the comparison to the operations in flight. Requires the lock. */
static bool track_recheck(struct window *w, struct rma_target *t, const struct get *g, const struct op *op,
                          uint64_t bytes) {
    uint32_t id = op->cached ? rma_inflight_add(op) : NO_OP;
    if (id == NO_OP)
        rma_bypass_count(w, t, g, bytes, w->mode == MODE_ACQUIRE);
    else if (g->request) {
        w->count.bytes_fetched += bytes;
        rma_request_track(id, *g->request);
    } else
        rma_fetch_count(w, t, bytes);
    return id != NO_OP;
}

int rma_miss_recheck(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                     uint32_t entry, uint64_t head) {
    struct op op = comparison(w, t, g, a, entry, head);
    if (rma_inflight_buffers && rma_inflight_overlap(a->buffer, &a->here.shape)) {
        free(op.cached);
        op.cached = NULL;
    }
    count_recheck(w, t, a, entry, head);
    rma_miss_draw_recheck(w);
    rma_unlock();
    int rc = rma_get_forward(g);
    rma_lock();
    bool keep = rc == MPI_SUCCESS && track_recheck(w, t, g, &op, a->bytes);
    rma_unlock();
    if (keep)
        a->here.owned = NULL; /* now owned by the operation */
    else
        free(op.cached);
    return rc;
}

/* The counters at the time a get was issued. A later change of one of them can mean that its data is stale. */
struct moment {
    uint64_t generation, drops, acquired;
};

static struct moment get_now(const struct window *w) {
    return (struct moment){.generation = cache_generation(w->cache),
                           .drops = w->fresh.drops,
                           .acquired = atomic_load_explicit(&acquire_generation, memory_order_acquire)};
}

/* Reserves an entry for a get in flight. Returns false if the data cannot be kept. Requires the lock. */
static inline bool get_reserve(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                               const struct moment *issued) {
    uint32_t entry;
    rma_score_entry(w, g->target, a->address, a->bytes);
    if (cache_insert(w->cache, (uint32_t)g->target, a->address, &a->there.shape, issued->generation,
                     &entry) == CACHE_FAILING)
        return false;
    rma_inflight_inserts++;
    uint32_t id = rma_inflight_new();
    if (UNLIKELY(id == NO_OP)) {
        cache_drop(w->cache, entry);
        return false;
    }
    struct op *op = rma_inflight_at(id);
    op->kind = g->request ? OP_REQUEST : OP_FILL;
    op->revalidates = a->revalidates;
    op->window = w;
    op->target = t;
    op->entry = entry;
    op->generation = issued->generation;
    op->acquired = issued->acquired;
    op->address = a->address;
    op->bytes = a->bytes;
    op->buffer = a->buffer;
    op->here = a->here;
    rma_inflight_list(id);
    a->here.owned = NULL; /* now owned by the operation */
    cache_set_owner(w->cache, entry, id);
    if (g->request)
        rma_request_track(id, *g->request);
    return true;
}

static inline void count_miss(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                              const struct moment *issued, bool keep, enum bypass_reason why) {
    keep = keep && issued->drops == w->fresh.drops; /* otherwise another thread has written in the meantime */
    w->count.gets++;
    if (UNLIKELY(!keep)) {
        w->count.bypassed++;
        w->why[why]++;
    }
    if (!keep || !get_reserve(w, t, g, a, issued))
        rma_bypass_count(w, t, g, a->bytes, a->revalidates);
    else if (g->request)
        w->count.bytes_fetched += a->bytes;
    else
        rma_fetch_count(w, t, a->bytes);
    rma_admission_judge(w);
}

/* Whether read-ahead may add a further get to this one. */
static bool is_simple(const struct get *g, const struct access *a) {
    return !g->request && !g->noop && shape_is_contiguous(&a->there.shape);
}

int rma_miss_get(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    PROBE4(get_miss, w->serial, g->target, a->address, a->bytes);
    struct moment issued = get_now(w);
    bool keep = LIKELY(!g->request) || rma_admission_keeps(w, g);
    enum bypass_reason why = keep ? BYPASSED_overlap : BYPASSED_request;
    if (UNLIKELY(rma_inflight_buffers) && rma_inflight_overlap(a->buffer, &a->here.shape))
        keep = false;
    uint64_t ticks = rma_admission_target_start(t), before = a->started ? clock_ticks() : 0;
    rma_unlock();
    int rc = rma_get_forward(g);
    uint64_t after = before ? clock_ticks() : 0;
    rma_lock();
    if (rc == MPI_SUCCESS) {
        rma_admission_target_get(t, ticks, a->bytes);
        count_miss(w, t, g, a, &issued, keep, why);
    }
    if (UNLIKELY(w->ahead.blocks) && rc == MPI_SUCCESS && is_simple(g, a))
        rma_ahead_missed(w, t, a->address, a->bytes, ticks != 0);
    if (UNLIKELY(before))
        rma_admission_miss(w, clock_ticks_between(a->started, before) + clock_ticks_since(after),
                           clock_ticks_between(before, after));
    rma_unlock();
    return rc;
}

int rma_miss_refetch(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    a->revalidates = w->mode == MODE_ACQUIRE;
    rma_miss_draw_recheck(w);
    return rma_miss_get(w, t, g, a);
}
