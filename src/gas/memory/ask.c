/* ask.c: one lock around the requesting side of the network.
 *
 * A waiting thread polls, taking the lock for one pass at a time, so that other threads get it in between. When no other
 * thread wants the lock, it sleeps in net_wait_* with the lock held, and the network wakes it. A thread that arrives
 * meanwhile waits until that operation is done. That takes only as long as the network does, since no operation waits for
 * code of a program. Where threads arrive often, all of them poll instead.
 *
 * The state of an operation is written under the lock, so it is read under the lock. */
#include "gas/memory/ask.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "gas/process/context.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* last in the lock order of gas/ */
static _Atomic int inside;                               /* threads that hold or want the lock */

static void ask_enter(void) {
    gas_am_enter();
    atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
}

static void ask_leave(void) {
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    gas_am_leave();
}

void gas_ask_start(int node, struct net_op *op) {
    ask_enter();
    net_start(gas_job.net, node, op);
    ask_leave();
}

void gas_ask_start_both(int node, struct net_op *first, struct net_op *second) {
    ask_enter();
    net_start(gas_job.net, node, first);
    net_start(gas_job.net, node, second);
    ask_leave();
}

typedef bool is_over(const struct net_op *op);
typedef void wait_for(struct net *n, int node, struct net_op *op);

static bool ask_look(const struct net_op *op, is_over *over) {
    ask_enter();
    bool is = over(op);
    ask_leave();
    return is;
}

bool gas_ask_is_sent(const struct net_op *op) {
    return ask_look(op, net_is_sent);
}

bool gas_ask_is_done(const struct net_op *op) {
    return ask_look(op, net_is_done);
}

static bool ask_go_on(const struct net_op *op, is_over *over) {
    ask_enter();
    net_progress(gas_job.net);
    bool is = over(op);
    ask_leave();
    return is;
}

/* Polls while other threads use the network. After many rounds it calls net_wait_* anyway, which detects that an answer
 * will never arrive. */
static void ask_wait_until(int node, struct net_op *op, is_over *over, wait_for *wait) {
    enum { NAP_US = 20, MOST_NAPS = 50000 };
    for (unsigned naps = 0; !ask_go_on(op, over); naps++) {
        if (atomic_load_explicit(&inside, memory_order_relaxed) == 0 || naps == MOST_NAPS) {
            ask_enter();
            wait(gas_job.net, node, op);
            ask_leave();
            return;
        }
        if (naps < 4)
            sched_yield();
        else
            usleep(NAP_US);
    }
}

void gas_ask_wait_sent(int node, struct net_op *op) {
    ask_wait_until(node, op, net_is_sent, net_wait_sent);
}

void gas_ask_wait_done(int node, struct net_op *op) {
    ask_wait_until(node, op, net_is_done, net_wait_done);
}

/* `sleeps`: wait until everything in the carrier is done. The carrier cannot be reused meanwhile. */
static bool go_on_carried(int node, const _Atomic bool *done, struct net_op *const *carrier, bool sleeps) {
    ask_enter();
    net_progress(gas_job.net);
    bool is = atomic_load_explicit(done, memory_order_acquire);
    if (!is && sleeps && *carrier) {
        net_wait_done(gas_job.net, node, *carrier);
        is = true;
    }
    ask_leave();
    return is;
}

void gas_ask_wait_carried(int node, const _Atomic bool *done, struct net_op *const *carrier) {
    enum { NAP_US = 20, MOST_NAPS = 50000 };
    bool sleeps = false;
    for (unsigned naps = 0; !go_on_carried(node, done, carrier, sleeps); naps++) {
        sleeps = atomic_load_explicit(&inside, memory_order_relaxed) == 0 || naps >= MOST_NAPS;
        if (!sleeps && naps < 4)
            sched_yield();
        else if (!sleeps)
            usleep(NAP_US);
    }
}

void gas_ask_progress(void) {
    gas_am_enter();
    if (pthread_mutex_trylock(&lock) == 0) {
        net_progress(gas_job.net);
        pthread_mutex_unlock(&lock);
    }
    gas_am_leave();
}

void gas_ask_count(struct net_counts *counts) {
    ask_enter();
    net_count(gas_job.net, counts);
    ask_leave();
}

void gas_ask_close(void) {
    pthread_mutex_lock(&lock);
}
