/* pool_lock.h: a lock in memory shared by the processes of a node, for critical sections of some dozen instructions.
 *
 * Uncontended: one atomic instruction to lock, one to unlock. It is also taken in signal handlers (a fault in a
 * segment). No critical section touches a segment, so a thread that holds a lock is never interrupted by such a fault.
 * A process that dies inside a critical section blocks the others; its job ends with it. */
#ifndef HEARTH_PAGES_POOL_LOCK_H
#define HEARTH_PAGES_POOL_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"

struct pages_lock {
    _Atomic uint32_t state; /* 0 free, 1 held, 2 held with waiters */
};

/* Sleeps while *word is `value`, for at most `microseconds`; UINT64_MAX: without limit. */
void pages_sleep_on(_Atomic uint32_t *word, uint32_t value, uint64_t microseconds);
void pages_wake_all(_Atomic uint32_t *word);

void pages_lock_wait(struct pages_lock *l);
void pages_lock_wake(struct pages_lock *l);

static inline void pages_lock(struct pages_lock *l) {
    uint32_t unlocked = 0;
    if (UNLIKELY(!atomic_compare_exchange_strong_explicit(&l->state, &unlocked, 1, memory_order_acquire,
                                                          memory_order_relaxed)))
        pages_lock_wait(l);
}

static inline void pages_unlock(struct pages_lock *l) {
    if (UNLIKELY(atomic_exchange_explicit(&l->state, 0, memory_order_release) == 2))
        pages_lock_wake(l);
}

#endif
