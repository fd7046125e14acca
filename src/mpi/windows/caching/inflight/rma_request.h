/* rma_request.h: the requests of gets. */
#ifndef HEARTH_MPI_RMA_REQUEST_H
#define HEARTH_MPI_RMA_REQUEST_H

#include "base/compiler.h"
#include "mpi/windows/caching/window/window.h"

extern HIDDEN _Atomic uint64_t rma_request_count; /* incomplete operations with a request */
void rma_request_track(uint32_t op, MPI_Request request);
/* The completion of this request is no sync event: it carries no information from another process. Requires the lock. */
void rma_request_mark_nonsync(MPI_Request request);
/* The same for a send's request, without the lock. */
void rma_request_sent(MPI_Request request);

/* ---- around a call of MPI that may complete requests ----
 *
 * The operation of a request is claimed before the call and concluded after it. NO_OP: it is not that of a get. */

static inline bool rma_request_none(void) {
    return LIKELY(!atomic_load_explicit(&rma_request_count, memory_order_relaxed));
}

uint32_t rma_request_claim_slow(MPI_Request request);
static inline uint32_t rma_request_claim(MPI_Request request) {
    return rma_request_none() ? NO_OP : rma_request_claim_slow(request);
}

/* rc: what the call returned; if it is an error, possibly that of another request, the get is not cached. */
void rma_request_conclude_slow(uint32_t id, int rc, bool complete);
static inline void rma_request_conclude(uint32_t id, int rc, bool complete) {
    if (UNLIKELY(id != NO_OP))
        rma_request_conclude_slow(id, rc, complete);
}

/* The program frees the request. */
void rma_request_drop_slow(MPI_Request request);
static inline void rma_request_drop(MPI_Request request) {
    if (!rma_request_none())
        rma_request_drop_slow(request);
}

/* The operations of an array of requests; NO_OP for untracked ones. */
struct rma_claims {
    uint32_t few[64], *ids; /* NULL: none is tracked, or all were given up */
    int count;
    int ours; /* tracked operations among them */
};

void rma_request_claim_several_slow(struct rma_claims *c, const MPI_Request requests[]);
static inline void rma_request_claim_several(struct rma_claims *c, int count, const MPI_Request requests[]) {
    c->ids = NULL;
    c->count = count;
    c->ours = 0;
    if (!rma_request_none() && count > 0 && requests)
        rma_request_claim_several_slow(c, requests);
}

/* The requests at `indices` are complete; all of them if indices is NULL and done is not 0. */
void rma_request_conclude_several_slow(struct rma_claims *c, int rc, const int indices[], int done);
static inline void rma_request_conclude_several(struct rma_claims *c, int rc, const int indices[], int done) {
    if (UNLIKELY(c->ids != NULL))
        rma_request_conclude_several_slow(c, rc, indices, done);
}

#endif
