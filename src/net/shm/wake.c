/* wake.c: a futex in shared memory.
 *
 *      IDLE    net_wake_wait: ASLEEP, and sleeps      net_wake_up: WOKEN
 *      ASLEEP                                     net_wake_up: WOKEN, and calls the kernel
 *      WOKEN   net_wake_wait: IDLE, and returns       net_wake_up: WOKEN
 *
 * A wake without a sleeper leaves WOKEN, which makes the next wait return at once; several wakes count as one. The
 * kernel compares the word again before it lets the thread sleep, so a wake in between is not lost. net_wake_up always
 * writes, even over WOKEN: only then does the next wait see what was written before this wake. */
#include "net/shm/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/log.h"

enum { IDLE, ASLEEP, WOKEN };

/* Not FUTEX_PRIVATE: the two sides are different processes. */
static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *until) {
    return syscall(SYS_futex, word, operation, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Pairs with net_wake_wait. */
void net_wake_up(struct wake *w) {
    if (atomic_exchange_explicit(&w->state, WOKEN, memory_order_acq_rel) == ASLEEP)
        futex(&w->state, FUTEX_WAKE, 1, NULL);
}

/* The deadline, by the clock of FUTEX_WAIT_BITSET; NULL: never. */
static struct timespec *deadline(uint64_t microseconds, struct timespec *until) {
    enum { FOREVER = 1000000000 }; /* seconds */
    if (microseconds / 1000000 >= FOREVER)
        return NULL;
    uint64_t then = clock_ns() + microseconds * 1000;
    *until = (struct timespec){.tv_sec = (time_t)(then / 1000000000), .tv_nsec = (long)(then % 1000000000)};
    return until;
}

/* Pairs with net_wake_up. */
bool net_wake_wait(struct wake *w, uint64_t microseconds) {
    struct timespec space, *until = deadline(microseconds, &space);
    uint32_t state = IDLE;
    if (atomic_compare_exchange_strong_explicit(&w->state, &state, ASLEEP, memory_order_relaxed,
                                                memory_order_relaxed)) {
        /* The call returns early on signals, and sometimes spuriously. */
        while (atomic_load_explicit(&w->state, memory_order_relaxed) == ASLEEP)
            if (futex(&w->state, FUTEX_WAIT_BITSET, ASLEEP, until) && errno != EINTR && errno != EAGAIN)
                break;
    }
    return atomic_exchange_explicit(&w->state, IDLE, memory_order_acq_rel) == WOKEN;
}

void net_wake_failed(const char *whom) {
    log_error("%s cannot be woken: %s; the job is ended", whom, strerror(errno));
    job_end(EXIT_FAILURE);
}
