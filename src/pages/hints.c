/* hints.c: a small table of address ranges with hints, under a read-write lock. */
#include "pages/hints.h"

#include <errno.h>
#include <string.h>

void pages_hints_open(struct hints *h) {
    pthread_rwlock_init(&h->lock, NULL);
    atomic_store(&h->count, 0);
}

void pages_hints_close(struct hints *h) {
    pthread_rwlock_destroy(&h->lock);
}

enum pages_hint pages_hints_of(struct hints *h, int rank, uint64_t at) {
    enum pages_hint hint = PAGES_NORMAL;
    if (atomic_load_explicit(&h->count, memory_order_relaxed) == 0)
        return hint;
    pthread_rwlock_rdlock(&h->lock);
    for (uint32_t i = 0; i < h->count; i++)
        if (h->ranges[i].rank == rank && at >= h->ranges[i].from && at < h->ranges[i].to)
            hint = (enum pages_hint)h->ranges[i].hint;
    pthread_rwlock_unlock(&h->lock);
    return hint;
}

/* The parts of a range outside of [from, to): none, one or two. */
static uint32_t hints_cut(struct hint r, int rank, uint64_t from, uint64_t to, struct hint left[2]) {
    uint32_t count = 0;
    if (r.rank != rank || to <= r.from || from >= r.to) {
        left[count++] = r;
        return count;
    }
    if (r.from < from) {
        left[count] = r;
        left[count++].to = from;
    }
    if (r.to > to) {
        left[count] = r;
        left[count++].from = to;
    }
    return count;
}

static int hints_set_range(struct hints *h, int rank, uint64_t from, uint64_t to, enum pages_hint hint) {
    struct hint all[2 * HINTS_MOST + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->count; i++)
        count += hints_cut(h->ranges[i], rank, from, to, &all[count]);
    if (hint != PAGES_NORMAL)
        all[count++] = (struct hint){.rank = rank, .hint = (uint8_t)hint, .from = from, .to = to};
    if (count > HINTS_MOST)
        return -ENOSPC;
    memcpy(h->ranges, all, count * sizeof *all);
    atomic_store_explicit(&h->count, count, memory_order_relaxed); /* read again under the lock */
    return 0;
}

int pages_hints_set(struct hints *h, int rank, uint64_t from, uint64_t to, enum pages_hint hint) {
    pthread_rwlock_wrlock(&h->lock);
    int status = hints_set_range(h, rank, from, to, hint);
    pthread_rwlock_unlock(&h->lock);
    return status;
}
