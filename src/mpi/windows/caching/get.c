/* get.c: MPI_Get and MPI_Rget, from the entry to the hit.
 *
 *      hook_Get
 *          fast bypass path of the target   -> counted, tail call into MPI   (bypass.c)
 *          get_plain: plain types
 *              CACHED entry                 -> copy, done: the hit
 *              no entry                     -> get, then reserve an entry    (miss.c)
 *              not admitted                 -> to MPI, and counted
 *      hook_Rget, and the rest of MPI_Get
 *          get_serve
 *              not admitted                 -> to MPI, and counted           (admission.h, bypass.c)
 *              otherwise                    -> describe both sides, look up:
 *                  CACHED, covers all bytes -> copy
 *                  CACHED, covers the first -> copy those, get the rest
 *                  PENDING                  -> join the get in flight
 *                  no entry                 -> get, then reserve an entry    (miss.c)
 *
 * Whenever the cache cannot decide, the get goes to MPI unchanged, so that MPI reports the error: invalid arguments,
 * no epoch, types that cannot be described, sizes that differ. */
#include "mpi/windows/caching/get.h"

#include <limits.h>
#include <stdlib.h>

#include "base/settings.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/bypass.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/caching/inflight/rma_request.h"
#include "mpi/windows/caching/miss.h"
#include "mpi/windows/caching/target.h"
#include "mpi/windows/caching/window/rma_progress.h"
#include "observe/bypass_reason.h"
#include "observe/probe.h"
#include "tables/shape.h"

static int get_plain(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                     MPI_Datatype ttype, MPI_Win win);
static int get_serve(const struct get *g);

/* ---- the calls ---- */

/* Gets to a target on the fast bypass path, which a program without reuse makes, take a minimal path, and end in a tail call
 * into MPI. */
int hook_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    PROBE3(get, target, disp, tcount);
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_relaxed);
    struct rma_target *t = rma_admission_find_fast(w, win, target);
    if (!t || UNLIKELY(rma_inflight_buffers))
        return get_plain(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (UNLIKELY(rma_bypassed_type.type != ttype) || UNLIKELY(tcount < 0))
        return rma_bypass_slow(origin, ocount, otype, target, disp, tcount, ttype, win);
    if (UNLIKELY(w->wants_whatif | w->single))
        return rma_bypass_watched(origin, ocount, otype, target, disp, tcount, ttype, win);
    rma_bypass_count_fast(w, t, tcount);
    return host_real.Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int hook_Rget(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request, NULL});
}

#if HEARTH_MPI_COUNTS
int hook_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL});
}

int hook_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request, NULL});
}
#endif

int rma_get_noop(const void *nothing, int ncount, MPI_Datatype ntype, void *result, int rcount,
                 MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win) {
    struct noop noop = {nothing, ncount, ntype};
    return get_serve(&(struct get){result, rcount, rtype, target, disp, tcount, ttype, win, NULL, &noop});
}

/* ---- the hot path: plain types ---- */

enum served { SERVED, MISSED, UNWANTED, UNDECIDED };

/* Whether this get must take the slow path. Requires the lock. */
static bool needs_care(struct window *w) {
    rma_acquire_catch_up(w);
    if (rma_check_is_on || w->fresh.recheck <= 1)
        return true;
    w->fresh.recheck--;
    return false;
}

/* Returns with the lock held if the get missed. */
static inline enum served serve_fast(struct window *w, struct rma_target *t, int target, uint64_t address,
                                     void *origin, uint64_t bytes) {
    enum served result = UNDECIDED;
    rma_lock();
    if (UNLIKELY(w->mode == MODE_ACQUIRE || rma_check_is_on) && needs_care(w)) {
        rma_unlock();
        return UNDECIDED;
    }
    const void *data = cache_find(w->cache, (uint32_t)target, address, bytes);
    if (LIKELY(data)) {
        if (UNLIKELY(rma_inflight_buffers)) {
            struct shape shape = shape_contiguous(bytes);
            rma_inflight_overlap(origin, &shape);
        }
        memcpy(origin, data, bytes);
        PROBE4(get_hit, w->serial, target, address, bytes);
        rma_get_note_hit(w, t, address, bytes);
        rma_get_note_asked(t, NULL, bytes);
        result = SERVED;
    } else if (!cache_admits(w->cache, (uint32_t)target, address)) {
        result = rma_inflight_buffers ? UNDECIDED : UNWANTED;
    } else if (cache_lacks(w->cache, (uint32_t)target, address)) {
        result = MISSED;
    }
    if (result != UNDECIDED)
        rma_record_seen(w, target, address, bytes, result == SERVED ? SEEN_HIT : SEEN_MISS);
    if (result != MISSED)
        rma_unlock();
    return result;
}

