/* write.c: this process's own writes. A write makes the cached entries that it overlaps stale, in every window over
 * that memory and in every mode. They are dropped when the write is issued, and again when it is complete at the
 * target, because a get in between may have fetched the old bytes.
 *
 * Entries are keyed by address in the target's memory, not by displacement, so that the same bytes are recognised
 * through any window. */
#include "mpi/windows/caching/write.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/settings.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/alias.h"
#include "mpi/windows/caching/get.h"
#include "mpi/windows/caching/noop.h"
#include "mpi/windows/caching/target.h"
#include "mpi/windows/caching/window/rma_progress.h"
#include "tables/shape.h"

enum { MOST_WRITES = 4096 }; /* tracked per target; beyond that, the whole cache is invalidated */

static void drop_in(struct window *w, int target, const struct write *write) {
    if (!w->cache)
        return;
    w->fresh.drops++;
    if (UNLIKELY(w->analysis.whatif != NULL) && write)
        cache_whatif_write(w->analysis.whatif, (uint32_t)target, write->address);
    if (UNLIKELY(w->analysis.reuse != NULL) && write)
        cache_reuse_write(w->analysis.reuse, (uint32_t)target, write->address);
    if (write)
        cache_write(w->cache, (uint32_t)target, write->address, &write->layout.shape);
    else /* the written range is unknown */
        cache_invalidate(w->cache);
}

void rma_write_drop(struct window *w, int target, const struct write *write) {
    drop_in(w, target, write);
    for (size_t i = 0; i < w->aliases.count; i++) {
        int there = rma_alias_rank_there(w, &w->aliases.list[i], target);
        if (there >= 0)
            drop_in(w->aliases.list[i].window, there, write);
    }
}

/* Writes that another thread issued meanwhile stay. They drop entries as well, because one of them may be merged with a write that is
 * complete. */
void rma_write_completed_slow(struct window *w, struct rma_target *t, uint64_t before) {
    int target = t->head.rank;
    bool again = rma_inflight_inserts != t->inserts_before;
    uint32_t kept = 0;
    if (again && t->writes_unknown)
        rma_write_drop(w, target, NULL);
    for (uint32_t i = 0; i < t->write_count; i++) {
        if (again && !t->writes_unknown)
            rma_write_drop(w, target, &t->writes[i]);
        if (t->writes[i].number < before)
            layout_free(&t->writes[i].layout);
        else
            t->writes[kept++] = t->writes[i];
    }
    t->write_count = kept;
}

/* Merges consecutive blocks, the pattern of most programs. */
static bool write_merge(struct rma_target *t, const struct write *write) {
    struct write *last = t->write_count ? &t->writes[t->write_count - 1] : NULL;
    if (!last || !shape_is_contiguous(&last->layout.shape) || !shape_is_contiguous(&write->layout.shape) ||
        last->address + last->layout.shape.bytes != write->address)
        return false;
    last->layout.shape = shape_contiguous(last->layout.shape.bytes + write->layout.shape.bytes);
    last->number = write->number;
    return true;
}

