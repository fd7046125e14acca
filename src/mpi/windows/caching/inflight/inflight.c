/* inflight.c: gets in flight that the cache tracks.
 *
 * A get that misses is delivered into the program's buffer. On completion its data is copied from there into the
 * cache. The buffer must therefore hold exactly that data until then. Two gets into overlapping buffers, or a hit
 * copied into such a buffer, violate this. Such gets are marked `invalid` and are not cached. An interval set over
 * the buffers' addresses finds them.
 *
 * A get for data that is already in flight joins the get that fetches it, and is served from that get's buffer when
 * it completes. If the source becomes invalid first, its joined gets are issued to MPI immediately.
 *
 *      target -> op <-> op <-> op          in order of issue
 *                 |
 *                 +-> join -> join         served with it
 *
 * Operations are referred to by number, not by pointer, because their array grows. */
#include "mpi/windows/caching/inflight/inflight.h"

#include <stdlib.h>
#include <errno.h>

#include "base/log.h"
#include "mpi/windows/caching/inflight/fetch.h"
#include "mpi/windows/caching/inflight/rma_ahead.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/caching/inflight/rma_verify.h"
#include "tables/spans.h"

struct op *rma_ops;
static uint32_t op_room, op_used, op_free = NO_OP;
static struct spans buffers;  /* buffers of operations, by operation number */
static uint32_t lone = NO_OP; /* the only operation; then it is not in the set */
uint64_t rma_inflight_buffers, rma_inflight_issued = 1, rma_inflight_inserts;

static int inflight_grow(void) {
    uint32_t room = op_room ? 2 * op_room : 64;
    int err = op_room ? spans_resize(&buffers, room) : spans_open(&buffers, room, NULL);
    struct op *more = err ? NULL : realloc(rma_ops, room * sizeof *rma_ops);
    if (!more)
        return -ENOMEM;
    memset(more + op_room, 0, (room - op_room) * sizeof *more);
    rma_ops = more;
    op_room = room;
    return 0;
}

uint32_t rma_inflight_new(void) {
    if (op_free != NO_OP) {
        uint32_t id = op_free;
        op_free = rma_ops[id].next_request;
        return id;
    }
    if (op_used == op_room && inflight_grow())
        return NO_OP;
    return op_used++;
}

static bool has_request(enum rma_op_kind kind) {
    return kind == OP_REQUEST || kind == OP_BYPASS;
}

static void list_append(uint32_t id) {
    struct op *op = &rma_ops[id];
    struct rma_target *t = op->target;
    ASSERT(!op->listed && (t->first_op == NO_OP) == (t->last_op == NO_OP));
    op->prev = t->last_op;
    op->next = NO_OP;
    *(op->prev == NO_OP ? &t->first_op : &rma_ops[op->prev].next) = id;
    t->last_op = id;
    t->fast = false;
    op->listed = true;
}

static void list_remove(uint32_t id) {
    struct op *op = &rma_ops[id];
    if (!op->listed)
        return;
    struct rma_target *t = op->target;
    ASSERT(op->prev == NO_OP ? t->first_op == id : rma_ops[op->prev].next == id);
    ASSERT(op->next == NO_OP ? t->last_op == id : rma_ops[op->next].prev == id);
    *(op->prev == NO_OP ? &t->first_op : &rma_ops[op->prev].next) = op->next;
    *(op->next == NO_OP ? &t->last_op : &rma_ops[op->next].prev) = op->prev;
    op->listed = false;
    t->requests -= has_request(op->kind);
}

/* The addresses that a shaped buffer touches lie in [*lo, *hi). */
static void buffer_range(const char *buffer, const struct shape *shape, uint64_t *lo, uint64_t *hi) {
    int64_t first, end;
    shape_hull(shape, &first, &end);
    *lo = (uint64_t)(uintptr_t)buffer + (uint64_t)first;
    *hi = (uint64_t)(uintptr_t)buffer + (uint64_t)end;
}

static void enter_span(uint32_t id) {
    uint64_t lo, hi;
    buffer_range(rma_ops[id].buffer, &rma_ops[id].here.shape, &lo, &hi);
    spans_add(&buffers, id, 0, lo, hi);
}

/* Most programs have one get in flight at a time, which needs no set. */
static void watch_buffer(uint32_t id) {
    if (!rma_inflight_buffers) {
        lone = id;
    } else {
        if (lone != NO_OP)
            enter_span(lone);
        lone = NO_OP;
        enter_span(id);
    }
    rma_ops[id].watched = true;
    rma_inflight_buffers++;
}

static void unwatch_buffer(uint32_t id) {
    if (!rma_ops[id].watched)
        return;
    if (id == lone)
        lone = NO_OP;
    else
        spans_remove(&buffers, id);
    ASSERT(rma_inflight_buffers > 0);
    rma_ops[id].watched = false;
    rma_inflight_buffers--;
}

