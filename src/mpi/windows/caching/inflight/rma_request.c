/* rma_request.c: requests of gets. The call that completes the request of a get also fills the cache, because from then
 * on the program may change the buffer. All calls that can complete a request therefore claim the gets among them before, and
 * conclude them after (requests/tracked.c). While no get has a request, that costs one load.
 *
 *      table[hash of the handle] -> operation -> operation */
#include "mpi/windows/caching/inflight/rma_request.h"

#include <errno.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/settings.h"
#include "mpi/windows/caching/inflight/fetch.h"

_Atomic uint64_t rma_request_count;

static uint32_t *table; /* heads of chains, NO_OP if empty */
static uint32_t buckets;

static uint32_t request_bucket_of(MPI_Request request) {
    return (uint32_t)(random_mix((uint64_t)(uintptr_t)request) & (buckets - 1));
}

static void request_chain_in(uint32_t id) {
    uint32_t *head = &table[request_bucket_of(rma_inflight_at(id)->request)];
    rma_inflight_at(id)->next_request = *head;
    *head = id;
}

static int requests_grow(void) {
    uint32_t n = buckets ? 2 * buckets : 64, *old = table, old_buckets = buckets;
    uint32_t *more = malloc(n * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more, 0xff, n * sizeof *more);
    table = more;
    buckets = n;
    for (uint32_t b = 0; b < old_buckets; b++)
        for (uint32_t id = old[b], next; id != NO_OP; id = next) {
            next = rma_inflight_at(id)->next_request;
            request_chain_in(id);
        }
    free(old);
    return 0;
}

static uint32_t chain_out(MPI_Request request) {
    for (uint32_t *link = buckets ? &table[request_bucket_of(request)] : NULL; link && *link != NO_OP;
         link = &rma_inflight_at(*link)->next_request) {
        uint32_t id = *link;
        if (rma_inflight_at(id)->request != request)
            continue;
        *link = rma_inflight_at(id)->next_request;
        atomic_fetch_sub_explicit(&rma_request_count, 1, memory_order_relaxed);
        return id;
    }
    return NO_OP;
}

static void put_back(uint32_t id) {
    request_chain_in(id);
    atomic_fetch_add_explicit(&rma_request_count, 1, memory_order_relaxed);
}

static void request_give_up(uint32_t id) {
    if (id == NO_OP)
        return;
    rma_inflight_orphan(id);
    rma_inflight_remove(id);
}

/* A get whose request cannot be tracked: only a flush shows that it is complete. */
static void request_forget(uint32_t id) {
    struct op *op = rma_inflight_at(id);
    if (op->listed)
        rma_fetch_count(op->window, op->target, 0);
    request_give_up(id);
}

/* MPI may use one handle for all requests that complete immediately. Two requests of OP_NONSYNC may share it. In any
 * other case the completion of the older one was missed, and it is dropped. */
static void make_way(uint32_t id, MPI_Request request) {
    for (uint32_t older; (older = chain_out(request)) != NO_OP; request_give_up(older))
        if (rma_inflight_at(older)->kind == OP_NONSYNC && rma_inflight_at(id)->kind == OP_NONSYNC) {
            put_back(older);
            return;
        }
}

void rma_request_track(uint32_t id, MPI_Request request) {
    make_way(id, request);
    uint64_t count = atomic_load_explicit(&rma_request_count, memory_order_relaxed);
    if (count >= buckets && requests_grow() && !buckets) {
        request_forget(id);
        return;
    }
    rma_inflight_at(id)->request = request;
    request_chain_in(id);
    atomic_store_explicit(&rma_request_count, count + 1, memory_order_relaxed);
}

void rma_request_mark_nonsync(MPI_Request request) {
    uint32_t id = request == MPI_REQUEST_NULL ? NO_OP : rma_inflight_add_nonsync();
    if (id != NO_OP)
        rma_request_track(id, request);
}

void rma_request_sent(MPI_Request request) {
    if (LIKELY(!atomic_load_explicit(&rma_window_acquires, memory_order_relaxed)))
        return;
    rma_lock();
    rma_request_mark_nonsync(request);
    rma_unlock();
}

/* ---- around the host's call ----
 *
 * MPI may reuse the handle of a completed request before the completing call has returned to Hearth. The operations
 * are therefore removed from the table before that call, and those that it did not complete are put back. */

uint32_t rma_request_claim_slow(MPI_Request request) {
    rma_lock();
    uint32_t id = chain_out(request);
    rma_unlock();
    return id;
}

/* The data is in the buffer, which the program cannot change before this call returns. */
static void requests_settle(uint32_t id) {
    struct op *op = rma_inflight_at(id);
    if (UNLIKELY(op->revalidates))
        acquire(EVENT_RECHECK);
    if (op->cached)
        rma_inflight_verify(id);
    if (op->entry != CACHE_NONE)
        rma_acquire_catch_up(op->window);
    if (op->entry != CACHE_NONE)
        rma_inflight_complete(id, op->window->mode != MODE_TRANSPARENT && op->window->mode != MODE_OFF);
    else
        rma_inflight_remove(id);
}

static void conclude(uint32_t id, int rc, bool complete) {
    if (id == NO_OP)
        return;
    if (rc != MPI_SUCCESS) /* possibly the error of another request: this one may still be in flight */
        request_forget(id);
    else if (complete)
        requests_settle(id);
    else
        put_back(id);
}

void rma_request_conclude_slow(uint32_t id, int rc, bool complete) {
    rma_lock();
    conclude(id, rc, complete);
    rma_unlock();
}

void rma_request_drop_slow(MPI_Request request) {
    rma_lock();
    uint32_t id = chain_out(request);
    if (id != NO_OP)
        request_forget(id);
    rma_unlock();
}

/* ---- several requests ---- */

/* No memory for a list: gets that may complete now are not cached. */
static void request_forget_all(void) {
    for (uint32_t b = 0; b < buckets; b++)
        while (table[b] != NO_OP)
            request_forget(chain_out(rma_inflight_at(table[b])->request));
}

void rma_request_claim_several_slow(struct rma_claims *c, const MPI_Request requests[]) {
    int count = c->count;
    bool large = (size_t)count > sizeof c->few / sizeof c->few[0];
    c->ids = large ? malloc((size_t)count * sizeof *c->ids) : c->few;
    rma_lock();
    if (!c->ids)
        request_forget_all();
    for (int i = 0; c->ids && i < count; i++) {
        c->ids[i] = chain_out(requests[i]);
        c->ours += c->ids[i] != NO_OP;
    }
    rma_unlock();
}

void rma_request_conclude_several_slow(struct rma_claims *c, int rc, const int indices[], int done) {
    rma_lock();
    for (int i = 0; rc == MPI_SUCCESS && indices && i < done; i++) {
        conclude(c->ids[indices[i]], rc, true);
        c->ids[indices[i]] = NO_OP;
    }
    for (int i = 0; i < c->count; i++)
        conclude(c->ids[i], rc, !indices && done);
    rma_unlock();
    if (c->ids != c->few)
        free(c->ids);
}
