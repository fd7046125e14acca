/* write.h: the effect of own writes on cached entries. Requires the lock. */
#ifndef HEARTH_MPI_RMA_WRITE_H
#define HEARTH_MPI_RMA_WRITE_H

#include "base/compiler.h"
#include "mpi/windows/caching/inflight/inflight.h"

/* Drops the entries that this write overlaps, from the caches of this window and of all aliasing windows. NULL: the written
 * range is unknown, and these caches are invalidated. */
void rma_write_drop(struct window *w, int target, const struct write *write);
/* The writes to this target with a number below `before` are complete there: drops overlapping entries that were inserted in the
 * meantime. */
void rma_write_completed_slow(struct window *w, struct rma_target *t, uint64_t before);
static inline void rma_write_completed(struct window *w, struct rma_target *t, uint64_t before) {
    if (UNLIKELY(t->write_count || t->writes_unknown))
        rma_write_completed_slow(w, t, before);
    t->writes_unknown &= t->last_write >= before;
}

#endif
