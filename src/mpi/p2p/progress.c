/* progress.c: rounds of progress, and waiting.
 *
 * A round polls the node's shared memory, which costs a few loads. The host MPI is polled when a microsecond has
 * passed since the last time, and now and then if rounds stay busy: a poll costs as much as several messages, but MPI
 * also has other work to do, one-sided calls of other processes for example. If all messages go through MPI, every
 * round polls it.
 *
 * A peer that owes an answer and is inside an MPI call is woken every 50 us, by the rounds themselves. It therefore
 * does not matter whether the program waits or tests, nor whether other peers keep this process busy meanwhile.
 *
 * A waiting thread spins for 10 ms and then yields the CPU between rounds; after a microsecond if there are more
 * processes on this node than CPUs. Yielding earlier was tried: if other jobs use the CPUs as well, two communicating
 * processes then hardly ever run at the same time, and each message takes a scheduler slice. */
#include <sched.h>
#include <unistd.h>

#include "mpi/p2p/p2p.h"

enum { BUSY_ROUNDS = 64, HOST_NS = 1000, SPIN_NS = 10000000, WAKE_NS = 50000 };

static uint64_t host_ticks, spin_ticks, wake_ticks; /* the constants above, in ticks */
static uint64_t host_last, wake_last;
static unsigned busy;

void progress_open(int on_node) {
    double tick = clock_ns_per_tick();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    host_ticks = (uint64_t)(HOST_NS / tick);
    wake_ticks = (uint64_t)(WAKE_NS / tick);
    spin_ticks = on_node > cpus ? (uint64_t)(HOST_NS / tick) : (uint64_t)(SPIN_NS / tick);
}

int p2p_progress_node(void) {
    int n = node_poll();
    if (UNLIKELY(channel_waiting != NULL))
        n += channel_flush(false);
    return n;
}

static bool is_hosts_turn(int n) {
    if (!p2p_node)
        return true;
    if (n)
        return ++busy % BUSY_ROUNDS == 0;
    return clock_ticks() - host_last >= host_ticks;
}

/* Wakes processes of this node. The first time it only records the time: an answer may be in flight. */
static void wake_debtors(uint64_t now) {
    if (wake_last && now - wake_last < wake_ticks)
        return;
    bool wait = !wake_last;
    wake_last = now;
    if (!wait && !channel_wake())
        wake_last = 0;
}

static inline int round_of(bool some) {
    int n = p2p_node ? node_poll() : 0;
    if (UNLIKELY(channel_waiting != NULL))
        n += channel_flush(true);
    if (is_hosts_turn(n)) {
        n += far_poll(some);
        n += request_bury();
        host_last = p2p_node ? clock_ticks() : 0;
        if (UNLIKELY(channel_owing != NULL))
            wake_debtors(host_last);
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
    else if (now - p->since >= spin_ticks)
        sched_yield();
}

void p2p_wait(const struct request *r) {
    struct pause pause = {0};
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
        p2p_lock();
        int n = p2p_progress();
        p2p_unlock();
        if (!n)
            p2p_pause(&pause);
    }
}
