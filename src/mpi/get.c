/* get.c: MPI_Get and MPI_Rget.
 *
 *      plain types, CACHED entry      -> copy, done                                       (the hot path, in
 * hook_Get) otherwise                      -> describe both sides, look up: CACHED, covers all         ->
 * copy CACHED, covers the head    -> copy the head, get the tail PENDING                    -> join the get
 * that brings it nothing                    -> get, then reserve an entry while the data is on its way
 *
 * Everything that the cache is not sure about goes to MPI as it came, so that MPI judges it: wrong arguments,
 * no epoch, types that cannot be described, sizes that differ. */
#include <limits.h>
#include <stdlib.h>

#include "mpi/hooks.h"
#include "mpi/measure.h"
#include "mpi/rma.h"

/* The arguments of a get. request is NULL for MPI_Get. */
struct get {
    void *origin;
    MPI_Count ocount;
    MPI_Datatype otype;
    int target;
    MPI_Aint disp;
    MPI_Count tcount;
    MPI_Datatype ttype;
    MPI_Win win;
    MPI_Request *request;
};

/* The same, as bytes. */
struct access {
    struct layout here, there;
    uint64_t address; /* of the first byte at the target */
    uint64_t bytes;
    char *buffer; /* first byte here */
};

static int pass(const struct get *g) {
    int rc;
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
    progress_note();
    return rc;
}

void get_issued(struct window *w, struct target *t, uint64_t bytes) {
    t->last_get = inflight_issued++;
    t->alone++;
    w->bytes_fetched += bytes;
    window_mark_busy(w, t);
}

/* A committed type for bytes that begin `rest` bytes behind the displacement. */
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

int fetch(struct window *w, int target, uint64_t address, const struct shape *there, void *buffer,
          const struct shape *here) {
    struct target *t = &w->targets[target];
    MPI_Aint disp = (MPI_Aint)((address - t->base) / t->unit);
    uint64_t rest = (address - t->base) % t->unit;
    int rc, n = (int)there->bytes;
    if (!rest && shape_is_contiguous(there) && shape_is_contiguous(here) && there->bytes <= INT_MAX)
        rc = host_Get(buffer, n, MPI_BYTE, target, disp, n, MPI_BYTE, w->handle);
    else
        rc = fetch_shaped(w, target, disp, rest, there, buffer, here);
    progress_note();
    if (!rc)
        get_issued(w, t, there->bytes);
    return rc;
}

/* ---- not for the cache ---- */

/* Whether the data is there once the request is complete. MPICH 4.0 completes requests of gets with types
 * that are not contiguous too early; only a flush brings the data then. */
static bool is_reliable(const struct get *g) {
#ifdef MPICH
    const struct layout_type *here = layout_find(g->otype), *there = layout_find(g->ttype);
    return here && there && here->element.predefined && there->element.predefined;
#else
    return true;
#endif
}

