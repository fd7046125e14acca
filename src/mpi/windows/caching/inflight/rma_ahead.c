/* rma_ahead.c: read-ahead. If gets walk through a target's memory sequentially, a miss also fetches the next blocks, into
 * a buffer of Hearth's own. The flush that completes both makes one entry of each block.
 *
 *      get n-1   get n: missed, and behind n-1      n+1 ... n+HEARTH_READ_AHEAD: one further get
 *
 * Used only if cached data outlives the flush, only within the window, and only for contiguous gets. The data may be
 * kept under the same conditions as that of any get issued at the same moment. */
#include "mpi/windows/caching/inflight/rma_ahead.h"

#include <stdlib.h>

#include "base/settings.h"
#include "mpi/windows/caching/inflight/fetch.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "tables/shape.h"

/* Whether the get of these bytes continues the previous one; records it for the next. */
static bool follows(struct rma_target *t, uint64_t address, uint64_t bytes) {
    bool in_order = address == t->walk_next && bytes == t->walk_bytes;
    t->walk_next = address + bytes;
    t->walk_bytes = bytes;
    return in_order;
}

/* Number of blocks to fetch: within the window, at most HEARTH_READ_AHEAD, and at most a quarter of the cache's
 * capacity. */
static uint64_t blocks_left(const struct window *w, const struct rma_target *t, uint64_t from,
                            uint64_t bytes) {
    struct cache_stats s;
    cache_stats(w->cache, &s);
    uint64_t end = t->base + t->bytes, left = from < end ? (end - from) / bytes : 0;
    uint64_t bounds[] = {w->ahead.blocks, s.storage_bytes / 4 / bytes, s.index_slots / 4};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        left = left < bounds[i] ? left : bounds[i];
    return left;
}

/* The operation; its buffer is NULL if there is nothing to fetch or no memory. Requires the lock. */
static struct op ahead_plan(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes) {
    uint64_t from = address + bytes, blocks = blocks_left(w, t, from, bytes);
    bool wanted =
        blocks && !t->ahead_pending && cache_peek(w->cache, (uint32_t)t->head.rank, from) == CACHE_NONE;
    return (struct op){.kind = OP_AHEAD,
                       .window = w,
                       .target = t,
                       .entry = CACHE_NONE,
                       .generation = cache_generation(w->cache),
                       .drops = w->fresh.drops,
                       .address = from,
                       .bytes = blocks * bytes,
                       .block = bytes,
                       .buffer = wanted ? malloc(blocks * bytes) : NULL,
                       .here = {.shape = shape_contiguous(blocks * bytes)}};
}

/* The program did not make this get, so its error must not reach the program's error handler, which may abort. */
static int fetch_ahead(const struct op *op) {
    MPI_Errhandler handler;
    MPI_Win win = op->window->handle;
    int rc = host_Win_get_errhandler(win, &handler);
    if (rc != MPI_SUCCESS)
        return rc;
    host_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    rc = rma_fetch_bytes(op->window, op->target, op->address, &op->here.shape, op->buffer, &op->here.shape);
    host_Win_set_errhandler(win, handler);
    host_Errhandler_free(&handler);
    return rc;
}

void rma_ahead_missed(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes, bool alone) {
    if (w->mode == MODE_TRANSPARENT || w->dynamic || !bytes || !follows(t, address, bytes) || alone)
        return;
    struct op op = ahead_plan(w, t, address, bytes);
    if (!op.buffer)
        return;
    rma_unlock();
    int rc = fetch_ahead(&op);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_fetch_count(w, t, op.bytes);
    if (rc != MPI_SUCCESS) {
        w->ahead.blocks = 0; /* disabled without a message: the program did not ask for this get */
        free(op.buffer);
        return;
    }
    if (rma_inflight_add(&op) == NO_OP)
        return; /* leaked: MPI will write to the buffer */
    t->ahead_pending = true;
    w->ahead.fetched += op.bytes / bytes;
    t->ahead_from = op.address;
    t->ahead_to = op.address + op.bytes;
}

void rma_ahead_hit(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes) {
    follows(t, address, bytes);
    if (address < t->ahead_from || address >= t->ahead_to)
        return;
    w->ahead.used++;
    t->ahead_from = address + bytes;
}

static void keep_block(const struct op *op, uint64_t place) {
    struct cache *cache = op->window->cache;
    struct shape shape = shape_contiguous(op->block);
    uint32_t entry;
    enum cache_outcome outcome =
        cache_insert(cache, (uint32_t)rma_op_rank(op), op->address + place, &shape, op->generation, &entry);
    op->window->ahead.outcomes[outcome]++;
    if (outcome == CACHE_FAILING)
        return;
    cache_set_owner(cache, entry, rma_check_calls());
    memcpy(cache_data(cache, entry), op->buffer + place, op->block);
    cache_settle(cache, entry);
    rma_inflight_inserts++;
}

void rma_ahead_ended(const struct op *op) {
    op->target->ahead_pending = false;
    free(op->buffer);
}

void rma_ahead_arrived(const struct op *op) {
    if (op->generation != cache_generation(op->window->cache) || op->drops != op->window->fresh.drops)
        return;
    for (uint64_t place = 0; place < op->bytes; place += op->block)
        if (cache_peek(op->window->cache, (uint32_t)rma_op_rank(op), op->address + place) == CACHE_NONE)
            keep_block(op, place);
}
