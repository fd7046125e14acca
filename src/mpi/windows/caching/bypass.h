/* bypass.h: gets that bypass the cache. */
#ifndef HEARTH_MPI_BYPASS_H
#define HEARTH_MPI_BYPASS_H

#include "mpi/windows/caching/inflight/fetch.h"
#include "mpi/windows/caching/get.h"
#include "mpi/windows/caching/window/bypassed_type.h"
#include "observe/bypass_reason.h"

/* Passes the get to MPI and only counts it. t: NULL if the target is invalid, or not tracked. seen: the get was recorded already. */
int rma_bypass_get(struct window *w, struct rma_target *t, const struct get *g, bool seen);
/* Counts a get that was passed to MPI and that the cache does not track. Requires the lock. */
void rma_bypass_count(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes,
                      bool revalidates);

/* Counts a get of the window that bypassed its cache. Requires the lock. */
static inline void rma_bypass_note(struct window *w, enum bypass_reason why) {
    w->count.gets++;
    w->count.bypassed++;
    w->why[why]++;
    rma_admission_bypassed(w);
}

/* ---- the fast path, for hook_Get ---- */

/* Counts the get before it is issued, even if MPI then rejects it: no work remains after the call, which is the
 * cheapest order for a program without reuse. The flush that follows calls rma_progress_note for both. count: not negative. */
static inline void rma_bypass_count_fast(struct window *w, struct rma_target *t, int count) {
    t->last_get = rma_inflight_issued++;
    w->count.bypassed_fast++;
    t->fast_gets++;
    uint64_t bytes = (uint64_t)count * rma_bypassed_type.size;
    t->asked.bytes += bytes;
    w->count.bytes_fetched += bytes;
    rma_window_use(w, t);
}

/* Whether only suspension keeps the gets of this target from the cache. */
static inline bool rma_bypass_is_analysed(const struct window *w, const struct rma_target *t) {
    return rma_admission_is_suspended(w) && t->verdict != VERDICT_BYPASS;
}

/* Replaces the fast path for another type, and for a negative count, which MPI rejects. */
int rma_bypass_slow(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                    MPI_Datatype ttype, MPI_Win win);
/* The same for gets that are recorded or feed the what-if analysis, and in a window that is single. */
int rma_bypass_watched(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                       MPI_Datatype ttype, MPI_Win win);

#endif
