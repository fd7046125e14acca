/* bypass.c: gets that bypass the cache.
 *
 * These are gets of windows and targets that are not cached or whose cache is suspended, of types that cannot be
 * described, and gets that the cache does not admit. They go to MPI unchanged. They are counted, for the report and
 * so that the call that completes them is known.
 *
 * A program without reuse makes only such gets and should see no overhead. Therefore hook_Get, the entry of every
 * MPI_Get, handles gets to a plain target (rma_window_note_fast) with a few counters and a tail call. All others go to
 * get.c. */
#include "mpi/core/hooks.h"
#include "mpi/rma/get.h"

/* MPICH 4.0 completes requests of gets with non-contiguous types too early. Only a flush makes their data available. */
bool rma_bypass_is_reliable(const struct get *g) {
#ifdef MPICH
    const struct layout_type *here = layout_find(g->otype), *there = layout_find(g->ttype);
    return here && there && here->element.predefined && there->element.predefined;
#else
    return true;
#endif
}

static void track_request(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes,
                          bool revalidates) {
    struct op op = {
        .kind = OP_BYPASS, .window = w, .target = g->target, .entry = CACHE_NONE, .revalidates = revalidates};
    uint32_t id = rma_inflight_add(&op);
    if (id == NO_OP) {
        rma_get_issued(w, t, bytes); /* without an operation, a flush completes it */
        return;
    }
    w->bytes_fetched += bytes;
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
    if (g->request && rma_bypass_is_reliable(g))
        track_request(w, t, g, bytes, revalidates);
    else
        rma_get_issued(w, t, bytes);
}

/* Records the get as a miss if only suspension keeps it from the cache, else as bypassed. */
static void bypass_record(struct window *w, const struct rma_target *t, const struct get *g, uint64_t bytes) {
    bool suspended = w->admission.resume_at != UINT64_MAX && t->verdict != VERDICT_BYPASS;
    rma_record_seen(w, g->target, t->base + (uint64_t)g->disp * t->unit, bytes,
                    suspended ? SEEN_MISS : SEEN_BYPASSED);
}

int rma_bypass_get(struct window *w, struct rma_target *t, const struct get *g, bool seen) {
    if (UNLIKELY(rma_inflight_buffers) && t)
        rma_inflight_overlap_typed(g->origin, g->ocount, g->otype);
    int rc = rma_get_forward(g);
    if (rc != MPI_SUCCESS || !t)
        return rc;
    rma_lock();
    uint64_t bytes = size_of(g);
    if (UNLIKELY(w->wants_whatif) && !seen)
        bypass_record(w, t, g, bytes);
    rma_bypass_note(w);
    rma_bypass_count(w, t, g, bytes, false);
    if (!t->fast) /* the first of an epoch between fences: those that follow take the hot path */
        rma_window_note_fast(w, t);
    rma_unlock();
    return rc;
}

/* ---- the hot path of a program without reuse ---- */

/* The type of the last bypassed get and its size, which is needed for the report. Most bypassed gets have one type. */
static struct {
    MPI_Datatype type;
    uint64_t size;
} passed = {.type = MPI_DATATYPE_NULL};

void rma_bypass_forget_type(MPI_Datatype type) {
    if (passed.type == type)
        passed.type = MPI_DATATYPE_NULL;
}

/* Slow path of a bypassed get: at the count `look_at`, for another type, or for the recording. rma_bypass_get counts the
 * get, so `past` does not. */
static __attribute__((noinline)) int bypass_slow(void *origin, int ocount, MPI_Datatype otype, int target,
                                                 MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win) {
    struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL};
    struct window *w = rma_window_find(win);
    struct rma_target *t = &w->targets[target];
    w->bypassed_fast--;
    passed.type = ttype;
    passed.size = size_of(&(struct get){.tcount = 1, .ttype = ttype});
    return rma_bypass_get(w, t, &g, false);
}

/* Counts the get before it is issued, even if MPI then rejects it: no work remains after the call, which is the
 * cheapest order for a program without reuse. The flush that follows calls rma_progress_note for both. */
static inline void bypass_count_fast(struct window *w, struct rma_target *t, int count) {
    t->last_get = rma_inflight_issued++;
    w->bytes_fetched += LIKELY(count > 0) ? (uint64_t)count * passed.size : 0;
    rma_window_use(w, t);
}

/* Bypass for gets that are recorded, or that the what-if analysis may sample. */
static __attribute__((noinline)) int bypass_whatif(void *origin, int ocount, MPI_Datatype otype, int target,
                                                   MPI_Aint disp, int tcount, MPI_Datatype ttype,
                                                   MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = &w->targets[target];
    bool asks_whatif = t->verdict != VERDICT_BYPASS && w->whatif;
    if (rma_record_is_on)
        return bypass_slow(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (asks_whatif && !cache_whatif_skips(w->whatif, (uint32_t)target, t->base + (uint64_t)disp * t->unit))
        return bypass_slow(origin, ocount, otype, target, disp, tcount, ttype, win);
    bypass_count_fast(w, t, tcount);
    return host_Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

/* The entry of MPI_Get. Gets to a plain target take a minimal path: no stack frame, a tail call into MPI. */
int hook_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    struct rma_target *t = rma_window_find_fast(win, target);
    if (!t || UNLIKELY(rma_inflight_buffers))
        return rma_get_slow(origin, ocount, otype, target, disp, tcount, ttype, win);
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_relaxed);
    if (UNLIKELY(++w->bypassed_fast >= w->look_at) || UNLIKELY(passed.type != ttype))
        return bypass_slow(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (UNLIKELY(w->wants_whatif))
        return bypass_whatif(origin, ocount, otype, target, disp, tcount, ttype, win);
    bypass_count_fast(w, t, tcount);
    return host_real.Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}
