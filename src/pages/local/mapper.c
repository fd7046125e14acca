/* mapper.c: the thread that removes mappings. A page table belongs to a process, so each rank has such a thread.
 *
 *      service: push the frame, ring doorbell   mapper: take the list; lower the frames whose minimum residency is over;
 *                                                       keep the others until the first is due
 *
 * A page that was fetched for a fault has a minimum residency. Otherwise two ranks that store to the same page could
 * take it from each other forever, each time before the instruction that it was fetched for has completed. */
#include <errno.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "pages/local/local_internal.h"

void pages_mapper_ask(struct pages_pool *pool, uint32_t frame, enum pages_level level) {
    struct pool_frame *f = &pool->frames[frame];
    /* Another thread of that rank may store the same value concurrently (pages_local_resolve()). */
    struct pool_mapper *m = &pool->mappers[__atomic_load_n(&f->local, __ATOMIC_RELAXED)];
    f->mapper_level = (uint8_t)level;
    uint32_t first = atomic_load_explicit(&m->first, memory_order_relaxed);
    do
        f->mapper_next = first;
    while (!atomic_compare_exchange_weak_explicit(&m->first, &first, frame + 1, memory_order_release,
                                                  memory_order_relaxed)); /* pairs with mapper_take() */
    /* Only the thread that made the list non-empty rings the doorbell. */
    if (first)
        return;
    atomic_fetch_add(&m->doorbell, 1);
    pages_wake_all(&m->doorbell);
}

static bool mapper_is_due(const struct local *l, const struct pool_frame *f, uint64_t now) {
    return __atomic_load_n(&f->stay_until, __ATOMIC_RELAXED) <= now ||
           atomic_load_explicit(&l->closing, memory_order_relaxed);
}

static void mapper_lower(struct local *l, uint32_t frame) {
    struct pages_pool *p = l->pool;
    pages_mapping_lower(l, frame, (enum pages_level)p->frames[frame].mapper_level);
    if (atomic_load_explicit(&l->closing, memory_order_relaxed)) {
        atomic_fetch_add(&l->changed, 1);
        pages_wake_all(&l->changed);
    }
}

/* Takes the requests since the last time. */
static void mapper_take(struct local *l, uint64_t now) {
    struct pages_pool *p = l->pool;
    struct pool_mapper *m = &p->mappers[l->options.rank];
    uint32_t at =
        atomic_exchange_explicit(&m->first, 0, memory_order_acquire); /* pairs with pages_mapper_ask() */
    while (at) {
        uint32_t frame = at - 1;
        at = p->frames[frame].mapper_next; /* read before the frame may be queued again */
        bool due = mapper_is_due(l, &p->frames[frame], now);
        pages_mapping_note_loss(l, frame, !due);
        if (due) {
            mapper_lower(l, frame);
        } else {
            p->frames[frame].mapper_next = l->staying;
            l->staying = frame + 1;
        }
    }
}

/* Lowers the frames that are due. Returns when the next one is. */
static uint64_t mapper_look_through(struct local *l, uint64_t now) {
    struct pages_pool *p = l->pool;
    uint64_t next = UINT64_MAX;
    for (uint32_t *at = &l->staying; *at;) {
        uint32_t frame = *at - 1;
        struct pool_frame *f = &p->frames[frame];
        if (mapper_is_due(l, f, now)) {
            *at = f->mapper_next;
            mapper_lower(l, frame);
            continue;
        }
        uint64_t until = __atomic_load_n(&f->stay_until, __ATOMIC_RELAXED);
        next = until < next ? until : next;
        at = &f->mapper_next;
    }
    return next;
}

static void *mapper_run(void *arg) {
    struct local *l = arg;
    struct pool_mapper *m = &l->pool->mappers[l->options.rank];
    job_end_by_exit();
    prctl(PR_SET_TIMERSLACK, 1000UL); /* it sleeps for about 100 us, and other threads wait for it */
    for (;;) {
        uint32_t seen =
            atomic_load(&m->doorbell); /* First of all, so that a ring after this is not missed. */
        if (atomic_load(&l->mapper_stop))
            break;
        uint64_t now = clock_ns();
        mapper_take(l, now);
        uint64_t next = mapper_look_through(l, now);
        pages_sleep_on(&m->doorbell, seen, next == UINT64_MAX ? next : (next - now) / 1000 + 1);
    }
    return NULL;
}

int pages_mapper_start(struct local *l) {
    int err = pages_local_start_thread(&l->mapper, mapper_run, l);
    l->mapper_runs = !err;
    return err;
}

static void mapper_wake(struct local *l) {
    struct pool_mapper *m = &l->pool->mappers[l->options.rank];
    atomic_fetch_add(&m->doorbell, 1);
    pages_wake_all(&m->doorbell);
}

void pages_mapper_hurry(struct local *l) {
    atomic_store(&l->closing, true);
    mapper_wake(l);
}

void pages_mapper_stop(struct local *l) {
    if (!l->mapper_runs)
        return;
    atomic_store_explicit(&l->mapper_stop, true, memory_order_release);
    mapper_wake(l);
    pthread_join(l->mapper, NULL);
    l->mapper_runs = false;
}
