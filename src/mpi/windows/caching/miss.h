/* miss.h: gets that are issued to MPI although the cache admits them. All of these require the lock and release it. */
#ifndef HEARTH_MPI_MISS_H
#define HEARTH_MPI_MISS_H

#include "mpi/windows/caching/get.h"

/* Issues the get first, so that the search for storage overlaps with it. */
int rma_miss_get(struct window *w, struct rma_target *t, const struct get *g, struct access *a);

/* Revalidates a hit: it is fetched again, and its first `head` bytes, which are cached, are compared on completion. */
int rma_miss_recheck(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                     uint32_t entry, uint64_t head);
/* The same for a hit with a request whose data is not compared. Its completion counts as a sync event. */
int rma_miss_refetch(struct window *w, struct rma_target *t, const struct get *g, struct access *a);

/* Polling loops must terminate although their gets hit: one in a random number of consecutive hits is revalidated. This
 * draws the number. Keeps the lock. */
void rma_miss_draw_recheck(struct window *w);
/* The same after a miss: only consecutive hits count, as in a loop that polls. In mode auto all hits do. */
static inline void rma_miss_restart_recheck(struct window *w) {
    if (UNLIKELY(w->mode == MODE_ACQUIRE) && !w->fresh.is_auto)
        rma_miss_draw_recheck(w);
}

#endif
