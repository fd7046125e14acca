/* fetch.h: gets that Hearth itself issues to MPI, as bytes and addresses. */
#ifndef HEARTH_MPI_FETCH_H
#define HEARTH_MPI_FETCH_H

#include "mpi/windows/caching/inflight/inflight.h"
#include "tables/shape.h"

/* Issues a get of these bytes. Returns an MPI error code. */
int rma_fetch_bytes(struct window *w, const struct rma_target *t, uint64_t address, const struct shape *there,
                    void *buffer, const struct shape *here);

/* Counts a get that was passed to MPI. Requires the lock. */
static inline void rma_fetch_count(struct window *w, struct rma_target *t, uint64_t bytes) {
    t->last_get = rma_inflight_issued++;
    t->alone++;
    w->count.bytes_fetched += bytes;
    rma_window_mark_busy(w, t);
}

#endif
