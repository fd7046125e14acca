/* helper.c: the thread that serves other nodes, and those requests of the node's own processes that need a server.
 *
 * Each round polls the network and the mailbox, and executes blocks that are ready. After some microseconds without
 * work the thread sleeps on descriptors: that of the network, that of the mailbox, and one that stops it. To lose no
 * wakeup, it announces its sleep to both sides before it polls for the last time. Work that it could not do (a lock
 * was held) is retried soon; it never waits for one resource.
 *
 * While a connection is being set up, the network's descriptor stays readable without any work. After some empty
 * wakes in a row, the thread sleeps briefly on the other descriptors alone, so that the process that must answer can
 * run. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/log.h"
#include "base/settings.h"
#include "net/rpc/rpc_engine.h"
#include "net/rpc/sched_slice.h"
#include "net/rpc/tally.h"
#include "net/shm/wake.h"
#include "observe/live.h"

enum { RETRY_US = 30, EMPTY_WAKES = 16, EMPTY_NAP_US = 200 };
enum { LOCAL_AT_ONCE = 64 }; /* mailbox requests per round, before the network is polled again */

static unsigned helper_serve_local(struct helper *h) {
    struct net *n = h->net;
    struct mailbox_request request;
    unsigned count = 0;
    int cell;
    if (h->index != 0)
        return 0;
    for (; count < LOCAL_AT_ONCE && net_mailbox_take(n->helper_box, &request, &cell); count++) {
        int64_t answer = -ENOSYS;
        int process = net_mailbox_process(n->helper_box, cell);
        uint32_t number = request.what >> 16;
        const struct net_service *service =
            number < NET_SERVICES && net_engine_offers(n, number) ? &n->services[number] : NULL;
        if (!service || !service->local ||
            service->local(service->arg, process, &request, cell, &answer) == NET_DONE)
            net_mailbox_answer(n->helper_box, cell, answer);
    }
    tally_add(&h->local, count);
    return count;
}

void net_answer_local(struct net *n, int cell, int64_t answer) {
    net_mailbox_answer(n->helper_box, cell, answer);
}

unsigned net_helper_round(struct helper *h, unsigned *blocked) {
    unsigned happened = 0;
    *blocked = 0;
    if (h->server.port) {
        happened += (unsigned)net_link_progress(h->server.port);
        happened += net_server_work(&h->server, blocked);
    }
    return happened + helper_serve_local(h);
}

/* A round of its thread, which may move to another core. */
static unsigned go_round(struct helper *h, unsigned *blocked) {
    const struct server *s = &h->server;
    uint64_t served = s->served;
    unsigned happened = net_helper_round(h, blocked);
    if (s->served != served)
        net_affinity_follow(&h->affinity, s->served, s->computed, s->served_bytes - s->computed);
    return happened;
}

static uint64_t helper_longest_sleep(const struct helper *h, unsigned blocked, bool network) {
    if (blocked > 0)
        return RETRY_US;
    if (!h->server.port)
        return UINT64_MAX;
    return network ? net_link_nap(h->server.port) : EMPTY_NAP_US;
}

static void doorbell_clear(struct helper *h) {
    uint64_t rings;
    while (read(h->doorbell, &rings, sizeof rings) < 0 && errno == EINTR)
        ;
}

/* The caller has announced the sleep to the mailbox. */
static void helper_sleep_for(struct helper *h, uint64_t us, bool network) {
    struct pollfd fds[3] = {
        {.fd = h->doorbell, .events = POLLIN},
        {.fd = h->index == 0 ? net_mailbox_descriptor(h->net->helper_box) : -1, .events = POLLIN},
        {.fd = network && h->server.port ? net_link_descriptor(h->server.port) : -1, .events = POLLIN},
    };
    struct timespec time = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    log_trace(LOG_NET, "helper %d sleeps, %s", h->index,
              us == UINT64_MAX ? "until it is woken" : "for a while at most");
    if (ppoll(fds, 3, us == UINT64_MAX ? NULL : &time, NULL) > 0 && fds[0].revents)
        doorbell_clear(h);
    tally_add(&h->wakes, 1);
    log_trace(LOG_NET, "helper %d wakes", h->index);
}

/* Callers may take the turn meanwhile. */
static void helper_sleep_on(struct helper *h, unsigned blocked, bool network) {
    uint64_t us = helper_longest_sleep(h, blocked, network);
    atomic_store_explicit(&h->turn.asleep, true, memory_order_relaxed);
    net_turn_end(&h->turn);
    helper_sleep_for(h, us, network);
}

