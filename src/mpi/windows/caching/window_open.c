/* window_open.c: creation and release of windows, and the parts of dynamic ones.
 *
 * At creation all ranks exchange the address of their memory, its displacement unit, and the identity of their
 * process (windows/serving/state/node_table.c). Every access thus has an address in its target's memory, and aliasing windows are known (alias.c). */
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "mpi/observe/call_time.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/alias.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/caching/kept.h"
#include "mpi/windows/caching/record/record.h"
#include "mpi/windows/caching/record/record_targets.h"
#include "mpi/windows/caching/window/rma_progress.h"
#include "mpi/windows/caching/window/score.h"
#include "mpi/windows/caching/window_cache.h"
#include "mpi/windows/caching/write.h"
#include "mpi/windows/serving/state/serve_agree.h"
#include "mpi/windows/serving/serve_auto.h"
#include "mpi/windows/serving/serving.h"
#include "observe/live.h"
#include "tables/rank_table.h"
#include "tables/shape.h"

static struct window *spare; /* structures of freed windows */
static uint64_t serials;
static bool has_unregistered; /* there is, or was, a window that could not be registered */

/* An attached part of a dynamic window. */
struct region {
    uint64_t start, bytes;
    struct region *next;
};

/* ---- creation ---- */

/* Once per process: the thread level, the budget. */
static void window_start(void) {
    int rank = -1, size = 0;
    rma_threaded = host_is_threaded();
    if (host_has_world()) {
        host_Comm_rank(MPI_COMM_WORLD, &rank);
        host_Comm_size(MPI_COMM_WORLD, &size);
    }
    log_identify(rank);
    live_open(LIVE_BY_MPI, rank, size); /* unless MPI_Init has done it */
    rma_window_cache_start();
    rma_check_is_on = settings_get()->check;
    if (rma_check_is_on)
        host_be_careful();
    call_time_allow_light(!rma_check_is_on && !host_has_tool);
    rma_progress_start();
}

static void start_up(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, window_start);
}

static struct window *take_structure(void) {
    struct window *w = spare;
    if (!w)
        return live_alloc(sizeof *w);
    spare = w->next;
    *w = (struct window){0};
    return w;
}

/* Registers the counters for hearth top, which reads them in place. */
static void window_show(const struct window *w) {
    static const struct live_field fields[] = {
        LIVE_FIELD(windows, struct window, open),
        LIVE_FIELD(gets, struct window, count.gets),
        LIVE_FIELD(gets, struct window, count.bypassed_fast),
        LIVE_FIELD(hits, struct window, count.hits),
        LIVE_FIELD(bypassed, struct window, count.bypassed),
        LIVE_FIELD(bypassed, struct window, count.bypassed_fast),
        LIVE_FIELD(bytes_served, struct window, count.bytes_served),
        LIVE_FIELD(bytes_fetched, struct window, count.bytes_fetched),
        LIVE_FIELD(elided, struct window, count.elided),
    };
    live_show(w, fields, sizeof fields / sizeof *fields);
}

static void link_window(struct window *w) {
    rma_alias_join(w);
    rma_window_link(w);
    window_show(w);
}

static void give_structure(struct window *w) {
    w->next = spare;
    spare = w;
}

/* Where the memory of all ranks lies. Served windows across nodes know it. Collective; true on all ranks or on none. */
static bool window_learn(MPI_Win handle, const struct rank_memory *own, bool ready, MPI_Comm comm,
                         struct node_table *memory) {
    if (serve_window_table(handle, memory))
        return serve_agree(ready, comm);
    return serve_node_table_gather(&(struct node_table_member){.memory = *own, .ready = ready}, comm, memory);
}

static void window_refuse(struct window *w, void *unused) {
    (void)unused;
    rma_admission_refuse(w);
}

/* Writes through this window go to MPI untracked, and where its memory lies is not known. It may overlap any window, so that cached
 * data could become stale unnoticed. Requires the lock. */
static void window_unregistered(int size) {
    has_unregistered = true;
    rma_window_each(window_refuse, NULL);
    log_warn("no memory to describe a window of %d ranks on this or another rank: this process caches no "
             "window any more",
             size);
}