/* Bypass for plain types that the cache does not admit: the layouts need not be described. */
static int forward_fast(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes) {
    int rc = rma_get_forward(g);
    if (rc == MPI_SUCCESS) {
        rma_lock();
        rma_bypass_note(w, BYPASSED_sampled);
        rma_get_note_asked(t, g, bytes);
        rma_fetch_count(w, t, bytes);
        rma_admission_judge(w);
        rma_unlock();
    }
    return rc;
}

/* Counts the get, if it succeeded. Returns its code. */
static int get_ask(struct rma_target *t, const struct get *g, uint64_t bytes, int rc) {
    rma_lock();
    if (LIKELY(rc == MPI_SUCCESS))
        rma_get_note_asked(t, g, bytes);
    rma_unlock();
    return rc;
}

/* A miss for plain types. The lock is held on entry and released on return. */
static __attribute__((noinline)) int miss_plain(struct window *w, struct rma_target *t, const struct get *g,
                                                uint64_t address, uint64_t bytes) {
    struct access a;
    a.here = a.there = (struct layout){.shape = shape_contiguous(bytes)};
    a.address = address;
    a.bytes = bytes;
    a.buffer = g->origin;
    a.started = rma_admission_start(w);
    a.revalidates = false;
    rma_miss_restart_recheck(w);
    return get_ask(t, g, bytes, rma_miss_get(w, t, g, &a));
}

/* Not inlined: hook_Get needs few registers without it. */
static __attribute__((noinline)) int get_plain(void *origin, int ocount, MPI_Datatype otype, int target,
                                               MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_target_find(w, target) : NULL;
    enum served served = UNDECIDED;
    uint64_t osize, tsize, address = 0, bytes = 0;
    if (LIKELY(t && w->cache && ocount > 0 && tcount > 0 && origin &&
               layout_are_plain(otype, ttype, &osize, &tsize))) {
        bytes = (uint64_t)ocount * osize;
        address = t->base + (uint64_t)disp * t->unit;
        if (LIKELY(bytes == (uint64_t)tcount * tsize && rma_admission_is_open(w, t)))
            served = serve_fast(w, t, target, address, origin, bytes);
    }
    if (LIKELY(served == SERVED)) {
        rma_progress_poll();
        return MPI_SUCCESS;
    }
    const struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL};
    return served == MISSED     ? miss_plain(w, t, &g, address, bytes)
           : served == UNWANTED ? forward_fast(w, t, &g, bytes)
                                : get_serve(&g);
}

/* ---- any types ---- */

static int describe_side(MPI_Count count, MPI_Datatype type, struct layout *out) {
    uint64_t size;
    if (!layout_is_plain(type, &size))
        return layout_make(count, type, out);
    *out = (struct layout){.shape = shape_contiguous((uint64_t)count * size)};
    return 0;
}

static int get_describe(const struct rma_target *t, const struct get *g, struct access *a) {
    if (describe_side(g->ocount, g->otype, &a->here))
        return -1;
    if (describe_side(g->tcount, g->ttype, &a->there)) {
        layout_free(&a->here);
        return -1;
    }
    a->bytes = a->there.shape.bytes;
    a->address = t->base + (uint64_t)g->disp * t->unit + (uint64_t)a->there.offset;
    a->buffer = (char *)g->origin + a->here.offset;
    if (a->bytes && a->bytes == a->here.shape.bytes)
        return 0;
    layout_free(&a->here);
    layout_free(&a->there);
    return -1;
}