/* Begins with the turn and ends without it. */
static void helper_fall_asleep(struct helper *h, unsigned blocked) {
    bool network = h->empty < EMPTY_WAKES;
    if (h->index == 0)
        net_mailbox_sleeps(h->net->helper_box);
    unsigned still_blocked;
    bool armed = !network || !h->server.port || net_link_arm(h->server.port) == 0;
    bool sleeps = armed && helper_serve_local(h) == 0 && !atomic_load(&h->stop);
    if (sleeps)
        helper_sleep_on(h, blocked, network);
    if (h->index == 0)
        net_mailbox_wakes(h->net->helper_box);
    if (!sleeps)
        net_turn_end(&h->turn);
    else if (net_turn_take(&h->turn)) {
        atomic_store_explicit(&h->turn.asleep, false, memory_order_relaxed);
        h->empty = go_round(h, &still_blocked) > 0 || !network ? 0 : h->empty + 1;
        net_turn_end(&h->turn);
    }
}

/* Callers serve. Requests of this node's processes still wake it. */
static void helper_rest(struct helper *h) {
    struct turn *t = &h->turn;
    if (h->index == 0)
        net_mailbox_sleeps(h->net->helper_box);
    helper_sleep_for(h, t->rest_us, false);
    if (h->index == 0)
        net_mailbox_wakes(h->net->helper_box);
    t->rest_us = t->rest_us < REST_MOST_US ? 2 * t->rest_us : REST_MOST_US;
}

/* Polls for a while for more work. Does not yield: next to a rank that computes, a yield would cost a whole slice. */
static bool helper_spin(struct helper *h, unsigned *blocked) {
    if (!net_spin_is_wanted(&h->spin))
        return false;
    uint64_t sent = h->server.served_bytes - h->spun_bytes; /* clients receive them before they send again */
    uint64_t end = clock_ns() + h->net->helper_spin_ns + net_spin_for_bytes(sent);
    h->spun_bytes = h->server.served_bytes;
    bool paid = false;
    while (!paid && clock_ns() < end)
        paid = go_round(h, blocked) > 0;
    net_spin_has_paid(&h->spin, paid);
    return paid;
}

static void *helper_run(void *arg) {
    struct helper *h = arg;
    unsigned blocked;
    live_thread_begins(LIVE_HELPER);
    job_end_by_exit();
    log_debug(LOG_NET, "helper %d starts; idle, it polls for %llu us before it sleeps", h->index,
              (unsigned long long)(h->net->helper_spin_ns / 1000));
    net_affinity_thread(&h->affinity, h->net->masks);
    net_sched_slice_shorten();
    h->spin.score = SPIN_BEST;
    while (!atomic_load_explicit(&h->stop, memory_order_acquire)) {
        if (net_turn_is_driven(&h->turn) || !net_turn_take(&h->turn)) {
            helper_rest(h);
            continue;
        }
        h->turn.rest_us = REST_LEAST_US;
        if (go_round(h, &blocked) > 0 || helper_spin(h, &blocked)) {
            h->empty = 0;
            net_turn_end(&h->turn);
        } else
            helper_fall_asleep(h, blocked);
    }
    log_debug(LOG_NET, "helper %d ends after %llu blocks", h->index, (unsigned long long)h->server.served);
    struct timespec busy = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
    atomic_store(&h->busy_ns, (uint64_t)busy.tv_sec * 1000000000u + (uint64_t)busy.tv_nsec);
    live_thread_ends();
    return NULL;
}

/* Several simulated nodes on one machine: a core that no rank of this node uses is probably used by another node's. */
static enum affinity_way helper_affinity(const struct settings *set) {
    enum affinity_way way = (enum affinity_way)set->helper_affinity;
    return way == AFFINITY_AUTO && set->node_ranks ? AFFINITY_FLOAT : way;
}

int net_helper_open(struct helper *h, struct net *n, int index) {
    const struct settings *set = settings_get();
    h->net = n;
    h->index = index;
    h->affinity = (struct affinity){.way = helper_affinity(set), .threshold = set->helper_threshold};
    h->doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (h->doorbell < 0) {
        int status = -errno;
        log_error("helper: cannot create its eventfd: %s", strerror(errno));
        return status;
    }
    return n->link ? net_server_open(&h->server, n, index) : 0;
}

int net_helper_start(struct helper *h) {
    /* The program's signals must not be delivered to this thread. */
    sigset_t all, before;
    h->started_ns = clock_ns();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&h->thread, NULL, helper_run, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0) {
        log_error("helper: cannot create its thread: %s", strerror(status));
        return -status;
    }
    h->running = true;
    return 0;
}

void net_helper_wake(struct helper *h) {
    uint64_t one = 1;
    while (write(h->doorbell, &one, sizeof one) < 0)
        if (errno != EINTR)
            net_wake_failed("the helper of this process");
}

void net_helper_stop(struct helper *h) {
    if (!h->running)
        return;
    atomic_store_explicit(&h->stop, true, memory_order_release);
    net_helper_wake(h);
    pthread_join(h->thread, NULL);
    h->running = false;
}

void net_helper_close(struct helper *h) {
    net_server_close(&h->server);
    if (h->doorbell >= 0)
        close(h->doorbell);
    h->doorbell = -1;
}