void rma_inflight_list(uint32_t id) {
    struct op *op = &rma_ops[id];
    op->sequence = rma_inflight_issued++;
    ASSERT(op->window && op->target && op->kind != OP_NONSYNC);
    op->invalid = op->watched = false;
    op->source = op->first_join = op->next_join = NO_OP;
    list_append(id);
    if (op->buffer)
        watch_buffer(id);
    op->target->requests += has_request(op->kind);
    rma_window_mark_busy(op->window, op->target);
}

uint32_t rma_inflight_add(const struct op *op) {
    uint32_t id = rma_inflight_new();
    if (id == NO_OP)
        return NO_OP;
    rma_ops[id] = *op;
    rma_inflight_list(id);
    return id;
}

uint32_t rma_inflight_add_nonsync(void) {
    uint32_t id = rma_inflight_new();
    if (id != NO_OP)
        rma_ops[id] = (struct op){.kind = OP_NONSYNC,
                                  .entry = CACHE_NONE,
                                  .source = NO_OP,
                                  .first_join = NO_OP,
                                  .next_join = NO_OP};
    return id;
}

static void leave_source(uint32_t id) {
    uint32_t *link = &rma_ops[rma_ops[id].source].first_join;
    while (*link != id)
        link = &rma_ops[*link].next_join;
    *link = rma_ops[id].next_join;
    rma_ops[id].source = NO_OP;
}

/* What an OP_FILL does not have. */
static void op_release(struct op *op) {
    free((void *)op->there.list);
    free(op->cached);
    op->there = (struct shape){0};
    op->cached = NULL;
    op->site = 0;
    if (op->kind == OP_AHEAD)
        rma_ahead_ended(op);
}

void rma_inflight_remove(uint32_t id) {
    if (rma_ops[id].source != NO_OP)
        leave_source(id);
    list_remove(id);
    unwatch_buffer(id);
    if (UNLIKELY(rma_ops[id].here.owned))
        layout_free(&rma_ops[id].here);
    if (UNLIKELY(rma_ops[id].kind != OP_FILL))
        op_release(&rma_ops[id]);
    rma_ops[id].next_request = op_free;
    op_free = id;
}

void rma_inflight_orphan(uint32_t id) {
    struct op *op = &rma_ops[id];
    list_remove(id);
    if (op->entry != CACHE_NONE)
        cache_drop(op->window->cache, op->entry);
    op->entry = CACHE_NONE;
    free(
        op->cached); /* the buffer may change, and the window may be freed, before the request is completed */
    op->cached = NULL;
    unwatch_buffer(id);
}

void rma_inflight_abandon(uint32_t id) {
    while (rma_ops[id].first_join != NO_OP)
        leave_source(rma_ops[id].first_join);
    bool waits = has_request(rma_ops[id].kind); /* the request table still refers to it */
    rma_inflight_orphan(id);
    if (!waits)
        rma_inflight_remove(id);
}

void rma_inflight_join(uint32_t id, uint32_t source) {
    rma_ops[id].source = source;
    rma_ops[id].next_join = rma_ops[source].first_join;
    rma_ops[source].first_join = id;
}

/* Fetches through MPI what this operation was to copy from another. This is the rare case that communicates under the
 * lock, because the program may complete the operation at any moment. The call that completes it returns any error. */
static void fetch_after_all(const struct op *op) {
    struct shape there = op->there, here = op->here.shape;
    if (op->bytes < here.bytes) /* the first part of a contiguous get, whose rest is already in flight */
        here = shape_contiguous(op->bytes);
    int rc = rma_fetch_bytes(op->window, op->target, op->address, &there, op->buffer, &here);
    if (rc == MPI_SUCCESS)
        rma_fetch_count(op->window, op->target, there.bytes);
    else
        op->window->epoch.deferred = rc;
}

static void invalidate_op(uint32_t id) {
    struct op *op = &rma_ops[id];
    if (op->invalid)
        return;
    op->invalid = true;
    if (op->entry != CACHE_NONE)
        cache_invalidate_pending(op->window->cache, op->entry);
    while (op->first_join != NO_OP) {
        uint32_t join = op->first_join;
        leave_source(join);
        fetch_after_all(&rma_ops[join]);
        op = &rma_ops[id];
    }
}

void rma_inflight_invalidate(uint32_t id) {
    struct op *op = &rma_ops[id];
    op->invalid = true;
    if (op->entry != CACHE_NONE)
        cache_invalidate_pending(op->window->cache, op->entry);
}

struct overlap {
    char *buffer;
    const struct shape *shape;
    bool found;
};

static void overlap_one(void *arg, uint32_t id) {
    struct overlap *d = arg;
    const struct op *op = &rma_ops[id];
    if (!shape_overlaps(&op->here.shape, d->shape, d->buffer - op->buffer))
        return;
    d->found = true;
    invalidate_op(id);
}

