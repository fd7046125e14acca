/* past.c: gets that go past the cache: of windows and targets that are not cached or whose cache rests, of types that cannot be
 * described, and those that the cache does not want. They go to MPI as they came and are only counted, so that the call that
 * completes them is known, and for the report.
 *
 * A program without reuse makes no others, and should not notice us. So hook_Get, which every MPI_Get enters, lets gets to a plain
 * target (window_note_plain) pass with a few counts and a jump; all else is get.c's. */
#include "mpi/hooks.h"
#include "mpi/rma/get.h"

/* MPICH 4.0 completes requests of gets with types that are not contiguous too early; only a flush brings the data then. */
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
        get_issued(w, t, bytes); /* then a flush will do */
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

/* What is not for the cache, or would be if it did not rest. */
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
    rma_unlock();
    return rc;
}

/* ---- the hot path of a program without reuse ---- */

/* Gets that go past the cache are mostly of one type; its size is only for the report. */
static struct {
    MPI_Datatype type;
    uint64_t size;
} passed = {.type = MPI_DATATYPE_NULL};

void past_forget_type(MPI_Datatype type) {
    if (passed.type == type)
        passed.type = MPI_DATATYPE_NULL;
}

/* Now and then on the way past the cache. */
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

/* The flush that follows will tell progress.c of both.
 *
 * Counted before it is issued, and also if MPI then refuses it: nothing is left to do after the call, which costs a program
 * without reuse least. */
static inline void count_past(struct window *w, struct target *t, int count) {
    t->last_get = inflight_issued++;
    w->bytes_fetched += LIKELY(count > 0) ? (uint64_t)count * passed.size : 0;
    window_use(w, t);
}

/* Past the cache, but it is recorded, or the report is to say what another mode would have made of it. */
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

/* Lets gets of no interest to the cache pass, in as few instructions as there can be: no stack, no return. */
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