static int write_remember(struct rma_target *t, struct write *write) {
    if (write_merge(t, write))
        return 0;
    if (t->write_count == MOST_WRITES)
        return -ENOMEM;
    if (t->write_count == t->write_room) {
        uint32_t room = t->write_room ? 2 * t->write_room : 16;
        struct write *more = realloc(t->writes, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        t->writes = more;
        t->write_room = room;
    }
    t->writes[t->write_count++] = *write;
    write->layout.owned = NULL;
    return 0;
}

/* Whether any cache can hold data of memory that this window writes, or gets that its cache tracks may be in flight. */
static bool matters(const struct window *w) {
    return rma_admission_caches(w) || w->cache || w->aliases.count;
}

/* One write, from write_begin to write_finish. */
struct issue {
    struct window *window; /* NULL: not tracked */
    struct rma_target *target;
    enum { WRITES_NOTHING, WRITES_KNOWN, WRITES_UNKNOWN } what;
    struct write write;
    uint64_t inserts;
};

static bool write_describe(struct issue *i, MPI_Aint disp, MPI_Count count, MPI_Datatype type) {
    const struct rma_target *t = i->target;
    if (layout_make(count, type, &i->write.layout))
        return false;
    i->write.address = t->base + (uint64_t)disp * t->unit + (uint64_t)i->write.layout.offset;
    return true;
}

/* Before the write is issued: drops the entries that it overlaps. */
static void write_begin(struct issue *i, MPI_Win win, int rank, MPI_Aint disp, MPI_Count count,
                        MPI_Datatype type, MPI_Op op) {
    *i = (struct issue){.window = rma_window_find(win), .what = WRITES_NOTHING};
    i->target = i->window ? rma_target_find(i->window, rank) : NULL;
    if (!i->target || !matters(i->window)) {
        if (i->window)
            i->window->wrote = true;
        i->window = NULL;
        return;
    }
    if (count > 0 && op != MPI_NO_OP)
        i->what = write_describe(i, disp, count, type) ? WRITES_KNOWN : WRITES_UNKNOWN;
    rma_lock();
    i->inserts = rma_inflight_inserts;
    if (i->what != WRITES_NOTHING)
        rma_write_drop(i->window, rank, i->what == WRITES_KNOWN ? &i->write : NULL);
    rma_unlock();
}

static void count_issued(struct issue *i) {
    struct rma_target *t = i->target;
    if (t->last_write < t->writes_before || i->inserts < t->inserts_before)
        t->inserts_before = i->inserts;
    t->last_write = i->write.number = rma_inflight_issued++;
    rma_admission_set_fast(t, false);
    rma_window_mark_busy(i->window, t);
    if (i->what == WRITES_UNKNOWN || (i->what == WRITES_KNOWN && write_remember(t, &i->write)))
        t->writes_unknown = true;
}

/* After it was issued. A request signals local completion only, which is of no use here. */
static int write_finish(struct issue *i, int rc) {
    if (!i->window)
        return rc;
    rma_lock();
    if (rc == MPI_SUCCESS)
        count_issued(i);
    rma_unlock();
    if (i->what == WRITES_KNOWN)
        layout_free(&i->write.layout);
    rma_progress_note();
    return rc;
}

/* The target, if nothing is cached in its window and no thread or tool requires the slow path; else NULL. A write to such a window is
 * counted, without a description of the bytes that it touches. If anything is cached before the write completes, all of it is dropped
 * then. */
static inline struct rma_target *find_uncached(MPI_Win win, int rank, struct window **window) {
    struct window *w = *window = rma_window_find(win);
    bool simple = w && window_keeps_nothing(w) && !(rma_threaded | host_has_tool);
    return LIKELY(simple) ? rma_target_find(w, rank) : NULL;
}

/* The next number is that of an atomic whose result has not been observed. Requires the lock. */
static inline void mark_fetching(struct window *w, struct rma_target *t) {
    if (!t->fetching) {
        w->epoch.fetching++;
        t->first_fetch = rma_inflight_issued;
    }
    t->fetching = true;
    t->last_fetch = rma_inflight_issued;
}

static inline int end_uncached(struct window *w, struct rma_target *t, int rc) {
    rma_progress_note();
    if (UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    if (t->last_write < t->writes_before)
        t->inserts_before = rma_inflight_inserts;
    t->last_write = rma_inflight_issued++;
    t->writes_unknown = true;
    rma_window_mark_busy(w, t); /* a fast target stays fast: its flush completes such writes, too */
    return rc;
}

/* The same for an atomic that returns a value: see note_fetch. */
static inline int end_uncached_fetch(struct window *w, struct rma_target *t, void *result, MPI_Count count,
                                     MPI_Datatype type, int rc) {
    if (UNLIKELY(rma_inflight_buffers))
        rma_inflight_overlap_typed(result, count, type);
    if (LIKELY(rc == MPI_SUCCESS))
        mark_fetching(w, t);
    return end_uncached(w, t, rc);
}

/* The result of an atomic may be a sync event: the call that completes it acquires. */
static int note_fetch(MPI_Win win, int rank, void *result, MPI_Count count, MPI_Datatype type, int rc) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_target_find(w, rank) : NULL;
    if (UNLIKELY(rma_inflight_buffers))
        rma_inflight_overlap_typed(result, count, type);
    if (t && rc == MPI_SUCCESS) {
        rma_lock();
        mark_fetching(w, t);
        rma_inflight_issued++;
        rma_admission_set_fast(t, false);
        rma_window_mark_busy(w, t);
        rma_unlock();
    }
    return rc;
}

/* The same with a request. If the request completes immediately, MPI may have given it a handle that it shares with
 * requests whose completion is no sync event. Therefore this call acquires as well, and not only the one that completes
 * the request. */
static int note_fetch_request(MPI_Win win, int rank, void *result, MPI_Count count, MPI_Datatype type,
                              int rc) {
    rc = note_fetch(win, rank, result, count, type, rc);
    if (settings_get()->atomics == ATOMICS_ACQUIRE)
        acquire(EVENT_ATOMIC);
    return rc;
}

/* The host's call, between write_begin and write_finish. */
#define WRITE(call, disp, count, type, op)                                                                   \
    do {                                                                                                     \
        struct window *uncached;                                                                             \
        struct rma_target *there = find_uncached(win, target, &uncached);                                    \
        if (LIKELY(there != NULL))                                                                           \
            return end_uncached(uncached, there, call);                                                      \
        struct issue issue;                                                                                  \
        write_begin(&issue, win, target, disp, count, type, op);                                             \
        return write_finish(&issue, call);                                                                   \
    } while (0)

/* The same for an atomic that returns a value. */
#define FETCH(call, result, rcount, rtype, disp, count, type, op)                                            \
    do {                                                                                                     \
        struct window *uncached;                                                                             \
        struct rma_target *there = find_uncached(win, target, &uncached);                                    \
        if (LIKELY(there != NULL))                                                                           \
            return end_uncached_fetch(uncached, there, result, rcount, rtype, call);                         \
        struct issue issue;                                                                                  \
        write_begin(&issue, win, target, disp, count, type, op);                                             \
        return write_finish(&issue, note_fetch(win, target, result, rcount, rtype, call));                   \
    } while (0)

int hook_Put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    WRITE(host_Put(origin, ocount, otype, target, disp, tcount, ttype, win), disp, tcount, ttype,
          MPI_REPLACE);
}

