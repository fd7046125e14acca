/* past.c: gets that bypass the cache.
 *
 * These are gets of windows and targets that are not cached or whose cache is suspended, of types that cannot be
 * described, and gets that the cache does not admit. They go to MPI unchanged. They are counted, for the report and
 * so that the call that completes them is known.
 *
 * A program without reuse makes only such gets and should see no overhead. Therefore hook_Get, the entry of every
 * MPI_Get, handles gets to a plain target (window_note_plain) with a few counters and a tail call. All others go to
 * get.c. */
#include "mpi/core/hooks.h"
#include "mpi/rma/get.h"

/* MPICH 4.0 completes requests of gets with non-contiguous types too early. Only a flush makes their data available. */
bool past_is_reliable(const struct get *g) {
#ifdef MPICH
    const struct layout_type *here = layout_find(g->otype), *there = layout_find(g->ttype);
    return here && there && here->element.predefined && there->element.predefined;
#else
    return true;
#endif
}

static void track_request(struct window *w, struct target *t, const struct get *g, uint64_t bytes,
                          bool news) {
    struct op op = {.kind = OP_PLAIN, .window = w, .target = g->target, .entry = CACHE_NONE, .news = news};
    uint32_t id = inflight_add(&op);
    if (id == NO_OP) {
        get_issued(w, t, bytes); /* without an operation, a flush completes it */
        return;
    }
    w->bytes_fetched += bytes;
    request_track(id, *g->request);
}

static uint64_t size_of(const struct get *g) {
    MPI_Count size = 0;
    if (g->tcount <= 0 || host_Type_size_x(g->ttype, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return (uint64_t)g->tcount * (uint64_t)size;
}

void past_count(struct window *w, struct target *t, const struct get *g, uint64_t bytes, bool news) {
    if (g->request && past_is_reliable(g))
        track_request(w, t, g, bytes, news);
    else
        get_issued(w, t, bytes);
}

/* Records the get as a miss if only suspension keeps it from the cache, else as bypassed. */
static void note_past(struct window *w, const struct target *t, const struct get *g, uint64_t bytes) {
    bool rests = w->worth.resume_at != UINT64_MAX && t->verdict != VERDICT_BYPASS;
    record_seen(w, g->target, t->base + (uint64_t)g->disp * t->unit, bytes, rests ? SEEN_MISS : SEEN_PAST);
}

int past_get(struct window *w, struct target *t, const struct get *g, bool seen) {
    if (UNLIKELY(inflight_buffers) && t)
        inflight_disturb_typed(g->origin, g->ocount, g->otype);
    int rc = get_pass(g);
    if (rc != MPI_SUCCESS || !t)
        return rc;
    rma_lock();
    uint64_t bytes = size_of(g);
    if (UNLIKELY(w->foresees) && !seen)
        note_past(w, t, g, bytes);
    past_note(w);
    past_count(w, t, g, bytes, false);
    if (!t->plain) /* the first of an epoch between fences: those that follow take the hot path */
        window_note_plain(w, t);
    rma_unlock();
    return rc;
}

/* ---- the hot path of a program without reuse ---- */

/* The type of the last bypassed get and its size, which is needed for the report. Most bypassed gets have one type. */
static struct {
    MPI_Datatype type;
    uint64_t size;
} passed = {.type = MPI_DATATYPE_NULL};

void past_forget_type(MPI_Datatype type) {
    if (passed.type == type)
        passed.type = MPI_DATATYPE_NULL;
}

/* Slow path of a bypassed get: at the count `look_at`, for another type, or for the recording. past_get counts the
 * get, so `past` does not. */
static __attribute__((noinline)) int look_past(void *origin, int ocount, MPI_Datatype otype, int target,
                                               MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win) {
    struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL};
    struct window *w = window_find(win);
    struct target *t = &w->targets[target];
    w->past--;
    passed.type = ttype;
    passed.size = size_of(&(struct get){.tcount = 1, .ttype = ttype});
    return past_get(w, t, &g, false);
}

/* Counts the get before it is issued, even if MPI then rejects it: no work remains after the call, which is the
 * cheapest order for a program without reuse. The flush that follows calls progress_note for both. */
static inline void count_past(struct window *w, struct target *t, int count) {
    t->last_get = inflight_issued++;
    w->bytes_fetched += LIKELY(count > 0) ? (uint64_t)count * passed.size : 0;
    window_use(w, t);
}

/* Bypass for gets that are recorded, or that the what-if analysis may sample. */
static __attribute__((noinline)) int foresee_past(void *origin, int ocount, MPI_Datatype otype, int target,
                                                  MPI_Aint disp, int tcount, MPI_Datatype ttype,
                                                  MPI_Win win) {
    struct window *w = window_find(win);
    struct target *t = &w->targets[target];
    bool is_estimated = t->verdict != VERDICT_BYPASS && w->estimate;
    if (record_is_on)
        return look_past(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (is_estimated &&
        !cache_estimate_skips(w->estimate, (uint32_t)target, t->base + (uint64_t)disp * t->unit))
        return look_past(origin, ocount, otype, target, disp, tcount, ttype, win);
    count_past(w, t, tcount);
    return host_Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

/* The entry of MPI_Get. Gets to a plain target take a minimal path: no stack frame, a tail call into MPI. */
int hook_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    struct target *t = window_find_plain(win, target);
    if (!t || UNLIKELY(inflight_buffers))
        return get_with_care(origin, ocount, otype, target, disp, tcount, ttype, win);
    struct window *w = atomic_load_explicit(&window_recent, memory_order_relaxed);
    if (UNLIKELY(++w->past >= w->look_at) || UNLIKELY(passed.type != ttype))
        return look_past(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (UNLIKELY(w->foresees))
        return foresee_past(origin, ocount, otype, target, disp, tcount, ttype, win);
    count_past(w, t, tcount);
    return host_real.Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}
