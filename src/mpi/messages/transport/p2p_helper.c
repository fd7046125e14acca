/* p2p_helper.c: a thread that progresses messages while the program's thread is inside a call of the MPI library.
 *
 * It sleeps until another process of the node wakes it: one that has waited for 50 us for an answer from this process,
 * and sees that this process is inside such a call. The thread then takes the lock, if it is free, and does the pending
 * work in the node's shared memory. It never calls MPI. While messages of this process wait for space, it polls every
 * 100 us. */
#include "mpi/messages/transport/p2p_helper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/job_end.h"
#include "base/log.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/p2p_progress.h"
#include "observe/live.h"

enum { LONG_US = 10000000, SHORT_US = 100, ROUNDS = 16, MOST_ROUNDS = 64 };
enum look { LOOK_LATER, LOOK_SOON, LOOK_NOW };

static pthread_t thread;
static bool running;
static atomic_bool stop; /* release in p2p_helper_stop pairs with acquire in helper_work */

/* Does the pending work, and handles messages that arrive during a bounded number of rounds. The bound lets the program's
 * thread take the lock during a stream of messages. The result says when to look again: soon, if a message waits for space,
 * or if another thread holds the lock. If the lock is held and the process is not inside MPI, the program's thread holds
 * it: that thread polls on its own, and wakes this one when it enters MPI with messages to send. */
static enum look helper_look(void) {
    if (!p2p_try_lock())
        return net_node_is_inside(p2p_node, p2p_node_rank) ? LOOK_SOON : LOOK_LATER;
    int idle = 0;
    for (int rounds = 0; rounds < MOST_ROUNDS && idle < ROUNDS; rounds++)
        idle = p2p_progress_node() ? 0 : idle + 1;
    bool waits = p2p_channel_waiting != NULL;
    p2p_unlock_slow();
    return idle < ROUNDS ? LOOK_NOW : waits ? LOOK_SOON : LOOK_LATER;
}

static void *helper_work(void *arg) {
    enum look next = LOOK_LATER;
    live_thread_begins(LIVE_MESSAGES);
    job_end_by_exit();
    log_debug(LOG_MESSAGES, "a thread answers messages of this node while the process is inside MPI");
    while (!atomic_load_explicit(&stop, memory_order_acquire)) {
        if (next == LOOK_NOW)
            p2p_yield_lock();
        else
            net_node_sleep(p2p_node, next == LOOK_SOON ? SHORT_US : LONG_US);
        next = helper_look();
    }
    live_thread_ends();
    return NULL;
}

/* Blocks all signals in the thread: the program's signals are for its own threads. */
void p2p_helper_start(void) {
    sigset_t all, old;
    if (!p2p_node)
        return;
    atomic_store(&stop, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, NULL, helper_work, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    running = !rc;
    if (rc)
        log_warn("HEARTH_MATCH: no helper thread (%s); a process inside a collective call does not answer "
                 "messages",
                 strerror(rc));
}

void p2p_helper_stop(void) {
    if (!running)
        return;
    atomic_store_explicit(&stop, true, memory_order_release);
    net_node_wake(p2p_node, p2p_node_rank);
    pthread_join(thread, NULL);
    running = false;
}