bool rma_inflight_overlap(char *buffer, const struct shape *shape) {
    struct overlap d = {.buffer = buffer, .shape = shape};
    uint64_t lo, hi;
    if (lone != NO_OP) {
        overlap_one(&d, lone);
        return d.found;
    }
    buffer_range(buffer, shape, &lo, &hi);
    spans_overlapping(&buffers, 0, lo, hi, overlap_one, &d);
    return d.found;
}

void rma_inflight_overlap_typed(void *buffer, MPI_Count count, MPI_Datatype type) {
    struct layout here;
    if (count <= 0 || layout_make(count, type, &here))
        return;
    rma_lock();
    rma_inflight_overlap((char *)buffer + here.offset, &here.shape);
    rma_unlock();
    layout_free(&here);
}

static void serve_joins(uint32_t id) {
    struct op *op = &rma_ops[id];
    for (uint32_t j = op->first_join, next; j != NO_OP; j = next) {
        struct op *join = &rma_ops[j];
        next = join->next_join;
        shape_copy(join->buffer, &join->here.shape, op->buffer, &op->here.shape, join->bytes);
        join->source = NO_OP;
    }
    op->first_join = NO_OP;
}

static void inflight_fill(struct op *op, bool keep) {
    struct cache *cache = op->window->cache;
    if (!keep || op->invalid) {
        cache_drop(cache, op->entry);
        return;
    }
    cache_set_owner(cache, op->entry, rma_check_calls());
    void *data = cache_data(cache, op->entry);
    if (shape_is_contiguous(&op->here.shape))
        memcpy(data, op->buffer, op->bytes);
    else
        shape_gather(data, op->buffer, &op->here.shape, op->bytes);
    cache_settle(cache, op->entry);
}

/* The buffer now holds the whole datum. The entry that held its first part may be gone, or another get may have
 * extended it. */
static void extend(struct op *op) {
    struct cache *cache = op->window->cache;
    if (op->generation != cache_generation(cache) || op->drops != op->window->fresh.drops ||
        !shape_is_contiguous(&op->here.shape))
        return;
    uint32_t entry = cache_peek(cache, (uint32_t)rma_op_rank(op), op->address);
    if (entry == CACHE_NONE || cache_state_of(cache, entry) != CACHE_CACHED)
        return;
    struct shape whole = shape_contiguous(op->bytes);
    uint64_t head = cache_covers(cache, entry, &whole);
    if (!head || head >= op->bytes || cache_extend(cache, entry, op->bytes))
        return;
    entry = cache_peek(cache, (uint32_t)rma_op_rank(op), op->address);
    memcpy((char *)cache_data(cache, entry) + head, op->buffer + head, op->bytes - head);
    rma_inflight_inserts++;
}

/* A difference is a sync event, and under HEARTH_CHECK or in mode auto a stale hit. */
static void inflight_compare(const struct op *op, const void *fresh) {
    bool differs = memcmp(op->cached, fresh, op->bytes) != 0;
    if (rma_check_is_on)
        rma_check_compare(op, op->cached, fresh);
    if (!differs)
        return;
    if (op->window->fresh.is_auto)
        rma_verify_turn(op, op->cached, fresh);
    if (!rma_check_is_on)
        acquire(EVENT_RECHECK);
}

void rma_inflight_verify(uint32_t id) {
    struct op *op = &rma_ops[id];
    bool packed = shape_is_contiguous(&op->here.shape);
    char *fresh = op->invalid ? NULL : packed ? op->buffer : malloc(op->bytes);
    if (fresh && !packed)
        shape_gather(fresh, op->buffer, &op->here.shape, op->bytes);
    if (fresh)
        inflight_compare(op, fresh);
    if (!packed)
        free(fresh);
    free(op->cached);
    op->cached = NULL;
}

void rma_inflight_complete(uint32_t id, bool keep) {
    struct op *op = &rma_ops[id];
    serve_joins(id);
    if (op->entry != CACHE_NONE)
        inflight_fill(op, keep);
    else if (op->kind == OP_EXTEND && keep && !op->invalid)
        extend(op);
    else if (op->kind == OP_AHEAD && keep && !op->invalid)
        rma_ahead_arrived(op);
    else if (op->kind == OP_RECHECK)
        rma_inflight_verify(id);
    rma_inflight_remove(id);
}

void rma_inflight_assume_busy(struct window *w) {
    for (uint32_t i = 0; i < w->targets.count; i++) {
        struct rma_target *t = rma_window_target_at(w, i);
        t->last_get = rma_inflight_issued;
        t->fast = false;
        rma_window_mark_busy(w, t);
        if (!w->wrote)
            continue;
        t->last_write = rma_inflight_issued;
        t->writes_unknown = true;
        t->inserts_before = rma_inflight_inserts;
    }
    rma_inflight_issued++;
}
