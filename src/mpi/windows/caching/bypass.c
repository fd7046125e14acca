/* bypass.c: gets that bypass the cache.
 *
 * These are the gets that admission.h does not admit. They go to MPI unchanged. They are counted, for the report and so
 * that the call that completes them is known.
 *
 * A program without reuse makes only such gets and should see no overhead. Therefore hook_Get (get.c) handles gets to a
 * target on the fast bypass path with a few counters and a tail call; this file handles the rest. */
#include "mpi/windows/caching/bypass.h"

#include "base/compiler.h"
#include "base/log.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/inflight/rma_request.h"
#include "mpi/windows/serving/serve_access.h"
#include "observe/bypass_reason.h"

static void track_request(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes,
                          bool revalidates) {
    struct op op = {
        .kind = OP_BYPASS, .window = w, .target = t, .entry = CACHE_NONE, .revalidates = revalidates};
    uint32_t id = rma_inflight_add(&op);
    if (id == NO_OP) {
        rma_fetch_count(w, t, bytes); /* its request is not tracked: only a flush shows that it is complete */
        return;
    }
    w->count.bytes_fetched += bytes;
    rma_request_track(id, *g->request);
}

static uint64_t size_of(const struct get *g) {
    MPI_Count size = 0;
    if (g->tcount <= 0 || host_Type_size_x(g->ttype, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return (uint64_t)g->tcount * (uint64_t)size;
}

void rma_bypass_count(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes,
                      bool revalidates) {
    if (g->request && !t->at_once && rma_admission_is_reliable(g))
        track_request(w, t, g, bytes, revalidates);
    else
        rma_fetch_count(w, t, bytes);
}

/* Records the get as a miss if only suspension keeps it from the cache, else as bypassed. */
static enum seen bypass_seen(const struct window *w, const struct rma_target *t) {
    return rma_bypass_is_analysed(w, t) ? SEEN_MISS : SEEN_BYPASSED;
}

static uint64_t bypass_address(const struct rma_target *t, MPI_Aint disp) {
    return t->base + (uint64_t)disp * t->unit;
}

/* The data has arrived when MPI_Get returns. So the request need not be known: it is the one of other complete operations. */
static int get_at_once(const struct get *g) {
    struct get plain = *g;
    plain.request = NULL;
    int rc = rma_get_forward(&plain);
    if (rc == MPI_SUCCESS)
        rc = serve_access_shared_request(g->request);
    if (rc == MPI_SUCCESS)
        rma_request_sent(*g->request);
    return rc;
}

int rma_bypass_get(struct window *w, struct rma_target *t, const struct get *g, bool seen) {
    if (UNLIKELY(rma_inflight_buffers))
        rma_inflight_overlap_typed(g->origin, g->ocount, g->otype);
    int rc = g->request && t && t->at_once ? get_at_once(g) : rma_get_forward(g);
    if (rc != MPI_SUCCESS || !t)
        return rc;
    rma_lock();
    bool ends_single = UNLIKELY(w->single) && rma_admission_is_second(w, t);
    uint64_t bytes = size_of(g);
    if (UNLIKELY(w->wants_whatif) && !seen)
        rma_record_seen(w, g->target, bypass_address(t, g->disp), bytes, bypass_seen(w, t));
    rma_get_note_asked(t, g, bytes);
    enum bypass_reason reason = rma_admission_reason(w, t, seen);
    log_trace(LOG_CACHE, "window %llu: a get of %llu bytes from rank %d bypasses the cache: %s",
              (unsigned long long)w->serial, (unsigned long long)bytes, g->target,
              bypass_reason_text((int)reason));
    rma_bypass_note(w, reason);
    rma_bypass_count(w, t, g, bytes, false);
    /* The first get of an epoch between fences: the next ones take the fast path. */
    if (ends_single)
        rma_admission_end_single(w);
    else if (!t->fast)
        rma_admission_note_fast(w, t);
    rma_unlock();
    return rc;
}

/* ---- the rare cases of the fast path ---- */

int rma_bypass_slow(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                    MPI_Datatype ttype, MPI_Win win) {
    struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL};
    struct window *w = rma_window_find(win);
    struct rma_target *t = rma_window_peek(w, target); /* it is fast, so it was made */
    rma_bypassed_type.type = ttype;
    rma_bypassed_type.size = size_of(&(struct get){.tcount = 1, .ttype = ttype});
    return rma_bypass_get(w, t, &g, false);
}

/* Records a get, and shows it to the what-if analysis. */
static void bypass_follow(struct window *w, struct rma_target *t, MPI_Aint disp, int count) {
    int rank = t->head.rank;
    uint64_t address = bypass_address(t, disp), bytes = (uint64_t)count * rma_bypassed_type.size;
    if (UNLIKELY(rma_record_wants(w, rank, address, rma_bypass_is_analysed(w, t))))
        rma_record_followed(w, rank, address, bytes, bypass_seen(w, t));
}

/* Not with threads or a tool: no target is then fast. */
int rma_bypass_watched(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                       MPI_Datatype ttype, MPI_Win win) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_relaxed);
    struct rma_target *t = rma_window_peek(w, target); /* it is fast, so it was made */
    bool ends_single = w->single && rma_admission_is_second(w, t);
    if (w->wants_whatif)
        bypass_follow(w, t, disp, tcount);
    rma_bypass_count_fast(w, t, tcount);
    if (UNLIKELY(ends_single))
        rma_admission_end_single(w);
    return host_real.Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}
