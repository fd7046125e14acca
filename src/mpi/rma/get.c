/* get.c: MPI_Get and MPI_Rget through the cache.
 *
 *      not admitted                     -> to MPI, and counted        (bypass.c)
 *      plain types, CACHED entry        -> copy, done                 (the hot path, in rma_get_slow)
 *      otherwise                        -> describe both sides, look up:
 *          CACHED, covers all bytes     -> copy
 *          CACHED, covers the first     -> copy those, get the rest
 *          PENDING                      -> join the get in flight
 *          no entry                     -> get, then reserve an entry while the data is in flight
 *
 * Whenever the cache cannot decide, the get goes to MPI unchanged, so that MPI reports the error: invalid arguments,
 * no epoch, types that cannot be described, sizes that differ. */
#include <limits.h>
#include <stdlib.h>

#include "mpi/rma/rma_check.h"
#include "mpi/core/hooks.h"
#include "mpi/rma/get.h"
#include "mpi/rma/target_admission.h"

/* The same, as bytes and addresses. */
struct access {
    struct layout here, there;
    uint64_t address; /* of the first byte at the target */
    uint64_t bytes;
    char *buffer;     /* first byte in the local buffer */
    uint64_t started; /* ticks, if this get is timed; else 0 */
    bool revalidates; /* cached, but fetched anyway to detect writes by other processes */
};

static int pass_noop(const struct get *g) {
    return host_Get_accumulate(g->noop->origin, g->noop->count, g->noop->type, g->origin, (int)g->ocount,
                               g->otype, g->target, g->disp, (int)g->tcount, g->ttype, MPI_NO_OP, g->win);
}

int rma_get_forward(const struct get *g) {
    int rc;
    if (UNLIKELY(g->noop != NULL))
        rc = pass_noop(g);
    else
#if MPI_VERSION >= 4
        if (g->ocount > INT_MAX || g->tcount > INT_MAX)
        rc = g->request ? host_Rget_c(g->origin, g->ocount, g->otype, g->target, g->disp, g->tcount, g->ttype,
                                      g->win, g->request)
                        : host_Get_c(g->origin, g->ocount, g->otype, g->target, g->disp, g->tcount, g->ttype,
                                     g->win);
    else
#endif
        rc = g->request ? host_Rget(g->origin, (int)g->ocount, g->otype, g->target, g->disp, (int)g->tcount,
                                    g->ttype, g->win, g->request)
                        : host_Get(g->origin, (int)g->ocount, g->otype, g->target, g->disp, (int)g->tcount,
                                   g->ttype, g->win);
    rma_progress_note();
    return rc;
}

/* Creates a committed type for bytes that begin `rest` bytes after the displacement. */
static int shifted_type(const struct shape *shape, uint64_t rest, MPI_Datatype *type) {
    MPI_Datatype inner;
    MPI_Aint place = (MPI_Aint)rest;
    int one = 1, rc = layout_to_type(shape, &inner);
    if (rc || !rest) {
        *type = inner;
        return rc;
    }
    rc = host_Type_create_hindexed(1, &one, &place, inner, type);
    host_Type_free(&inner);
    return rc ? rc : host_Type_commit(type);
}

static int fetch_shaped(struct window *w, int target, MPI_Aint disp, uint64_t rest, const struct shape *there,
                        void *buffer, const struct shape *here) {
    MPI_Datatype here_type, there_type;
    int rc = shifted_type(there, rest, &there_type);
    if (rc)
        return rc;
    rc = layout_to_type(here, &here_type);
    if (!rc) {
        rc = host_Get(buffer, 1, here_type, target, disp, 1, there_type, w->handle);
        host_Type_free(&here_type);
    }
    host_Type_free(&there_type);
    return rc;
}

int rma_get_fetch(struct window *w, int target, uint64_t address, const struct shape *there, void *buffer,
                  const struct shape *here) {
    struct rma_target *t = &w->targets[target];
    MPI_Aint disp = (MPI_Aint)((address - t->base) / t->unit);
    uint64_t rest = (address - t->base) % t->unit;
    int rc, n = (int)there->bytes;
    if (!rest && shape_is_contiguous(there) && shape_is_contiguous(here) && there->bytes <= INT_MAX)
        rc = host_Get(buffer, n, MPI_BYTE, target, disp, n, MPI_BYTE, w->handle);
    else
        rc = fetch_shaped(w, target, disp, rest, there, buffer, here);
    rma_progress_note();
    return rc;
}

/* ---- admission ---- */