static void window_tell(const struct window *w) {
    log_debug(LOG_WINDOWS, "window %llu: %d ranks, %s, operations by %s", (unsigned long long)w->serial,
              w->size,
              w->dynamic  ? "dynamic"
              : w->shared ? "shared memory"
                          : "of fixed memory",
              w->served ? "Hearth" : "MPI");
    log_debug(LOG_CACHE, "window %llu: mode %s; its gets %s", (unsigned long long)w->serial,
              rma_window_mode_word(w->mode),
              w->shared             ? "are not cached, as its memory is shared"
              : !w->cacheable       ? "are not cached, as writes through another window cannot be tracked"
              : w->mode == MODE_OFF ? "are not cached in this mode"
                                    : "may be cached");
}

/* Registers a window that MPI has just created. Collective over comm. If some rank has no memory for it, no rank
 * registers it, and all its calls go to MPI. */
static void window_opened(MPI_Win handle, struct rank_memory own, MPI_Info info, MPI_Comm comm, bool shared,
                          bool dynamic) {
    int size = 0, rank = 0;
    struct rank_table targets = {0};
    struct node_table memory;
    start_up();
    rma_lock();
    struct window *w = take_structure();
    rma_unlock();
    host_Comm_size(comm, &size);
    host_Comm_rank(comm, &rank);
    bool ready = w && !rank_table_open(&targets, (uint32_t)size, sizeof(struct rma_target),
                                       &rma_window_no_target.head);
    bool known = window_learn(handle, &own, ready, comm, &memory);
    acquire(EVENT_COLLECTIVE);
    log_trace(LOG_WINDOWS, "rank %d of %d has %llu bytes at %llx, displacement unit %llu", rank, size,
              (unsigned long long)own.bytes, (unsigned long long)own.base, (unsigned long long)own.unit);
    rma_lock();
    if (known) {
        *w = (struct window){.handle = handle,
                             .targets = targets,
                             .shared = shared,
                             .dynamic = dynamic,
                             .cacheable = !shared && !has_unregistered,
                             .served = serve_find(handle) != NULL,
                             .served_reason = serve_auto_reason(),
                             .mode = (enum mode)settings_get()->mode,
                             .rank = rank,
                             .size = size,
                             .memory = memory,
                             .epoch = {.flush_stamp = 1},
                             .serial = ++serials};
        rma_window_mode_from(info, &w->mode);
        w->mode = rma_window_enter_mode(w, w->mode);
        if (w->mode == MODE_ACQUIRE)
            atomic_store_explicit(&rma_window_acquires, true, memory_order_relaxed);
        rma_score_from_info(w, info);
        w->ahead.blocks = settings_get()->read_ahead;
        rma_admission_begin(w);
        rma_record_window(w);
        link_window(w);
        window_tell(w);
    } else {
        rank_table_close(&targets);
        if (w)
            give_structure(w);
        window_unregistered(size);
    }
    rma_unlock();
}

static int note_created(int rc, MPI_Win *win, const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                        MPI_Comm comm, bool shared) {
    if (rc != MPI_SUCCESS)
        return rc;
    struct rank_memory own = {
        .base = (uint64_t)(uintptr_t)base, .bytes = (uint64_t)size, .unit = (uint64_t)unit};
    window_opened(*win, own, info, comm, shared, false);
    return rc;
}

int hook_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    serve_open();
    int rc = host_Win_create(base, size, unit, info, comm, win);
    return note_created(rc, win, base, size, unit, info, comm, false);
}

int hook_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    serve_open();
    int rc = host_Win_allocate(size, unit, info, comm, base, win);
    return note_created(rc, win, rc ? NULL : *(void **)base, size, unit, info, comm, false);
}

int hook_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                             MPI_Win *win) {
    int rc = host_Win_allocate_shared(size, unit, info, comm, base, win);
    return note_created(rc, win, rc ? NULL : *(void **)base, size, unit, info, comm, true);
}

#if HEARTH_MPI_COUNTS
int hook_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    serve_open();
    int rc = host_Win_create_c(base, size, unit, info, comm, win);
    return note_created(rc, win, base, size, unit, info, comm, false);
}

int hook_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                        MPI_Win *win) {
    serve_open();
    int rc = host_Win_allocate_c(size, unit, info, comm, base, win);
    return note_created(rc, win, rc ? NULL : *(void **)base, size, unit, info, comm, false);
}

int hook_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                               MPI_Win *win) {
    int rc = host_Win_allocate_shared_c(size, unit, info, comm, base, win);
    return note_created(rc, win, rc ? NULL : *(void **)base, size, unit, info, comm, true);
}
#endif

