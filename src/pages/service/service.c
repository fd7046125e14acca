/* service.c: the page service thread and its progress loop.
 *
 * One pass of the loop handles messages from the network, frames that processes of the node have queued, completions of
 * the disk, transactions that can start, and copies that must be dropped. After some microseconds without an event the
 * thread sleeps on descriptors: the mailbox (the doorbell of the node's processes), the network and the stores. */
#include "pages/service/service.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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
    return happened;
}

bool pages_service_is_waiting(const struct service *s) {
    const struct pool_shared *p = s->pool->shared;
    return s->stalled > 0 || s->order.what != ORDER_NOTHING ||
           (atomic_load(&p->free_count) < pages_pool_wanted_free(s->pool) && s->leaving == 0);
}

static bool service_arm(struct service *s, bool network) {
    if (network && s->channel && net_channel_arm(s->channel) != 0)
        return false;
    for (int i = 0; s->ios > 0 && i < s->locals; i++)
        if (s->homes[i].store && pages_store_arm(s->homes[i].store) != 0)
            return false;
    return true;
}

static uint64_t service_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t service_longest_sleep(const struct service *s, bool network) {
    uint64_t all = pages_alive_is_wanted(s) || s->failed_writes > 0 ? SERVICE_LOOK_US : UINT64_MAX;
    if (pages_service_is_waiting(s))
        return RETRY_US;
    if (!s->channel)
        return all;
    return service_least(all, network ? net_channel_nap(s->channel) : EMPTY_NAP_US);
}

static void service_sleep_on(struct service *s, bool network) {
    nfds_t count = 2;
    s->polls[0] = (struct pollfd){.fd = net_mailbox_descriptor(s->box), .events = POLLIN};
    s->polls[1] = (struct pollfd){.fd = network && s->channel ? net_channel_descriptor(s->channel) : -1,
                                  .events = POLLIN};
    for (int i = 0; s->ios > 0 && i < s->locals; i++)
        if (s->homes[i].store)
            s->polls[count++] =
                (struct pollfd){.fd = pages_store_descriptor(s->homes[i].store), .events = POLLIN};
    uint64_t us = service_longest_sleep(s, network);
    struct timespec time = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    pthread_mutex_unlock(&s->progress_lock);
    ppoll(s->polls, count, us == UINT64_MAX ? NULL : &time, NULL);
    pthread_mutex_lock(&s->progress_lock);
}

/* The mailbox is marked as sleeping before the last pass, so that no doorbell is lost. */
static void service_fall_asleep(struct service *s) {
    bool network = s->empty < EMPTY_WAKES;
    pages_behind_flush(s);
    net_mailbox_sleeps(s->box);
    if (pages_service_go_round(s) > 0)
        s->empty = 0;
    else if (service_arm(s, network) && !atomic_load(&s->stop)) {
        pages_alive_look(s);
        service_sleep_on(s, network);
        s->empty = network && !s->caller_progressed ? s->empty + 1 : 0;
        s->caller_progressed = false;
    }
    net_mailbox_wakes(s->box);
}

static bool service_spin(struct service *s) {
    if (!net_spin_is_wanted(&s->spin))
        return false;
    uint64_t end = clock_ns() + settings_get()->helper_spin_us * 1000u;
    bool paid = false;
    while (!paid && clock_ns() < end && !atomic_load_explicit(&s->wanted, memory_order_relaxed))
        paid = pages_service_go_round(s) > 0;
    net_spin_has_paid(&s->spin, paid);
    return paid;
}

static void *service_run(void *service) {
    struct service *s = service;
    if (settings_get()->short_slices)
        net_sched_slice_shorten();
    pthread_mutex_lock(&s->progress_lock);
    live_thread_begins(LIVE_SERVICE);
    while (!atomic_load_explicit(&s->stop, memory_order_acquire)) {
        if (pages_service_go_round(s) > 0 || service_spin(s))
            s->empty = 0;
        else
            service_fall_asleep(s);
        pages_service_note(s);
    }
    live_thread_ends();
    pthread_mutex_unlock(&s->progress_lock);
    return NULL;
}

