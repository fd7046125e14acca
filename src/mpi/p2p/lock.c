/* lock.c: see lock.h. The lock is a word that is 0 or 1, taken by compare and swap. A waiting thread yields the CPU
 * after a while. The C library's mutex is unsuitable: the program's thread holds the lock from one call to the next,
 * and under MPI_THREAD_SERIALIZED that need not be the same thread. */
#include "mpi/p2p/lock.h"

#include <sched.h>
#include <stdatomic.h>

#include "mpi/p2p/p2p.h"

bool p2p_on, p2p_threads;
int p2p_careful;

static _Atomic int taken = 1; /* by the program's thread, as long as there is only one */
static int depth;             /* nesting of calls inside MPI; under the lock, or by the only thread */

bool p2p_try_lock(void) {
    int no = 0; /* acquire: pairs with the release in p2p_unlock_slowly */
    return atomic_compare_exchange_strong_explicit(&taken, &no, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void p2p_lock_slowly(void) {
    for (unsigned spins = 0; !p2p_try_lock(); spins++)
        if (spins > 100)
            sched_yield();
}

void p2p_unlock_slowly(void) {
    atomic_store_explicit(&taken, 0, memory_order_release); /* pairs with p2p_try_lock */
}

/* With one thread: it holds the lock until it enters MPI, and again after it has left. A helper with messages to send
 * must be woken, and only after the lock is free: it tries once and then sleeps. */
void p2p_enter_slowly(void) {
    p2p_lock();
    if (!depth++ && p2p_node)
        net_node_inside(p2p_node, true);
    bool wake = p2p_node && channel_waiting;
    if (p2p_node && !p2p_threads)
        p2p_careful = 1;
    p2p_unlock();
    if (wake)
        net_node_wake(p2p_node, p2p_peers[p2p_rank].node);
}

/* The helper does not process messages that arrive through the host MPI. For programs that poll with such calls,
 * flushes for example, this is done here; with several threads by any thread that passes, because another may stay
 * inside for long. */
void p2p_leave_slowly(void) {
    p2p_lock();
    bool out = !--depth;
    if (out && p2p_node)
        net_node_inside(p2p_node, false);
    if (far_is_used && (out || p2p_threads))
        p2p_progress();
    if (p2p_node && !p2p_threads && out)
        p2p_careful = 0; /* and the lock stays held */
    else
        p2p_unlock();
}

void p2p_poll_slowly(void) {
    p2p_lock();
    p2p_progress();
    p2p_unlock();
}
