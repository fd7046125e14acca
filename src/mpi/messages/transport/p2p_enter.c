/* p2p_enter.c: the steps before and after a call of the MPI library that may wait for other processes. During the call the
 * helper thread may take the lock; after it, messages that arrived through the host MPI are handled. */
#include "mpi/messages/transport/p2p_enter.h"

#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/p2p_progress.h"

static int depth; /* nesting of calls inside MPI; under the lock, or by the only thread */

/* A program with one thread holds the lock until it enters MPI, and again after it has left. If messages wait to be sent,
 * the helper is woken, and only after the lock is free: it tries once to take the lock and then sleeps. */
void p2p_enter_slow(void) {
    p2p_lock();
    if (!depth++ && p2p_node)
        net_node_inside(p2p_node, true);
    bool wake = p2p_node && p2p_channel_waiting;
    if (p2p_node && !p2p_threads)
        p2p_careful = 1;
    p2p_unlock();
    if (wake)
        net_node_wake(p2p_node, p2p_node_rank);
}

/* The helper does not process messages that arrive through the host MPI. For programs that poll with such calls,
 * flushes for example, this is done here; with several threads by every thread that leaves a call, because another may
 * stay inside for long. */
void p2p_leave_slow(void) {
    p2p_lock();
    bool out = !--depth;
    if (out && p2p_node)
        net_node_inside(p2p_node, false);
    if (p2p_remote_is_used && (out || p2p_threads))
        p2p_progress();
    if (p2p_node && !p2p_threads && out)
        p2p_careful = 0; /* and the lock stays held */
    else
        p2p_unlock();
}

void p2p_poll_slow(void) {
    p2p_lock();
    p2p_progress();
    p2p_unlock();
}
