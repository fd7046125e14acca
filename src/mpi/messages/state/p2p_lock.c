/* p2p_lock.c: the lock of message passing, a word that is taken by compare and swap. A waiting thread spins and then
 * sleeps. It does not yield: on a machine whose CPUs are all busy a yield costs a scheduler slice. The C library's mutex is
 * unsuitable: the program holds the lock from one call to the next, and under MPI_THREAD_SERIALIZED the next call may come
 * from another thread. */
#include "mpi/messages/state/p2p_lock.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

bool p2p_on, p2p_threads, p2p_some_threads;
int p2p_careful;

enum { FREE, TAKEN, CONTENDED }; /* of `taken` */
enum { SPINS = 200, OFFERS = 500 };

static _Atomic int taken = TAKEN; /* by the program's thread, as long as there is only one */
static _Atomic int contenders;    /* threads that wait for it */

void p2p_sleep_on(_Atomic int *word, int value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void p2p_wake_one(_Atomic int *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool p2p_try_lock(void) {
    int no = FREE; /* acquire: pairs with the release in p2p_unlock_slow */
    return atomic_compare_exchange_strong_explicit(&taken, &no, TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* After the spins, the lock is taken as CONTENDED: other threads may sleep as well, and unlocking wakes only one. */
void p2p_lock_slow(void) {
    for (unsigned spins = 0; spins < SPINS; spins++)
        if (LIKELY(p2p_try_lock()))
            return;
    atomic_fetch_add_explicit(&contenders, 1, memory_order_relaxed);
    while (atomic_exchange_explicit(&taken, CONTENDED, memory_order_acquire) != FREE)
        p2p_sleep_on(&taken, CONTENDED);
    atomic_fetch_sub_explicit(&contenders, 1, memory_order_relaxed);
}

/* Without the pause the unlocking thread, whose cache holds the line, would retake the lock before a thread that it has woken. */
void p2p_yield_lock(void) {
    int before = atomic_load_explicit(&contenders, memory_order_relaxed);
    for (unsigned offers = 0; before && offers < OFFERS; offers++)
        if (atomic_load_explicit(&taken, memory_order_relaxed) != FREE ||
            atomic_load_explicit(&contenders, memory_order_relaxed) < before)
            break;
}

/* Release: pairs with p2p_try_lock and p2p_lock_slow. */
void p2p_unlock_slow(void) {
    if (UNLIKELY(atomic_exchange_explicit(&taken, FREE, memory_order_release) == CONTENDED))
        p2p_wake_one(&taken);
}