/* A type that was never used in a get may be uncommitted, and MPI does not see gets that the cache serves. A get of
 * zero elements with this type makes MPI validate it. */
static int get_judge(const struct get *g) {
    if (layout_is_trusted(g->otype) && layout_is_trusted(g->ttype))
        return MPI_SUCCESS;
    int rc = host_Get(NULL, 0, g->otype, MPI_PROC_NULL, 0, 0, g->ttype, g->win);
    if (rc == MPI_SUCCESS) {
        layout_trust(g->otype);
        layout_trust(g->ttype);
    }
    return rc;
}

/* ---- hits ---- */

/* Creates a completed request: MPI's own, of a get of zero elements from MPI_PROC_NULL. */
static int empty_request(const struct window *w, const struct get *g) {
    if (!g->request)
        return MPI_SUCCESS;
    int rc = host_Rget(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, g->win, g->request);
    if (rc == MPI_SUCCESS && w->mode == MODE_ACQUIRE) {
        rma_lock();
        rma_request_mark_nonsync(*g->request);
        rma_unlock();
    }
    return rc;
}

/* Returns whether the buffer overlaps that of a get in flight. */
static bool copy_out(struct window *w, uint32_t entry, const struct access *a, uint64_t bytes) {
    const void *data = cache_data(w->cache, entry);
    bool overlapped = UNLIKELY(rma_inflight_buffers) && rma_inflight_overlap(a->buffer, &a->here.shape);
    if (shape_is_contiguous(&a->here.shape))
        memcpy(a->buffer, data, bytes);
    else
        shape_scatter(a->buffer, &a->here.shape, data, bytes);
    return overlapped;
}

static int hit_full(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                    uint32_t entry) {
    PROBE4(get_hit, w->serial, g->target, a->address, a->bytes);
    cache_touch(w->cache, entry, a->bytes);
    copy_out(w, entry, a, a->bytes);
    rma_get_note_hit(w, t, a->address, a->bytes);
    rma_unlock();
    rma_progress_poll();
    return empty_request(w, g);
}

/* Copies the first `head` bytes from the cache and fetches the rest through MPI. The lock is held on entry and
 * released on return, as in the functions below. */
static int hit_head(struct window *w, struct rma_target *t, struct access *a, uint32_t entry, uint64_t head) {
    struct shape tail = shape_contiguous(a->bytes - head);
    struct op op = {.kind = OP_EXTEND,
                    .window = w,
                    .target = t,
                    .entry = CACHE_NONE,
                    .generation = cache_generation(w->cache),
                    .drops = w->fresh.drops,
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here};
    rma_inflight_inserts++; /* a write in flight must invalidate again when it completes */
    cache_touch(w->cache, entry, a->bytes);
    bool overlapped = copy_out(w, entry, a, head);
    rma_get_note_hit(w, t, a->address, head);
    rma_unlock();
    int rc = rma_fetch_bytes(w, t, a->address + head, &tail, a->buffer + head, &tail);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_fetch_count(w, t, tail.bytes);
    if (rc == MPI_SUCCESS && !overlapped)
        rma_inflight_add(&op);
    rma_unlock();
    return rc;
}

static bool copy_list(const struct shape *from, struct shape *to) {
    *to = *from;
    if (!from->list)
        return true;
    struct shape_block *list = malloc(from->blocks * sizeof *list);
    if (!list)
        return false;
    memcpy(list, from->list, from->blocks * sizeof *list);
    to->list = list;
    return true;
}

/* Fetches `bytes` bytes of a contiguous get, from byte `from` on. */
static int get_fetch_part(struct window *w, struct rma_target *t, const struct access *a, uint64_t from,
                          uint64_t bytes) {
    struct shape part = shape_contiguous(bytes);
    int rc = rma_fetch_bytes(w, t, a->address + from, &part, a->buffer + from, &part);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_fetch_count(w, t, bytes);
    rma_unlock();
    return rc;
}

