/* rma_request.c: requests of gets. The call that completes the request of a get also fills the cache, because from then
 * on the program may change the buffer. All calls that can complete a request therefore pass through this file. While
 * no get has a request, they cost one load.
 *
 *      table[hash of the handle] -> operation -> operation */
#include "mpi/rma/inflight/rma_request.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/core/hooks.h"
#include "mpi/rma/inflight/fetch.h"

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
        rma_fetch_count(op->window, rma_window_peek(op->window, op->target), 0);
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

void rma_sent(MPI_Request request) {
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

static uint32_t request_claim(MPI_Request request) {
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

static void conclude_one(uint32_t id, int rc, bool complete) {
    if (id == NO_OP)
        return;
    rma_lock();
    conclude(id, rc, complete);
    rma_unlock();
}

static bool none(void) {
    return LIKELY(!atomic_load_explicit(&rma_request_count, memory_order_relaxed));
}

/* ---- one request ---- */

/* A request that is not a tracked get may be that of a receive, a collective or a synchronous send. */
static void note_completed(uint32_t id, MPI_Request before) {
    if (id == NO_OP && before != MPI_REQUEST_NULL)
        acquire(EVENT_REQUEST);
}

int rma_Wait(MPI_Request *request, MPI_Status *status) {
    if (!request)
        return host_Wait(request, status);
    MPI_Request before = *request;
    uint32_t id = none() ? NO_OP : request_claim(before);
    int rc = host_Wait(request, status);
    conclude_one(id, rc, true);
    note_completed(id, before);
    return rc;
}

int rma_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!request)
        return host_Test(request, flag, status);
    MPI_Request before = *request;
    uint32_t id = none() ? NO_OP : request_claim(before);
    int rc = host_Test(request, flag, status);
    bool complete = rc != MPI_SUCCESS || *flag;
    conclude_one(id, rc, complete);
    if (complete)
        note_completed(id, before);
    return rc;
}

int rma_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    uint32_t id = none() ? NO_OP : request_claim(request);
    int rc = host_Request_get_status(request, flag, status);
    bool complete = rc != MPI_SUCCESS || *flag;
    conclude_one(id, rc, complete);
    if (complete)
        note_completed(id, request);
    return rc;
}

int rma_Request_free(MPI_Request *request) {
    if (none() || !request)
        return host_Request_free(request);
    uint32_t id = request_claim(*request);
    if (id != NO_OP) {
        rma_lock();
        request_forget(id);
        rma_unlock();
    }
    return host_Request_free(request);
}

/* ---- several requests ---- */

/* The operations of an array of requests; NO_OP for untracked ones. */
struct claims {
    uint32_t few[64], *ids; /* NULL: none is tracked, or all were given up */
    int count;
    int ours; /* tracked operations among them */
};

/* No memory for a list: gets that may complete now are not cached. */
static void request_forget_all(void) {
    for (uint32_t b = 0; b < buckets; b++)
        while (table[b] != NO_OP)
            request_forget(chain_out(rma_inflight_at(table[b])->request));
}

static void claim_several(struct claims *c, int count, const MPI_Request requests[]) {
    c->ids = NULL;
    c->count = count;
    c->ours = 0;
    if (none() || count <= 0 || !requests)
        return;
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

/* The requests at `indices` are complete; all of them if indices is NULL and done is not 0. */
static void conclude_several(struct claims *c, int rc, const int indices[], int done) {
    if ((done || rc != MPI_SUCCESS) && c->ours < c->count) /* untracked requests may be of any kind */
        acquire(EVENT_REQUEST);
    if (!c->ids)
        return;
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

int rma_Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Waitall(count, requests, statuses);
    conclude_several(&c, rc, NULL, 1);
    return rc;
}

int rma_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Testall(count, requests, flag, statuses);
    conclude_several(&c, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int rma_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Waitany(count, requests, index, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *index != MPI_UNDEFINED);
    return rc;
}

int rma_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Testany(count, requests, index, flag, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int rma_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, incount, requests);
    int rc = host_Waitsome(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

int rma_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, incount, requests);
    int rc = host_Testsome(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

#if HEARTH_MPI_4_1 /* these complete no request, but tell the program that its buffers may be read */

int rma_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                               MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Request_get_status_all(count, requests, flag, statuses);
    conclude_several(&c, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int rma_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                               MPI_Status *status) {
    struct claims c;
    claim_several(&c, count, requests);
    int rc = host_Request_get_status_any(count, requests, index, flag, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int rma_Request_get_status_some(int incount, HEARTH_CONST MPI_Request requests[], int *outcount,
                                int indices[], MPI_Status *statuses) {
    struct claims c;
    claim_several(&c, incount, requests);
    int rc = host_Request_get_status_some(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}
#endif
