/* pool_small.c: slots in shared memory for the remote operations of a node's processes. */
#include "pages/pool/pool.h"

/* There are as many slots as window credits, so a thread with a credit always finds a free slot. */
int pages_pool_small_take(struct pages_pool *p) {
    struct pool_shared *s = p->shared;
    if (!pages_pool_take_place(p))
        return -1;
    pages_lock(&s->small_lock);
    int slot = (int)s->small_free - 1;
    s->small_free = p->smalls[slot].next;
    pages_unlock(&s->small_lock);
    return slot;
}

void pages_pool_small_give(struct pages_pool *p, int slot) {
    struct pool_shared *s = p->shared;
    struct pool_small *m = &p->smalls[slot];
    atomic_store_explicit(&m->state, SMALL_FREE, memory_order_relaxed);
    pages_lock(&s->small_lock);
    m->next = s->small_free;
    s->small_free = (uint32_t)slot + 1;
    pages_unlock(&s->small_lock);
    pages_pool_give_place(p);
}

void pages_pool_small_ask(struct pages_pool *p, int slot) {
    struct pool_small *m = &p->smalls[slot];
    atomic_store_explicit(&m->state, SMALL_ASKED, memory_order_relaxed);
    uint32_t first = atomic_load_explicit(&p->shared->small_attention, memory_order_relaxed);
    do
        m->next = first;
    while (!atomic_compare_exchange_weak_explicit(&p->shared->small_attention, &first, (uint32_t)slot + 1,
                                                  memory_order_release, memory_order_relaxed));
    pages_pool_doorbell(p);
}

uint32_t pages_pool_take_smalls(struct pages_pool *p) {
    if (atomic_load_explicit(&p->shared->small_attention, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(&p->shared->small_attention, 0, memory_order_acquire);
}

void pages_pool_small_done(struct pages_pool *p, int slot) {
    struct pool_small *m = &p->smalls[slot];
    atomic_store(&m->state,
                 SMALL_DONE); /* pairs with pages_pool_small_is_done, and with sleepers as in pool.c */
    if (atomic_load(&m->sleepers) > 0)
        pages_wake_all(&m->state);
}

bool pages_pool_small_is_done(const struct pages_pool *p, int slot) {
    return atomic_load_explicit(&p->smalls[slot].state, memory_order_acquire) == SMALL_DONE;
}

int32_t pages_pool_small_answers(const struct pages_pool *p) {
    int32_t answers = 0;
    for (int i = 0; i < POOL_SMALLS; i++)
        answers += pages_pool_small_is_done(p, i);
    return answers;
}

void pages_pool_small_wait(struct pages_pool *p, int slot) {
    struct pool_small *m = &p->smalls[slot];
    pages_pool_wait_for_change(p, &m->state, SMALL_ASKED, &m->sleepers);
}

bool pages_pool_small_drive(struct pages_pool *p, int slot) {
    pages_pool_work work_until = atomic_load_explicit(&p->work_until, memory_order_acquire);
    return work_until && work_until(p->service, &p->smalls[slot].state, SMALL_ASKED);
}

void pages_pool_small_wait_briefly(struct pages_pool *p, int slot) {
    enum { BRIEFLY_US = 100 };
    struct pool_small *m = &p->smalls[slot];
    atomic_fetch_add(&m->sleepers, 1);
    pages_sleep_on(&m->state, SMALL_ASKED, BRIEFLY_US);
    atomic_fetch_sub(&m->sleepers, 1);
}

uint32_t pages_pool_small_turn(const struct pages_pool *p) {
    return atomic_load(&p->shared->closed);
}

void pages_pool_small_wait_free(struct pages_pool *p, uint32_t seen) {
    pages_pool_wait_for_change(p, &p->shared->closed, seen, &p->shared->window_waiters);
}