int pages_service_start(struct service *s) {
    sigset_t all, before; /* the program's signals must not be delivered to this thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&s->thread, NULL, service_run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0) {
        log_error("pages: cannot start the service thread: %s", strerror(status));
        return -status;
    }
    s->running = true;
    return 0;
}

void pages_service_stop(struct service *s) {
    if (!s->running)
        return;
    atomic_store_explicit(&s->stop, true, memory_order_release);
    net_mailbox_doorbell(s->box);
    pthread_join(s->thread, NULL);
    s->running = false;
}

/* ---- opening ---- */

/* Reserves addresses; memory is committed on first use. */
static int service_reserve(struct memory_area *area, size_t bytes) {
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -errno;
    *area = (struct memory_area){.base = base, .bytes = bytes};
    return 0;
}

static void service_give_up(struct memory_area *area) {
    if (area->base)
        munmap(area->base, area->bytes);
    *area = (struct memory_area){0};
}

static int open_directory(struct service *s, uint32_t pages) {
    struct pages_limits limits = {.nodes = (uint32_t)s->world->nodes,
                                  .window = PAGES_WINDOW,
                                  .pages = pages,
                                  .home = s->self,
                                  .coop = s->coop,
                                  .hand_over = true};
    if (pages == 0)
        return 0;
    size_t bytes = pages_directory_bytes(&limits);
    int status = bytes ? service_reserve(&s->directory_area, bytes) : -EINVAL;
    if (status == 0)
        s->directory = pages_directory_open(s->directory_area.base, &limits);
    return status;
}

static int open_buffers(struct service *s) {
    size_t page = s->pool->page_bytes;
    size_t works = SERVICE_BUFFERS / page;
    s->works_most = (uint32_t)(works < SERVICE_LEAST ? SERVICE_LEAST : service_least(works, SERVICE_WORKS));
    s->behind_most = SERVICE_WORKS + s->pool->shared->frames;
    int status = service_reserve(&s->buffers, 2 * SERVICE_WORKS * page);
    if (status == 0)
        status = service_reserve(&s->behind_area, s->behind_most * sizeof *s->behind);
    s->behind = (struct behind *)(void *)s->behind_area.base;
    for (int i = 0; status == 0 && i < SERVICE_WORKS; i++) {
        s->works[i].buffer = s->buffers.base + (size_t)i * page;
        s->behind[i].buffer = s->buffers.base + (size_t)(SERVICE_WORKS + i) * page;
    }
    return status;
}

/* Upper bounds: for each node, the requests that it may have open; for each frame, an answer and a request; for each
 * transaction, a message to every node; for each node, a ping and its answer. */
static int open_messages(struct service *s) {
    uint32_t nodes = (uint32_t)s->world->nodes, frames = s->pool->shared->frames;
    s->sendings_most = 4 * frames + 4 * nodes * PAGES_WINDOW + SERVICE_WORKS * (nodes + 1) + 2 * nodes;
    s->bounces_most = 2 * nodes * PAGES_WINDOW + 2 * SERVICE_WORKS;
    s->bounce_bytes = round_up(sizeof(struct bounce) + s->pool->shared->small_bytes, 64);
    s->messages = malloc((nodes + 1) * sizeof *s->messages);
    s->polls = malloc((2 + (size_t)s->locals) * sizeof *s->polls);
    s->alive.peers = calloc(nodes, sizeof *s->alive.peers);
    int status = s->messages && s->polls && s->alive.peers ? 0 : -ENOMEM;
    if (status == 0)
        status = service_reserve(&s->sending_area, s->sendings_most * sizeof *s->sendings);
    if (status == 0)
        status = service_reserve(&s->bounce_area, s->bounces_most * s->bounce_bytes);
    s->sendings = (struct sending *)(void *)s->sending_area.base;
    return status;
}

int pages_service_open(struct service *s, const struct service_options *o) {
    const struct settings *set = settings_get();
    *s = (struct service){.pool = o->pool,
                          .world = o->world,
                          .channel = o->channel,
                          .events = o->events,
                          .homes = o->homes,
                          .locals = o->world->local_count,
                          .coop = set->coop,
                          .write_behind = set->write_back == WRITE_BACK_DRAM,
                          .self = (uint16_t)o->world->node,
                          .box = o->box,
                          .spin = {.score = SPIN_BEST},
                          .caller_spin = {.score = SPIN_BEST},
                          .pays = true};
    pthread_mutex_init(&s->progress_lock, NULL);
    int status = open_directory(s, o->pages);
    if (status == 0)
        status = open_buffers(s);
    if (status == 0)
        status = open_messages(s);
    if (status != 0) {
        log_error("pages: no memory for the service of %u pages of %zu bytes: %s", o->pages,
                  o->pool->page_bytes, strerror(-status));
        pages_service_close(s);
    }
    return status;
}

void pages_service_close(struct service *s) {
    service_give_up(&s->directory_area);
    service_give_up(&s->buffers);
    service_give_up(&s->sending_area);
    service_give_up(&s->bounce_area);
    service_give_up(&s->behind_area);
    pthread_mutex_destroy(&s->progress_lock);
    free(s->messages);
    free(s->polls);
    free(s->alive.peers);
    s->alive.peers = NULL;
    s->messages = NULL;
    s->polls = NULL;
}
