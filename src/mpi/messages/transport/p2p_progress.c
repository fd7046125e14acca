/* p2p_progress.c: rounds of progress, and waiting.
 *
 * A round polls the node's shared memory, which costs a few loads. A poll of a network, Hearth's or that of the MPI, costs as much as
 * several messages. An idle round therefore polls it only if a microsecond has passed since the last time, and of busy rounds one
 * in BUSY_ROUNDS does, because MPI also has other work to do, one-sided calls of other processes for example. If no process shares
 * memory with this one, every round polls it.
 *
 * Where Hearth's network carries the messages between nodes, MPI is polled for its own work only: while messages arrive one after the
 * other seldom, as a poll costs a tenth of a message over TCP; more often if none has come for a while, or if there are windows.
 *
 * A peer that owes an answer and is inside an MPI call is woken every 50 us, by the rounds themselves. It therefore
 * does not matter whether the program waits or tests, nor whether other peers keep this process busy meanwhile.
 *
 * A waiting thread spins for 10 ms and then yields the CPU between rounds; after a microsecond if there are more
 * processes on this node than CPUs. It does not yield earlier: if other jobs use the CPUs as well, two communicating
 * processes would hardly ever run at the same time, and each message would take a scheduler slice.
 *
 * Of several waiting threads one drives progress for all. The others watch their own requests without the lock, and then
 * sleep; when the driver's request is done, one of them becomes the driver. If all of them polled, each would keep the
 * others from the lock, and messages would pile up. The driver offers the lock to the others after a bounded number of
 * rounds. */
#include "mpi/messages/transport/p2p_progress.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "mpi/messages/state/watcher.h"
#include "mpi/messages/transport/p2p_bounce.h"
#include "mpi/messages/transport/p2p_channel.h"

enum { BUSY_ROUNDS = 64, NETWORK_NS = 1000, SPIN_NS = 10000000, WAKE_NS = 50000 };
/* Polls of Hearth's network from one poll of MPI to the next: while messages arrive, and after LINK_IDLE polls without one. */
enum { BUSY_POLLS = 1024, HOST_POLLS = 8, LINK_IDLE = 64 };
enum { DRIVER_ROUNDS = 16 }; /* with the lock */

static uint64_t network_ticks, spin_ticks, wake_ticks; /* the constants above, in ticks */
static uint64_t network_last, wake_last;
static unsigned busy;
static unsigned link_polls, link_idle; /* polls of the link since that of MPI; since a message */
static int windows;                    /* of MPI */
static bool has_left_host;
static const struct p2p_request *driver; /* the request of the thread that drives progress, or NULL */

void p2p_progress_windows(int more) {
    windows += more;
}

void p2p_progress_leave_host(void) {
    has_left_host = true;
}

void p2p_progress_open(int on_node) {
    has_left_host = false;
    double tick = clock_ns_per_tick();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    network_ticks = (uint64_t)(NETWORK_NS / tick);
    wake_ticks = (uint64_t)(WAKE_NS / tick);
    spin_ticks = on_node > cpus ? (uint64_t)(NETWORK_NS / tick) : (uint64_t)(SPIN_NS / tick);
}

int p2p_progress_node(void) {
    int n = p2p_node_poll();
    if (UNLIKELY(p2p_channel_waiting != NULL))
        n += p2p_channel_flush(false);
    return n;
}

/* Whether the networks are polled in this round. */
static bool is_networks_turn(int n) {
    if (!p2p_node)
        return true;
    if (n)
        return ++busy % BUSY_ROUNDS == 0;
    return clock_ticks_since(network_last) >= network_ticks;
}

/* Between nodes MPI carries no messages: it is polled for its own work only. */
static bool is_hosts_turn(void) {
    if (UNLIKELY(has_left_host))
        return false;
    unsigned due = windows || link_idle > LINK_IDLE ? HOST_POLLS : BUSY_POLLS;
    if (link_polls < due && !p2p_remote_transfers())
        return false;
    link_polls = 0;
    return true;
}

static int poll_networks(bool some) {
    if (!p2p_link_is_used)
        return p2p_remote_poll(some);
    int n = p2p_link_poll() + p2p_bounce_poll();
    link_polls++;
    link_idle = n ? 0 : link_idle + 1;
    return is_hosts_turn() ? n + p2p_remote_poll(some) : n;
}

/* Wakes the processes of this node that owe an answer. The first call only records the time: an answer may be in flight. */
static void wake_debtors(uint64_t now) {
    if (wake_last && clock_ticks_between(wake_last, now) < wake_ticks)
        return;
    bool wait = !wake_last;
    wake_last = now;
    if (!wait && !p2p_channel_wake())
        wake_last = 0;
}

static inline int round_of(bool some) {
    int n = p2p_node ? p2p_node_poll() : 0;
    if (UNLIKELY(p2p_channel_waiting != NULL))
        n += p2p_channel_flush(true);
    if (is_networks_turn(n)) {
        n += poll_networks(some);
        n += p2p_request_bury();
        network_last = p2p_node ? clock_ticks() : 0;
        if (UNLIKELY(p2p_channel_owing != NULL))
            wake_debtors(network_last);
    }
    return n;
}

int p2p_progress(void) {
    return round_of(false);
}

int p2p_progress_some(void) {
    return round_of(true);
}

void p2p_pause(struct pause *p) {
    uint64_t now = clock_ticks();
    if (!p->since)
        p->since = now;
    else if (clock_ticks_between(p->since, now) >= spin_ticks)
        sched_yield();
}

void p2p_wait_round(struct pause *pause) {
    p2p_lock();
    int n = p2p_progress();
    p2p_unlock();
    if (!n)
        p2p_pause(pause);
}

void p2p_wait_round_locked(struct pause *pause) {
    if (p2p_progress())
        return;
    p2p_unlock();
    p2p_pause(pause);
    p2p_lock();
}

/* ---- several threads ---- */

/* Drives progress for a bounded number of rounds, then offers the lock to the other threads. */
static void drive(const struct p2p_request *r, struct pause *pause) {
    for (int rounds = 0; rounds < DRIVER_ROUNDS && !r->done; rounds++)
        if (p2p_progress_some())
            pause->since = 0;
        else
            rounds = DRIVER_ROUNDS;
    if (r->done)
        return;
    p2p_unlock_slow();
    p2p_pause(pause);
    p2p_yield_lock();
    p2p_lock_slow();
}

static void wait_among_threads(struct p2p_request *r) {
    struct pause pause = {0};
    while (!r->done) {
        if (driver && driver != r) {
            p2p_watcher_sleep(r);
            continue;
        }
        driver = r;
        drive(r, &pause);
    }
    if (driver == r)
        driver = NULL;
    if (!driver) /* also if this thread was woken to drive but found its request done */
        p2p_watcher_wake_one();
}

void p2p_wait(struct p2p_request *r) {
    struct pause pause = {0};
    if (UNLIKELY(p2p_threads)) {
        wait_among_threads(r);
        return;
    }
    while (!r->done) {
        if (p2p_progress_some()) {
            pause.since = 0;
            continue;
        }
        p2p_unlock();
        p2p_pause(&pause);
        p2p_lock();
    }
}

int p2p_wait_host(MPI_Request *request, MPI_Status *status) {
    struct pause pause = {0};
    int flag = 0, rc;
    for (;;) {
        rc = host_real.Test(request, &flag, status);
        if (flag || rc != MPI_SUCCESS)
            return rc;
        p2p_wait_round(&pause);
    }
}
