/* service.c: the page service thread and its progress loop.
 *
 * One pass of the loop handles messages from the network, frames that processes of the node have queued, completions of
 * the disk, transactions that can start, and copies that must be dropped. After some microseconds without an event the
 * thread sleeps on descriptors: the mailbox (the doorbell of the node's processes), the network and the stores. The
 * network's is inside an epoll descriptor, so that a caller that drives progress can take it out while the thread
 * sleeps. */
#include "pages/service/service.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/log.h"
#include "base/settings.h"
#include "observe/live.h"

enum { EMPTY_WAKES = 16, EMPTY_NAP_US = 200, RETRY_US = 50 };

/* ---- progress loop ---- */

unsigned pages_service_go_round(struct service *s) {
    unsigned happened = s->channel ? (unsigned)net_channel_progress(s->channel) : 0;
    happened += pages_order_take(s);
    happened += pages_cache_look_after(s);
    happened += pages_small_ask(s);
    happened += pages_io_poll(s);
    happened += pages_home_begin(s);
    happened += pages_cache_make_room(s);
    happened += pages_order_go_on(s);
    pages_batch_send(s);
    return happened;
}

bool pages_service_is_waiting(const struct service *s) {
    const struct pool_shared *p = s->pool->shared;
    return s->io.stalled > 0 || s->order.what != ORDER_NOTHING ||
           (atomic_load(&p->free_count) < pages_pool_wanted_free(s->pool) && s->leaving == 0);
}

/* From then on the thread sleeps on the network's descriptor itself. */
static void service_close_network(struct service *s) {
    if (s->thread.network >= 0)
        close(s->thread.network);
    s->thread.network = -1;
}

static void service_open_network(struct service *s) {
    int network = s->channel ? net_channel_descriptor(s->channel) : -1;
    s->thread.network = network >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    if (s->thread.network >= 0 &&
        epoll_ctl(s->thread.network, EPOLL_CTL_ADD, network, &(struct epoll_event){.events = EPOLLIN}) != 0)
        service_close_network(s);
}

bool pages_service_listen(struct service *s, bool on) {
    if (s->thread.network < 0 ||
        epoll_ctl(s->thread.network, EPOLL_CTL_MOD, net_channel_descriptor(s->channel),
                  &(struct epoll_event){.events = on ? EPOLLIN : 0}) == 0 ||
        !on)
        return true;
    service_close_network(s);
    return false;
}

static int service_network(const struct service *s) {
    return s->thread.network >= 0 ? s->thread.network : net_channel_descriptor(s->channel);
}

static bool service_arm(struct service *s, bool network) {
    if (network && s->channel && net_channel_arm(s->channel) != 0)
        return false;
    for (int i = 0; s->io.under_way > 0 && i < s->stores.locals; i++)
        if (s->stores.homes[i].store && pages_store_arm(s->stores.homes[i].store) != 0)
            return false;
    return true;
}

/* With other nodes never forever, even if no answer is outstanding: a caller that drives progress may leave requests behind
 * without waking the thread, and only the thread detects nodes that do not answer. */
static uint64_t service_longest_sleep(const struct service *s, bool network) {
    uint64_t all = s->channel || s->behind.failed > 0 ? SERVICE_LOOK_US : UINT64_MAX;
    if (pages_service_is_waiting(s))
        return RETRY_US;
    if (!s->channel)
        return all;
    uint64_t nap = network ? net_channel_nap(s->channel) : EMPTY_NAP_US;
    return nap < all ? nap : all;
}

static void service_sleep_on(struct service *s, bool network) {
    nfds_t count = 2;
    s->thread.polls[0] = (struct pollfd){.fd = net_mailbox_descriptor(s->box), .events = POLLIN};
    s->thread.polls[1] =
        (struct pollfd){.fd = network && s->channel ? service_network(s) : -1, .events = POLLIN};
    for (int i = 0; s->io.under_way > 0 && i < s->stores.locals; i++)
        if (s->stores.homes[i].store)
            s->thread.polls[count++] =
                (struct pollfd){.fd = pages_store_descriptor(s->stores.homes[i].store), .events = POLLIN};
    uint64_t us = service_longest_sleep(s, network);
    struct timespec time = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    log_trace(LOG_PAGES, "the service sleeps, %u transfers are under way", (unsigned)s->io.under_way);
    pthread_mutex_unlock(&s->progress.lock);
    ppoll(s->thread.polls, count, us == UINT64_MAX ? NULL : &time, NULL);
    pthread_mutex_lock(&s->progress.lock);
}

/* The mailbox is marked as sleeping before the last pass, so that no doorbell is lost. */
static void service_fall_asleep(struct service *s) {
    bool network = s->thread.empty < EMPTY_WAKES;
    pages_behind_flush(s);
    net_mailbox_sleeps(s->box);
    if (pages_service_go_round(s) > 0)
        s->thread.empty = 0;
    else if (service_arm(s, network) && !atomic_load(&s->thread.stop)) {
        pages_alive_look(s);
        pages_batch_send(s);
        service_sleep_on(s, network);
        s->thread.empty = network && !s->progress.happened ? s->thread.empty + 1 : 0;
        s->progress.happened = false;
    }
    net_mailbox_wakes(s->box);
}

static bool service_spin(struct service *s) {
    if (!net_spin_is_wanted(&s->thread.spin))
        return false;
    uint64_t end = clock_ns() + settings_get()->helper_spin_us * 1000u;
    bool paid = false;
    while (!paid && clock_ns() < end && !atomic_load_explicit(&s->progress.wanted, memory_order_relaxed))
        paid = pages_service_go_round(s) > 0;
    net_spin_has_paid(&s->thread.spin, paid);
    return paid;
}

static void *service_run(void *service) {
    struct service *s = service;
    net_sched_slice_shorten();
    pthread_mutex_lock(&s->progress.lock);
    live_thread_begins(LIVE_SERVICE);
    job_end_by_exit();
    log_debug(LOG_PAGES, "the service of node %u starts, with %d segments", s->self, s->stores.locals);
    while (!atomic_load_explicit(&s->thread.stop, memory_order_acquire)) {
        if (pages_service_go_round(s) > 0 || service_spin(s))
            s->thread.empty = 0;
        else
            service_fall_asleep(s);
        pages_service_note(s);
    }
    live_thread_ends();
    pthread_mutex_unlock(&s->progress.lock);
    return NULL;
}

int pages_service_start(struct service *s) {
    sigset_t all, before; /* the program's signals must not be delivered to this thread */
    service_open_network(s);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&s->thread.id, NULL, service_run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0) {
        log_error("pages: cannot start the service thread: %s", strerror(status));
        return -status;
    }
    s->thread.running = true;
    return 0;
}

void pages_service_stop(struct service *s) {
    if (!s->thread.running)
        return;
    atomic_store_explicit(&s->thread.stop, true, memory_order_release);
    net_mailbox_doorbell(s->box);
    pthread_join(s->thread.id, NULL);
    s->thread.running = false;
    service_close_network(s);
}