/* Whether a get can join the one in flight that fetches this PENDING entry's data. */
static bool is_joinable(const struct window *w, uint32_t entry) {
    const struct op *bringer = rma_inflight_at(cache_owner_of(w->cache, entry));
    bool revalidates = w->mode == MODE_TRANSPARENT &&
                       bringer->acquired != atomic_load_explicit(&acquire_generation, memory_order_acquire);
    return bringer->kind == OP_FILL && !bringer->invalid && !revalidates;
}

/* Joins the get in flight that fetches this entry's data, or its first `head` bytes. Returns false if there is no memory; then
 * nothing was changed. */
static bool join_add(struct window *w, struct rma_target *t, struct access *a, uint32_t entry,
                     uint64_t head) {
    struct shape there = shape_contiguous(head);
    if (head == a->bytes && !copy_list(&a->there.shape, &there))
        return false;
    struct op op = {.kind = OP_JOIN,
                    .window = w,
                    .target = t,
                    .entry = CACHE_NONE,
                    .address = a->address,
                    .bytes = head,
                    .buffer = a->buffer,
                    .here = a->here,
                    .there = there};
    uint32_t id = rma_inflight_add(&op);
    if (id == NO_OP) {
        free((void *)there.list);
        return false;
    }
    a->here.owned = NULL; /* now owned by the operation */
    rma_inflight_join(id, cache_owner_of(w->cache, entry));
    cache_touch(w->cache, entry, a->bytes);
    rma_get_note_hit(w, t, a->address, head);
    return true;
}

/* The same for the first `head` bytes, if a get that fetches them is still in flight. */
static bool join_again(struct window *w, struct rma_target *t, struct access *a, uint64_t head) {
    struct shape first = shape_contiguous(head);
    rma_acquire_catch_up(w);
    uint32_t entry = cache_peek(w->cache, (uint32_t)t->head.rank, a->address);
    return entry != CACHE_NONE && cache_state_of(w->cache, entry) == CACHE_PENDING &&
           cache_covers(w->cache, entry, &first) == head && is_joinable(w, entry) &&
           join_add(w, t, a, entry, head);
}

/* Fetches all but the first `head` bytes, which the get in flight brings. The join follows only then: if the fetch fails, nothing
 * remains that would write to the buffer. If another thread completed or invalidated the get in flight meanwhile, the first bytes are
 * fetched, too. */
static int hit_pending_head(struct window *w, struct rma_target *t, struct access *a, uint64_t head) {
    rma_unlock();
    int rc = get_fetch_part(w, t, a, head, a->bytes - head);
    if (rc != MPI_SUCCESS)
        return rc;
    rma_lock();
    bool joined = join_again(w, t, a, head);
    if (!joined)
        rma_bypass_note(w, BYPASSED_overlap);
    rma_unlock();
    return joined ? MPI_SUCCESS : get_fetch_part(w, t, a, 0, head);
}

/* A get of data that is in flight, or whose first `head` bytes are. Returns false if it cannot join; then nothing was changed, and the
 * lock is still held. */
static bool hit_pending(struct window *w, struct rma_target *t, struct access *a, uint32_t entry,
                        uint64_t head, int *rc) {
    if (!is_joinable(w, entry) || rma_inflight_overlap(a->buffer, &a->here.shape))
        return false;
    if (head < a->bytes) {
        *rc = hit_pending_head(w, t, a, head);
        return true;
    }
    if (!join_add(w, t, a, entry, head))
        return false;
    rma_unlock();
    *rc = MPI_SUCCESS;
    return true;
}

/* Whether a hit must be fetched as well, and compared. */
static bool is_due(const struct window *w) {
    return rma_check_is_on || (w->mode == MODE_ACQUIRE && w->fresh.recheck <= 1);
}

/* Whether stale hits are to be found, and not only loops that poll to be ended. */
static bool finds_stale(const struct window *w) {
    return rma_check_is_on || w->fresh.is_auto;
}

