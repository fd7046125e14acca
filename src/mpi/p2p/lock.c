/* lock.c: see lock.h. A word that is 0 or 1, taken by compare and swap; who does not get it gives up the CPU after a while. The
 * C library's mutex would not do: the program's thread holds it from one call to the next, and under MPI_THREAD_SERIALIZED that
 * need not be the same thread. */
#include "mpi/p2p/lock.h"

#include <sched.h>
#include <stdatomic.h>

#include "mpi/p2p/p2p.h"

bool p2p_on, p2p_threads;
int p2p_careful;

static _Atomic int taken = 1; /* by the program's thread, as long as there is only one */
static int depth;             /* of calls inside MPI; under the lock, or by the only thread */

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

/* With one thread: the lock is its own until it goes inside, and again when it is back. A helper that has something to
 * send needs to be told, and only when it can have the lock: it tries once, and then sleeps. */
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

/* No helper looks at what comes through the host MPI. A program that polls by calls like this one, by flushes for one, does so
 * here; with many threads whoever comes by, as another may stay inside for long. */
void p2p_leave_slowly(void) {
    p2p_lock();
    bool out = !--depth;
    if (out && p2p_node)
        net_node_inside(p2p_node, false);
    if (far_is_used && (out || p2p_threads))
        p2p_progress();
    if (p2p_node && !p2p_threads && out)
        p2p_careful = 0; /* and the lock stays ours */
    else
        p2p_unlock();
}

void p2p_poll_slowly(void) {
    p2p_lock();
    p2p_progress();
    p2p_unlock();
}