static void track_request(struct window *w, struct target *t, const struct get *g, uint64_t bytes) {
    struct op op = {.kind = OP_PLAIN, .window = w, .target = g->target, .entry = CACHE_NONE};
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

/* A get of no interest to the cache. */
static void count_get(struct window *w, struct target *t, const struct get *g, uint64_t bytes) {
    if (g->request && is_reliable(g))
        track_request(w, t, g, bytes);
    else
        get_issued(w, t, bytes);
}

/* Gets in flight to the buffer of one that bypasses the cache are spoiled all the same. */
static void disturb_buffer(const struct get *g) {
    struct layout here;
    if (g->ocount <= 0 || layout_make(g->ocount, g->otype, &here))
        return;
    rma_lock();
    inflight_disturb((char *)g->origin + here.offset, &here.shape);
    rma_unlock();
    layout_free(&here);
}

/* Leaves the get to MPI, and only counts it. */
static int bypass(struct window *w, struct target *t, const struct get *g) {
    if (UNLIKELY(inflight_buffers) && t)
        disturb_buffer(g);
    int rc = pass(g);
    if (rc != MPI_SUCCESS || !t)
        return rc;
    rma_lock();
    w->gets++;
    w->bypassed++;
    if (window_caches(w)) { /* else no flush is ever passed over, and nothing needs counting */
        count_get(w, t, g, size_of(g));
    }
    rma_unlock();
    return rc;
}

static bool eligible(const struct window *w, const struct target *t, const struct get *g) {
    if (!window_caches(w) || !t || g->ocount <= 0 || g->tcount <= 0 || !window_is_open_to(w, t))
        return false;
    enum bypass rule = (enum bypass)settings_get()->bypass;
    if (rule == BYPASS_NEVER)
        return true;
    return rule == BYPASS_AUTO && g->target != w->rank && t->verdict != VERDICT_BYPASS;
}

static int describe_side(MPI_Count count, MPI_Datatype type, struct layout *out) {
    uint64_t size;
    if (!layout_is_plain(type, &size))
        return layout_make(count, type, out);
    *out = (struct layout){.shape = shape_contiguous((uint64_t)count * size)};
    return 0;
}

static int describe(const struct target *t, const struct get *g, struct access *a) {
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

/* A type that was not yet used in a get may not be committed. What the cache serves MPI does not see, so it
 * is asked: a get of nothing, with this type, says what MPI thinks of it. */
static int judge(const struct get *g) {
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

/* A completed request: MPI's own, of a get that has nothing to do. */
static int empty_request(const struct get *g) {
    return g->request ? host_Rget(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, g->win, g->request)
                      : MPI_SUCCESS;
}

static inline void note_hit(struct window *w, struct target *t, uint64_t bytes) {
    w->gets++;
    w->bytes_served += bytes;
    w->hit = true;
    t->hit_stamp = w->flush_stamp;
}

/* Returns whether the buffer was that of a get in flight. */
static bool copy_out(struct window *w, uint32_t entry, const struct access *a, uint64_t bytes) {
    const void *data = cache_data(w->cache, entry);
    bool disturbed = UNLIKELY(inflight_buffers) && inflight_disturb(a->buffer, &a->here.shape);
    if (shape_is_contiguous(&a->here.shape))
        memcpy(a->buffer, data, bytes);
    else
        shape_scatter(a->buffer, &a->here.shape, data, bytes);
    return disturbed;
}

static int hit_full(struct window *w, struct target *t, const struct get *g, struct access *a,
                    uint32_t entry) {
    cache_touch(w->cache, entry, a->bytes);
    copy_out(w, entry, a, a->bytes);
    note_hit(w, t, a->bytes);
    rma_unlock();
    progress_poll();
    return empty_request(g);
}

/* The head from the cache, the tail through MPI. With the lock held on entry, as for all that follow. */
static int hit_head(struct window *w, struct target *t, struct access *a, uint32_t entry, uint64_t head) {
    struct shape tail = shape_contiguous(a->bytes - head);
    struct op op = {.kind = OP_EXTEND,
                    .window = w,
                    .target = (int)(t - w->targets),
                    .entry = CACHE_NONE,
                    .generation = cache_generation(w->cache),
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here};
    cache_touch(w->cache, entry, a->bytes);
    bool disturbed = copy_out(w, entry, a, head);
    note_hit(w, t, head);
    rma_unlock();
    int rc = fetch(w, op.target, a->address + head, &tail, a->buffer + head, &tail);
    rma_lock();
    if (rc == MPI_SUCCESS && !disturbed)
        inflight_add(&op);
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

/* Joins the get that brings this entry's data, or the first `head` bytes of it. False: not possible, nothing
 * done. */
static bool hit_pending(struct window *w, struct target *t, struct access *a, uint32_t entry, uint64_t head,
                        int *rc) {
    uint32_t source = cache_owner_of(w->cache, entry);
    struct shape there = shape_contiguous(head), rest = shape_contiguous(a->bytes - head);
    const struct op *bringer = inflight_at(source);
    if (bringer->kind != OP_FILL || bringer->spoiled || inflight_disturb(a->buffer, &a->here.shape))
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
    uint32_t id = inflight_add(&op);
    if (id == NO_OP) {
        free((void *)there.list);
        return false;
    }
    a->here.owned = NULL; /* now the operation's */
    inflight_join(id, source);
    cache_touch(w->cache, entry, a->bytes);
    note_hit(w, t, head);
    rma_unlock();
    *rc = rest.bytes ? fetch(w, op.target, a->address + head, &rest, a->buffer + head, &rest) : MPI_SUCCESS;
    return true;
}

/* ---- misses ---- */

/* Reserves an entry for a get that is on its way; false if it cannot be kept. Under the lock. */
static bool reserve(struct window *w, const struct get *g, struct access *a, uint64_t generation) {
    uint32_t entry;
    if (cache_insert(w->cache, (uint32_t)g->target, a->address, &a->there.shape, generation, &entry) ==
        CACHE_FAILING)
        return false;
    write_inserts++;
    struct op op = {.kind = g->request ? OP_REQUEST : OP_FILL,
                    .window = w,
                    .target = g->target,
                    .entry = entry,
                    .generation = generation,
                    .address = a->address,
                    .bytes = a->bytes,
                    .buffer = a->buffer,
                    .here = a->here};
    uint32_t id = inflight_add(&op);
    if (id == NO_OP) {
        cache_drop(w->cache, entry);
        return false;
    }
    a->here.owned = NULL; /* now the operation's */
    cache_set_owner(w->cache, entry, id);
    if (g->request)
        request_track(id, *g->request);
    return true;
}

static void count_miss(struct window *w, struct target *t, const struct get *g, struct access *a,
                       uint64_t generation, bool keep) {
    w->gets++;
    w->bypassed += !keep;
    if (!keep || !reserve(w, g, a, generation))
        count_get(w, t, g, a->bytes);
    else if (g->request)
        w->bytes_fetched += a->bytes;
    else
        get_issued(w, t, a->bytes);
}

/* The get goes out first: looking for room overlaps with it. The lock is held on entry, and released. */
static int miss(struct window *w, struct target *t, const struct get *g, struct access *a) {
    uint64_t generation = cache_generation(w->cache);
    bool keep = !g->request || (w->mode != MODE_TRANSPARENT && is_reliable(g));
    if (UNLIKELY(inflight_buffers) && inflight_disturb(a->buffer, &a->here.shape))
        keep = false;
    rma_unlock();
    uint64_t ticks = measure_start(t);
    int rc = pass(g);
    rma_lock();
    if (rc == MPI_SUCCESS) {
        measure_get(t, ticks, a->bytes);
        count_miss(w, t, g, a, generation, keep);
    }
    rma_unlock();
    return rc;
}

static int get_described(struct window *w, struct target *t, const struct get *g, struct access *a) {
    int rc;
    rma_lock();
    uint32_t entry = cache_lookup(w->cache, (uint32_t)g->target, a->address);
    uint64_t head = entry == CACHE_NONE ? 0 : cache_covers(w->cache, entry, &a->there.shape);
    if (!head)
        return miss(w, t, g, a);
    bool cached = cache_state_of(w->cache, entry) == CACHE_CACHED, whole = head == a->bytes;
    if (cached && whole)
        return hit_full(w, t, g, a, entry);
    if (g->request || !(whole || shape_is_contiguous(&a->here.shape)))
        return miss(w, t, g, a);
    if (cached)
        return hit_head(w, t, a, entry, head);
    if (hit_pending(w, t, a, entry, head, &rc))
        return rc;
    return miss(w, t, g, a);
}

static int get(const struct get *g) {
    struct access a;
    struct window *w = window_find(g->win);
    if (!w)
        return pass(g);
    struct target *t = window_target(w, g->target);
    if (!eligible(w, t, g) || describe(t, g, &a))
        return bypass(w, t, g);
    bool wanted = window_cache(w) && cache_wants(w->cache, (uint32_t)g->target, a.address);
    int rc = judge(g);
    if (rc == MPI_SUCCESS)
        rc = wanted ? get_described(w, t, g, &a) : bypass(w, t, g);
    layout_free(&a.here);
    layout_free(&a.there);
    return rc;
}

/* ---- the hot path ---- */

static inline bool serve_plain(struct window *w, struct target *t, int target, uint64_t address, void *origin,
                               uint64_t bytes) {
    rma_lock();
    const void *data = cache_find(w->cache, (uint32_t)target, address, bytes);
    if (LIKELY(data)) {
        if (UNLIKELY(inflight_buffers)) {
            struct shape shape = shape_contiguous(bytes);
            inflight_disturb(origin, &shape);
        }
        memcpy(origin, data, bytes);
        note_hit(w, t, bytes);
    }
    rma_unlock();
    return data;
}

/* What the cache does not want, of plain types: no need to describe it. */
static int pass_plain(struct window *w, struct target *t, const struct get *g, uint64_t bytes) {
    int rc = pass(g);
    if (rc == MPI_SUCCESS) {
        rma_lock();
        w->gets++;
        w->bypassed++;
        get_issued(w, t, bytes);
        rma_unlock();
    }
    return rc;
}

int hook_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    const struct get g = {origin, ocount, otype, target, disp, tcount, ttype, win, NULL};
    struct window *w = window_find(win);
    uint64_t osize, tsize;
    if (LIKELY(w && w->cache && ocount > 0 && tcount > 0 && origin && layout_is_plain(otype, &osize) &&
               layout_is_plain(ttype, &tsize))) {
        struct target *t = window_target(w, target);
        uint64_t bytes = (uint64_t)ocount * osize;
        if (LIKELY(t && bytes == (uint64_t)tcount * tsize && t->verdict != VERDICT_BYPASS &&
                   w->mode != MODE_OFF && window_is_open_to(w, t))) {
            uint64_t address = t->base + (uint64_t)disp * t->unit;
            if (serve_plain(w, t, target, address, origin, bytes)) {
                progress_poll();
                return MPI_SUCCESS;
            }
            if (!inflight_buffers && !cache_wants(w->cache, (uint32_t)target, address))
                return pass_plain(w, t, &g, bytes);
        }
    }
    return get(&g);
}

int hook_Rget(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request});
}

#if MPI_VERSION >= 4
int hook_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    return get(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, NULL});
}

int hook_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    return get(&(struct get){origin, ocount, otype, target, disp, tcount, ttype, win, request});
}
#endif