static bool eligible(const struct window *w, const struct rma_target *t, const struct get *g) {
    return t && !w->bypassing && t->verdict != VERDICT_BYPASS && g->ocount > 0 && g->tcount > 0 &&
           rma_window_is_open_to(w, t);
}

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

static inline void note_hit(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes) {
    w->gets++;
    w->hits++;
    w->bytes_served += bytes;
    w->hit = true;
    if (UNLIKELY(!rma_window_is_held(w, t))) {
        w->hit_unheld = true;
        rma_window_mark_busy(w, t); /* so that the flush visits this target */
    }
    t->hit_stamp = w->flush_stamp;
    t->last_hit = address;
    rma_window_use(w, t);
    if (UNLIKELY(w->ahead))
        rma_ahead_hit(w, t, address, bytes);
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
    cache_touch(w->cache, entry, a->bytes);
    copy_out(w, entry, a, a->bytes);
    note_hit(w, t, a->address, a->bytes);
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
                    .target = (int)(t - w->targets),
                    .entry = CACHE_NONE,
                    .generation = cache_generation(w->cache),
                    .drops = w->drops,
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here};
    rma_write_inserts++; /* a write in flight must invalidate again when it completes */
    cache_touch(w->cache, entry, a->bytes);
    bool overlapped = copy_out(w, entry, a, head);
    note_hit(w, t, a->address, head);
    rma_unlock();
    int rc = rma_get_fetch(w, op.target, a->address + head, &tail, a->buffer + head, &tail);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_get_issued(w, t, tail.bytes);
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

static int get_fetch_rest(struct window *w, struct rma_target *t, const struct access *a, uint64_t head) {
    struct shape rest = shape_contiguous(a->bytes - head);
    int rc = rma_get_fetch(w, (int)(t - w->targets), a->address + head, &rest, a->buffer + head, &rest);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_get_issued(w, t, rest.bytes);
    rma_unlock();
    return rc;
}

/* Joins the get in flight that fetches this entry's data, or its first `head` bytes. Returns false if that is not
 * possible; then nothing was changed. */
