/* write.h: the effect of own writes on cached entries. Requires the lock. */
#ifndef HEARTH_MPI_RMA_WRITE_H
#define HEARTH_MPI_RMA_WRITE_H

#include "mpi/rma/inflight/inflight.h"

/* Drops the entries that this write overlaps, from the caches of this window and of all aliasing windows. NULL: the written
 * range is unknown, and these caches are invalidated. */
void rma_write_drop(struct window *w, int target, const struct write *write);
/* All writes to this target are complete there: drops overlapping entries that were inserted in the meantime. */
void rma_write_completed_slow(struct window *w, struct rma_target *t);
static inline void rma_write_completed(struct window *w, struct rma_target *t) {
    if (UNLIKELY(t->write_count || rma_inflight_inserts != t->inserts_before))
        rma_write_completed_slow(w, t);
    t->writes_unknown = false;
}

#endif
