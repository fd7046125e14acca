/* completion.h: the steps before and after a call of the host MPI that completes operations. */
#ifndef HEARTH_MPI_RMA_COMPLETION_H
#define HEARTH_MPI_RMA_COMPLETION_H

#include "base/settings.h"
#include "mpi/windows/caching/window/window.h"

enum completion_scope { SCOPE_LOCAL, SCOPE_REMOTE };

/* Before the call: the number below which operations are completed by it. */
uint64_t rma_completion_start(void);

/* Runs after the host's call. t: one target, or NULL for all. A failed call completes nothing reliably. Returns the code of
 * the call, or of an operation that failed before it. */
int rma_completion_finish(struct window *w, struct rma_target *t, uint64_t before,
                          enum completion_scope scope, int rc);

/* Passes on the result of a call on an unknown window. Such a call may have completed anything, so it acquires.
 *
 * Among known windows, a remote flush without a preceding operation acquires: programs use it to wait for changes in
 * their own window. A local flush does not: it says nothing about other processes, and ARMCI-MPI makes one on every
 * window for each of its operations. */
int rma_completion_unknown(int rc);

/* In transparent mode nothing may be reused beyond this point. */
static inline void rma_completion_end_reuse(struct window *w) {
    if (w->mode == MODE_TRANSPARENT && w->cache)
        cache_invalidate(w->cache);
}

#endif