static bool hit_pending(struct window *w, struct rma_target *t, struct access *a, uint32_t entry,
                        uint64_t head, int *rc) {
    uint32_t source = cache_owner_of(w->cache, entry);
    struct shape there = shape_contiguous(head);
    const struct op *bringer = rma_inflight_at(source);
    bool revalidates = w->mode == MODE_TRANSPARENT &&
                       bringer->acquired != atomic_load_explicit(&acquire_generation, memory_order_acquire);
    if (bringer->kind != OP_FILL || bringer->invalid || revalidates ||
        rma_inflight_overlap(a->buffer, &a->here.shape))
        return false;
    if (head == a->bytes && !copy_list(&a->there.shape, &there))
        return false;
    struct op op = {.kind = OP_JOIN,
                    .window = w,
                    .target = (int)(t - w->targets),
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
    rma_inflight_join(id, source);
    cache_touch(w->cache, entry, a->bytes);
    note_hit(w, t, a->address, head);
    rma_unlock();
    *rc = head < a->bytes ? get_fetch_rest(w, t, a, head) : MPI_SUCCESS;
    return true;
}

/* ---- misses ---- */

/* Polling loops must terminate although their gets hit: one in a random number of consecutive hits is revalidated. It
 * is fetched again and compared on completion. */
static void draw_recheck(struct window *w) {
    static struct random random = {.state = 0x5eed};
    uint64_t mean = settings_get()->recheck;
    w->recheck = mean ? 1 + random_below(&random, (uint32_t)(2 * mean - 1)) : UINT64_MAX;
}

/* The operation that will compare; its `cached` is NULL if memory ran out. Requires the lock. */
static struct op comparison(struct window *w, const struct get *g, const struct access *a, uint32_t entry) {
    struct op op = {.kind = OP_RECHECK,
                    .window = w,
                    .target = g->target,
                    .entry = CACHE_NONE,
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here,
                    .cached = malloc(a->bytes),
                    .filled = cache_owner_of(w->cache, entry)};
    if (op.cached)
        memcpy(op.cached, cache_data(w->cache, entry), a->bytes);
    return op;
}

static int recheck(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                   uint32_t entry) {
    struct op op = comparison(w, g, a, entry);
    bool keep = op.cached && !(rma_inflight_buffers && rma_inflight_overlap(a->buffer, &a->here.shape));
    if (rma_check_is_on) {
        cache_touch(w->cache, entry, a->bytes);
        note_hit(w, t, a->address, a->bytes);
    } else {
        w->gets++;
        w->bypassed++;
    }
    draw_recheck(w);
    rma_unlock();
    int rc = rma_get_forward(g);
    rma_lock();
    if (rc == MPI_SUCCESS)
        rma_get_issued(w, t, a->bytes);
    keep = keep && rc == MPI_SUCCESS && rma_inflight_add(&op) != NO_OP;
    rma_unlock();
    if (keep)
        a->here.owned = NULL; /* now owned by the operation */
    else
        free(op.cached);
    return rc;
}

/* The moment at which a get was issued, as the counters that can make its data stale before it is cached. */
struct moment {
    uint64_t generation, drops, acquired;
};

static struct moment get_now(const struct window *w) {
    return (struct moment){.generation = cache_generation(w->cache),
                           .drops = w->drops,
                           .acquired = atomic_load_explicit(&acquire_generation, memory_order_acquire)};
}

/* Reserves an entry for a get in flight. Returns false if the data cannot be kept. Requires the lock. */
static bool get_reserve(struct window *w, const struct get *g, struct access *a,
                        const struct moment *issued) {
    uint32_t entry;
    rma_score_entry(w, g->target, a->address, a->bytes);
    if (cache_insert(w->cache, (uint32_t)g->target, a->address, &a->there.shape, issued->generation,
                     &entry) == CACHE_FAILING)
        return false;
    rma_write_inserts++;
    struct op op = {.kind = g->request ? OP_REQUEST : OP_FILL,
                    .revalidates = a->revalidates,
                    .window = w,
                    .target = g->target,
                    .entry = entry,
                    .generation = issued->generation,
                    .acquired = issued->acquired,
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here};
    uint32_t id = rma_inflight_add(&op);
    if (id == NO_OP) {
        cache_drop(w->cache, entry);
        return false;
    }
    a->here.owned = NULL; /* now owned by the operation */
    cache_set_owner(w->cache, entry, id);
    if (g->request)
        rma_request_track(id, *g->request);
    return true;
}

static void count_miss(struct window *w, struct rma_target *t, const struct get *g, struct access *a,
                       const struct moment *issued, bool keep) {
    keep = keep && issued->drops == w->drops; /* otherwise another thread has written in the meantime */
    w->gets++;
    w->bypassed += !keep;
    if (!keep || !get_reserve(w, g, a, issued))
        rma_bypass_count(w, t, g, a->bytes, a->revalidates);
    else if (g->request)
        w->bytes_fetched += a->bytes;
    else
        rma_get_issued(w, t, a->bytes);
    rma_admission_judge(w);
}

/* Whether read-ahead may add a further get to this one. */
static bool is_simple(const struct get *g, const struct access *a) {
    return !g->request && !g->noop && shape_is_contiguous(&a->there.shape);
}

/* Issues the get first, so that the search for storage overlaps with it. The lock is held on entry and released on
 * return. */
static int miss(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    struct moment issued = get_now(w);
    bool keep = !g->request || (w->mode != MODE_TRANSPARENT && rma_bypass_is_reliable(g));
    if (UNLIKELY(rma_inflight_buffers) && rma_inflight_overlap(a->buffer, &a->here.shape))
        keep = false;
    uint64_t ticks = rma_admission_target_start(t), before = a->started ? clock_ticks() : 0;
    rma_unlock();
    int rc = rma_get_forward(g);
    uint64_t after = before ? clock_ticks() : 0;
    rma_lock();
    if (rc == MPI_SUCCESS) {
        rma_admission_target_get(t, ticks, a->bytes);
        count_miss(w, t, g, a, &issued, keep);
    }
    if (UNLIKELY(w->ahead) && rc == MPI_SUCCESS && is_simple(g, a))
        rma_ahead_missed(w, t, a->address, a->bytes, ticks != 0);
    if (UNLIKELY(before))
        rma_admission_miss(w, before - a->started + clock_ticks() - after, after - before);
    rma_unlock();
    return rc;
}

/* Revalidates a hit that has a request: the data is not compared. Its completion counts as a sync event. */
static int refetch(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    a->revalidates = w->mode == MODE_ACQUIRE;
    draw_recheck(w);
    return miss(w, t, g, a);
}

static int get_described(struct window *w, struct rma_target *t, const struct get *g, struct access *a) {
    int rc;
    rma_lock();
    rma_acquire_catch_up(w);
    uint32_t entry = cache_lookup(w->cache, (uint32_t)g->target, a->address);
    uint64_t head = entry == CACHE_NONE ? 0 : cache_covers(w->cache, entry, &a->there.shape);
    if (!head) {
        draw_recheck(w);
        return miss(w, t, g, a);
    }
    bool cached = cache_state_of(w->cache, entry) == CACHE_CACHED, whole = head == a->bytes;
    if (cached && whole && (rma_check_is_on || (w->mode == MODE_ACQUIRE && w->recheck <= 1)))
        return g->request ? refetch(w, t, g, a) : recheck(w, t, g, a, entry);
    if (cached && whole) {
        w->recheck -= w->recheck > 1;
        return hit_full(w, t, g, a, entry);
    }
    if (g->request || g->noop || !(whole || shape_is_contiguous(&a->here.shape)))
        return miss(w, t, g, a);
    if (cached)
        return hit_head(w, t, a, entry, head);
    if (hit_pending(w, t, a, entry, head, &rc))
        return rc;
    return miss(w, t, g, a);
}

static bool wants(struct window *w, const struct get *g, const struct access *a) {
    if (!rma_window_cache(w))
        return false;
    rma_lock();
    bool wanted = cache_wants(w->cache, (uint32_t)g->target, a->address);
    rma_record_seen(w, g->target, a->address, a->bytes, wanted ? SEEN_OPEN : SEEN_MISS);
    rma_unlock();
    return wanted;
}

static int get_serve(const struct get *g) {
    struct access a;
    struct window *w = rma_window_find(g->win);
    if (!w)
        return rma_get_forward(g);
    struct rma_target *t = rma_window_target(w, g->target);
    uint64_t started = rma_admission_start(w);
    if (!eligible(w, t, g) || get_describe(t, g, &a))
        return rma_bypass_get(w, t, g, false);
    a.started = started;
    a.revalidates = false;
    int rc = get_judge(g);
    if (rc == MPI_SUCCESS)
        rc = wants(w, g, &a) ? get_described(w, t, g, &a) : rma_bypass_get(w, t, g, true);
    layout_free(&a.here);
    layout_free(&a.there);
    return rc;
}

/* ---- the hot path ---- */

enum served { SERVED, UNWANTED, UNDECIDED };

/* Whether this get must take the slow path. Requires the lock. */
static bool needs_care(struct window *w) {
    rma_acquire_catch_up(w);
    if (rma_check_is_on || w->recheck <= 1)
        return true;
    w->recheck--;
    return false;
}

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
        note_hit(w, t, address, bytes);
        result = SERVED;
    } else if (!rma_inflight_buffers && !cache_wants(w->cache, (uint32_t)target, address)) {
        result = UNWANTED;
    }
    if (result != UNDECIDED)
        rma_record_seen(w, target, address, bytes, result == SERVED ? SEEN_HIT : SEEN_MISS);
    rma_unlock();
    return result;
}