int hook_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    serve_open();
    int rc = host_Win_create_dynamic(info, comm, win);
    if (rc == MPI_SUCCESS)
        window_opened(*win, (struct rank_memory){.unit = 1}, info, comm, false, true);
    return rc;
}

/* ---- parts of dynamic windows ---- */

int hook_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_attach(win, base, size);
    struct region *r = w && rc == MPI_SUCCESS ? malloc(sizeof *r) : NULL;
    if (!r)
        return rc;
    log_trace(LOG_WINDOWS, "window %llu: %lld bytes at %p are attached", (unsigned long long)w->serial,
              (long long)size, base);
    rma_lock();
    *r = (struct region){.start = (uint64_t)(uintptr_t)base, .bytes = (uint64_t)size, .next = w->attached};
    w->attached = r;
    rma_unlock();
    return rc;
}

static struct region *take_region(struct window *w, uint64_t start) {
    struct region **link = &w->attached;
    while (*link && (*link)->start != start)
        link = &(*link)->next;
    struct region *found = *link;
    if (found)
        *link = found->next;
    return found;
}

/* Drops this process's entries of its own memory in that part; all of them if there was no memory to note the part. */
int hook_Win_detach(MPI_Win win, const void *base) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_detach(win, base);
    if (!w || rc != MPI_SUCCESS)
        return rc;
    log_trace(LOG_WINDOWS, "window %llu: memory at %p is detached", (unsigned long long)w->serial, base);
    rma_lock();
    struct region *r = take_region(w, (uint64_t)(uintptr_t)base);
    struct write gone = {0};
    if (r)
        gone = (struct write){.address = r->start, .layout.shape = shape_contiguous(r->bytes)};
    rma_write_drop(w, w->rank, r ? &gone : NULL);
    free(r);
    rma_unlock();
    return rc;
}

/* ---- release ---- */

static void unlink_window(struct window *w) {
    rma_window_unlink(w);
    rma_admission_clear_fast(w);
    rma_alias_leave(w);
}

static void window_release(struct window *w) {
    for (uint32_t i = 0; i < w->targets.count; i++) {
        struct rma_target *t = rma_window_target_at(w, i);
        while (t->first_op != NO_OP)
            rma_inflight_abandon(t->first_op);
        for (uint32_t k = 0; k < t->write_count; k++)
            layout_free(&t->writes[k].layout);
        free(t->writes);
    }
    while (w->attached) {
        struct region *r = w->attached;
        w->attached = r->next;
        free(r);
    }
    free(w->started.ranks);
    rank_table_close(&w->targets);
    serve_node_table_free(&w->memory);
    live_hide(w);
    if (w->cache)
        cache_close(w->cache);
    if (w->analysis.whatif)
        cache_whatif_close(w->analysis.whatif);
    if (w->analysis.reuse)
        cache_reuse_close(w->analysis.reuse);
    w->cache = NULL;
    give_structure(w);
}

int hook_Win_free(MPI_Win *win) {
    struct window *w = win ? rma_window_find(*win) : NULL;
    if (!w) {
        int code = host_Win_free(win);
        acquire(EVENT_COLLECTIVE);
        return code;
    }
    char name[MPI_MAX_OBJECT_NAME];
    rma_window_name(w, name);
    rma_lock();
    rma_record_window_leaves(w);
    rma_record_collect_window(w);
    unlink_window(w);
    rma_unlock();
    int rc = host_Win_free(win);
    acquire(EVENT_COLLECTIVE); /* MPI_Win_free synchronises with the other ranks */
    log_debug(
        LOG_WINDOWS, "window %llu '%s' is freed: %llu gets, %llu hits, %llu bypassed, %llu flushes elided",
        (unsigned long long)w->serial, name, (unsigned long long)(w->count.gets + w->count.bypassed_fast),
        (unsigned long long)w->count.hits, (unsigned long long)(w->count.bypassed + w->count.bypassed_fast),
        (unsigned long long)w->count.elided);
    rma_lock();
    if (rc == MPI_SUCCESS) {
        rma_kept_add(w, name);
        rma_record_window_end(w);
        window_release(w);
    } else {
        rma_record_window_returns(w);
        link_window(w);
    }
    rma_unlock();
    return rc;
}