/* A partial hit is one only if the buffer is contiguous. */
static bool can_compare_head(const struct window *w, const struct get *g, const struct access *a) {
    return finds_stale(w) && !g->request && !g->noop && shape_is_contiguous(&a->here.shape);
}

static bool can_compare_request(const struct window *w, const struct get *g) {
    return finds_stale(w) && rma_admission_is_reliable(g);
}

static int get_described(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    int rc;
    rma_lock();
    rma_acquire_catch_up(w);
    uint32_t entry = cache_lookup(w->cache, (uint32_t)g->target, a->address);
    uint64_t head = entry == CACHE_NONE ? 0 : cache_covers(w->cache, entry, &a->there.shape);
    if (!head) {
        rma_miss_restart_recheck(w);
        return rma_miss_get(w, t, g, a);
    }
    bool cached = cache_state_of(w->cache, entry) == CACHE_CACHED, whole = head == a->bytes;
    if (cached && is_due(w) && (whole || can_compare_head(w, g, a)))
        return g->request && !can_compare_request(w, g) ? rma_miss_refetch(w, t, g, a)
                                                        : rma_miss_recheck(w, t, g, a, entry, head);
    if (cached && (whole || w->fresh.is_auto))
        w->fresh.recheck -= w->fresh.recheck > 1;
    if (cached && whole)
        return hit_full(w, t, g, a, entry);
    if (g->request || g->noop || !(whole || shape_is_contiguous(&a->here.shape)))
        return rma_miss_get(w, t, g, a);
    if (cached)
        return hit_head(w, t, a, entry, head);
    if (hit_pending(w, t, a, entry, head, &rc))
        return rc;
    return rma_miss_get(w, t, g, a);
}

static int get_serve(const struct get *g) {
    struct access a;
    struct window *w = rma_window_find(g->win);
    if (!w)
        return rma_get_forward(g);
    struct rma_target *t = rma_target_find(w, g->target);
    uint64_t started = rma_admission_start(w);
    if (!t || g->ocount <= 0 || g->tcount <= 0 || !rma_admission_is_open(w, t) || get_describe(t, g, &a))
        return rma_bypass_get(w, t, g, false);
    a.started = started;
    a.revalidates = false;
    int rc = get_judge(g);
    if (rc == MPI_SUCCESS)
        rc = rma_admission_wants(w, g->target, a.address, a.bytes)
                 ? get_ask(t, g, a.bytes, get_described(w, t, g, &a))
                 : rma_bypass_get(w, t, g, true);
    layout_free(&a.here);
    layout_free(&a.there);
    return rc;
}

/* ---- to MPI ---- */

static int pass_noop(const struct get *g) {
    return host_Get_accumulate(g->noop->origin, g->noop->count, g->noop->type, g->origin, (int)g->ocount,
                               g->otype, g->target, g->disp, (int)g->tcount, g->ttype, MPI_NO_OP, g->win);
}

/* Whether MPI_Get has a place for the counts. */
static inline bool counts_are_ints(const struct get *g) {
    return !HEARTH_MPI_COUNTS || (g->ocount <= INT_MAX && g->tcount <= INT_MAX);
}

static int pass_get(const struct get *g) {
#if HEARTH_MPI_COUNTS
    if (!counts_are_ints(g))
        return g->request ? host_Rget_c(g->origin, g->ocount, g->otype, g->target, g->disp, g->tcount,
                                        g->ttype, g->win, g->request)
                          : host_Get_c(g->origin, g->ocount, g->otype, g->target, g->disp, g->tcount,
                                       g->ttype, g->win);
#endif
    return host_Rget(g->origin, (int)g->ocount, g->otype, g->target, g->disp, (int)g->tcount, g->ttype,
                     g->win, g->request);
}

int rma_get_forward(const struct get *g) {
    int rc;
    if (LIKELY(!g->noop && !g->request && counts_are_ints(g)))
        rc = host_Get(g->origin, (int)g->ocount, g->otype, g->target, g->disp, (int)g->tcount, g->ttype,
                      g->win);
    else
        rc = g->noop ? pass_noop(g) : pass_get(g);
    rma_progress_note();
    return rc;
}