/* Bypass for plain types that the cache does not admit: the layouts need not be described. */
static int forward_fast(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes) {
    int rc = rma_get_forward(g);
    if (rc == MPI_SUCCESS) {
        rma_lock();
        rma_bypass_note(w);
        rma_get_issued(w, t, bytes);
        rma_admission_judge(w);
        rma_unlock();
    }
    return rc;
}

int rma_get_slow(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                 MPI_Datatype ttype, MPI_Win win) {
    const struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL};
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    uint64_t osize, tsize;
    if (LIKELY(t && w->cache && ocount > 0 && tcount > 0 && origin && layout_is_plain(otype, &osize) &&
               layout_is_plain(ttype, &tsize))) {
        uint64_t bytes = (uint64_t)ocount * osize;
        if (LIKELY(bytes == (uint64_t)tcount * tsize && !w->bypassing && t->verdict != VERDICT_BYPASS &&
                   rma_window_is_open_to(w, t))) {
            switch (serve_fast(w, t, target, t->base + (uint64_t)disp * t->unit, origin, bytes)) {
            case SERVED:
                rma_progress_poll();
                return MPI_SUCCESS;
            case UNWANTED:
                return forward_fast(w, t, &g, bytes);
            case UNDECIDED:
                break;
            }
        }
    }
    return get_serve(&g);
}

int rma_get_noop(const void *nothing, int ncount, MPI_Datatype ntype, void *result, int rcount,
                 MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win) {
    struct noop noop = {nothing, ncount, ntype};
    return get_serve(&(struct get){result, rcount, rtype, target, disp, tcount, ttype, win, NULL, &noop});
}

int hook_Rget(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request, NULL});
}

#if MPI_VERSION >= 4
int hook_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, NULL, NULL});
}

int hook_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get_serve(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request, NULL});
}
#endif
