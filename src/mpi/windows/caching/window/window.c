/* window.c: the table of the windows of this process, by handle.
 *
 *      buckets[hash of the handle] -> window -> window
 *
 * Structures of freed windows are reused but never returned to the system: rma_window_find may read one that another
 * thread is freeing, and will see that the handle does not match. */
#include "mpi/windows/caching/window/window.h"

#include "base/random.h"

enum { BUCKETS = 256 };

static struct window *buckets[BUCKETS]; /* open windows, chained by next */

static struct window none;
_Atomic(struct window *) rma_window_recent = &none;
bool rma_threaded;
_Atomic bool rma_window_acquires;
struct rma_target rma_window_no_target = {.head = {.rank = -1}, .first_op = NO_OP, .last_op = NO_OP};
pthread_mutex_t rma_mutex = PTHREAD_MUTEX_INITIALIZER; /* lock order: the outermost of Hearth's locks */

static struct window **window_bucket_of(MPI_Win handle) {
    return &buckets[random_mix((uint64_t)(uintptr_t)handle) % BUCKETS];
}

struct window *rma_window_find_slow(MPI_Win handle) {
    rma_lock();
    struct window *w = *window_bucket_of(handle);
    while (w && w->handle != handle)
        w = w->next;
    if (w)
        atomic_store_explicit(&rma_window_recent, w, memory_order_release);
    rma_unlock();
    return w;
}

void rma_window_each(void (*visit)(struct window *w, void *arg), void *arg) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct window *w = buckets[i]; w; w = w->next)
            visit(w, arg);
}

void rma_window_list_busy(struct window *w, struct rma_target *t) {
    t->busy = true;
    t->next_busy = w->epoch.first_busy;
    w->epoch.first_busy = t;
}

void rma_window_link(struct window *w) {
    struct window **bucket = window_bucket_of(w->handle);
    w->next = *bucket;
    *bucket = w;
    w->open = true;
}

void rma_window_unlink(struct window *w) {
    struct window **link = window_bucket_of(w->handle);
    while (*link != w)
        link = &(*link)->next;
    *link = w->next;
    w->open = false;
    atomic_store_explicit(&rma_window_recent, &none, memory_order_release);
}

void rma_window_name(const struct window *w, char *name) {
    int length;
    if (host_Win_get_name(w->handle, name, &length) != MPI_SUCCESS)
        name[0] = 0;
}

void rma_window_stats(const struct window *w, CLAMPI_Stats *out) {
    struct cache_stats s = {0};
    if (w->cache)
        cache_stats(w->cache, &s);
    *out = (CLAMPI_Stats){.gets = w->count.gets + w->count.bypassed_fast,
                          .full_hits = s.full_hits,
                          .partial_hits = s.partial_hits,
                          .pending_hits = s.pending_hits,
                          .direct = s.direct - w->ahead.outcomes[CACHE_DIRECT],
                          .conflicting = s.conflicting - w->ahead.outcomes[CACHE_CONFLICTING],
                          .capacity = s.capacity - w->ahead.outcomes[CACHE_CAPACITY],
                          .failing = s.failing - w->ahead.outcomes[CACHE_FAILING],
                          .bypassed = w->count.bypassed + w->count.bypassed_fast,
                          .invalidations = s.invalidations,
                          .dropped = s.dropped,
                          .adjustments = s.adjustments,
                          .bytes_served = w->count.bytes_served,
                          .bytes_fetched = w->count.bytes_fetched,
                          .elided = w->count.elided,
                          .ahead_fetched = w->ahead.fetched,
                          .ahead_used = w->ahead.used,
                          .entries = s.entries,
                          .index_slots = s.index_slots,
                          .storage_bytes = s.storage_bytes,
                          .used_bytes = s.used_bytes,
                          .free_regions = s.free_regions,
                          .visited = s.visited,
                          .nonempty = s.nonempty,
                          .evictions = s.evictions};
}
