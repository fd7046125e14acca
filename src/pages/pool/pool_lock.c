/* pool_lock.c: the slow paths of pool_lock.h: spin briefly, then sleep on a futex. */
#include "pages/pool/pool_lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 64 };

void pages_sleep_on(_Atomic uint32_t *word, uint32_t value, uint64_t microseconds) {
    struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    int before = errno;
    syscall(SYS_futex, word, FUTEX_WAIT, value, microseconds == UINT64_MAX ? NULL : &time, NULL, 0);
    errno = before; /* preserves the errno of a program that a fault interrupted */
}

void pages_wake_all(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pages_lock_wait(struct pages_lock *l) {
    for (int i = 0; i < SPINS; i++) {
        uint32_t unlocked = 0;
        if (atomic_load_explicit(&l->state, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&l->state, &unlocked, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
    }
    while (atomic_exchange_explicit(&l->state, 2, memory_order_acquire) != 0)
        pages_sleep_on(&l->state, 2, UINT64_MAX);
}

void pages_lock_wake(struct pages_lock *l) {
    syscall(SYS_futex, &l->state, FUTEX_WAKE, 1, NULL, NULL, 0);
}