int hook_Rput(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    WRITE(host_Rput(origin, ocount, otype, target, disp, tcount, ttype, win, request), disp, tcount, ttype,
          MPI_REPLACE);
}

int hook_Accumulate(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                    MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    WRITE(host_Accumulate(origin, ocount, otype, target, disp, tcount, ttype, op, win), disp, tcount, ttype,
          op);
}

int hook_Raccumulate(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    WRITE(host_Raccumulate(origin, ocount, otype, target, disp, tcount, ttype, op, win, request), disp,
          tcount, ttype, op);
}

int hook_Get_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                        MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                        MPI_Op op, MPI_Win win) {
    if (op == MPI_NO_OP && rma_noop_is_get(tcount, ttype))
        return rma_get_noop(origin, ocount, otype, result, rcount, rtype, target, disp, tcount, ttype, win);
    FETCH(host_Get_accumulate(origin, ocount, otype, result, rcount, rtype, target, disp, tcount, ttype, op,
                              win),
          result, rcount, rtype, disp, tcount, ttype, op);
}

int hook_Rget_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                         MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                         MPI_Op op, MPI_Win win, MPI_Request *request) {
    WRITE(note_fetch_request(win, target, result, rcount, rtype,
                             host_Rget_accumulate(origin, ocount, otype, result, rcount, rtype, target, disp,
                                                  tcount, ttype, op, win, request)),
          disp, tcount, ttype, op);
}

int hook_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp,
                      MPI_Op op, MPI_Win win) {
    FETCH(host_Fetch_and_op(origin, result, type, target, disp, op, win), result, 1, type, disp, 1, type, op);
}

int hook_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int target, MPI_Aint disp, MPI_Win win) {
    FETCH(host_Compare_and_swap(origin, compare, result, type, target, disp, win), result, 1, type, disp, 1,
          type, MPI_REPLACE);
}

#if HEARTH_MPI_COUNTS
int hook_Put_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    WRITE(host_Put_c(origin, ocount, otype, target, disp, tcount, ttype, win), disp, tcount, ttype,
          MPI_REPLACE);
}

int hook_Rput_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    WRITE(host_Rput_c(origin, ocount, otype, target, disp, tcount, ttype, win, request), disp, tcount, ttype,
          MPI_REPLACE);
}

int hook_Accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                      MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    WRITE(host_Accumulate_c(origin, ocount, otype, target, disp, tcount, ttype, op, win), disp, tcount, ttype,
          op);
}

int hook_Raccumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                       MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    WRITE(host_Raccumulate_c(origin, ocount, otype, target, disp, tcount, ttype, op, win, request), disp,
          tcount, ttype, op);
}

int hook_Get_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                          MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp, MPI_Count tcount,
                          MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    FETCH(host_Get_accumulate_c(origin, ocount, otype, result, rcount, rtype, target, disp, tcount, ttype, op,
                                win),
          result, rcount, rtype, disp, tcount, ttype, op);
}

int hook_Rget_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                           MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp, MPI_Count tcount,
                           MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    WRITE(note_fetch_request(win, target, result, rcount, rtype,
                             host_Rget_accumulate_c(origin, ocount, otype, result, rcount, rtype, target,
                                                    disp, tcount, ttype, op, win, request)),
          disp, tcount, ttype, op);
}
#endif
