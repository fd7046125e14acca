/* service.h: the page service: the thread of a node that handles messages for the copies in its pool and acts as the
 * home of the pages on its NVM.
 *
 * It runs in the leader's process and has its own channel to the other nodes. It allocates nothing once it runs, and
 * blocks only when it is idle.
 *
 *      service.c        the thread and its progress loop                 service_open.c   its memory
 *      service_cache.c  the copies (controller.h)                        service_home.c   the home (directory.h)
 *      service_send.c   outgoing and incoming messages                   service_disk.c   reads and writes of the NVM
 *      service_batch.c  messages that leave together
 *      service_small.c  remote operations, local and remote side         service_bounce.c their bounce buffers
 *      service_behind.c pages of the home that are not on the NVM yet    service_progress.c  caller-driven progress
 *      service_order.c  orders from the leader of the node               service_room.c   space on the NVM for a checkpoint
 *      service_alive.c  detection of unresponsive nodes                  service_fail.c   errors that end the job
 *
 * Each file except service_open.c has a header of its own name, with its part of struct service if it has one.
 *
 * Messages to the own node take the same path, without the network. Messages of the controllers stay in the outboxes of
 * their frames until the progress loop sends them; messages of the directory are sent immediately. So no message causes
 * a call chain of more than a few levels. */
#ifndef HEARTH_PAGES_SERVICE_H
#define HEARTH_PAGES_SERVICE_H

#include <poll.h>
#include <pthread.h>

#include "base/compiler.h"
#include "pages/pages.h"
#include "pages/pool/pool.h"
#include "pages/service/service_alive.h"
#include "pages/service/service_batch.h"
#include "pages/service/service_behind.h"
#include "pages/service/service_bounce.h"
#include "pages/service/service_cache.h"
#include "pages/service/service_disk.h"
#include "pages/service/service_fail.h"
#include "pages/service/service_home.h"
#include "pages/service/service_order.h"
#include "pages/service/service_progress.h"
#include "pages/service/service_room.h"
#include "pages/service/service_send.h"
#include "pages/service/service_small.h"

struct service_thread {
    pthread_t id;
    bool running;
    _Atomic bool stop;
    struct spin spin;
    unsigned empty;       /* consecutive spurious wakeups */
    int network;          /* epoll descriptor with the network's in it, or -1: see pages_service_listen */
    struct pollfd *polls; /* [2 + locals] */
};

/* Reserved addresses; memory is committed on first use. */
struct memory_area {
    char *base;
    size_t bytes;
};

struct service_areas {
    struct memory_area directory, works, buffers, sends, batches, bounces, behind;
};

/* State of the node's pages for hearth top, as of the last time the service made progress. */
struct service_shown {
    uint64_t frames, frames_used, requests, page_bytes, from_nvm, from_home, from_peers, served_peers,
        evicted, written_back, nvm_reads, nvm_writes;
};

struct service {
    /* Every pass of the progress loop reads these, of `behind` the first field: two cache lines. */
    _Alignas(CACHE_LINE) struct pages_pool *pool;
    struct net_channel *channel; /* NULL: one node */
    struct mailbox *box;
    struct service_ordered order;
    uint32_t leaving; /* frames whose copies are being dropped to free them */
    uint16_t self;
    bool coop;
    struct service_home home;
    struct service_held held;
    struct service_io io;
    struct service_behind behind;

    /* Messages use these. */
    const struct net_world *world;
    struct service_stores stores;
    struct service_sends sends;
    struct service_batches batches;
    struct service_bounces bounces;
    struct service_alive alive;

    /* Other threads of the process write these. */
    _Alignas(CACHE_LINE) struct service_progress progress;
    _Atomic bool failed;

    struct service_thread thread;
    struct service_room room;
    struct pages_events events;
    struct service_areas areas;
    struct service_shown shown;
};
_Static_assert(offsetof(struct service, behind.unwritten) <= 2 * CACHE_LINE, "a pass reads two cache lines");

/* Arguments of pages_service_open, which the leader's process calls. Returns 0, or a negative code after an error line. */
struct service_options {
    struct pages_pool *pool;
    const struct net_world *world;
    struct net_channel *channel;
    struct pages_events events;
    struct service_homes *homes; /* [locals], with open stores; the service does not close them */
    uint32_t pages;              /* of all of them */
    struct mailbox *box;
};
int pages_service_open(struct service *s, const struct service_options *options);
void pages_service_close(struct service *s);

int pages_service_start(struct service *s);
void pages_service_stop(struct service *s);

/* Requests of this node that were sent and are not answered yet. An answered remote operation keeps its window credit until
 * a thread collects the answer. Only the service answers, so those counted here had their credits when `window` was
 * read. */
static inline int32_t pages_service_open_requests(const struct service *s) {
    int32_t open = PAGES_WINDOW - atomic_load(&s->pool->shared->window) - (int32_t)s->held.count;
    return open > 0 ? open - pages_pool_small_answers(s->pool) : open;
}

/* Whether arriving messages wake the thread: not while a caller drives progress. Returns false if the system refuses to
 * wake it by messages; then wake it once, and it will sleep on the network's own descriptor. Requires the progress lock. */
bool pages_service_listen(struct service *s, bool on);

/* pages_service_go_round: one pass over all sources of work; returns the number of events. Requires the progress lock.
 * pages_service_is_waiting: whether there is work that no descriptor signals. */
unsigned pages_service_go_round(struct service *s);
bool pages_service_is_waiting(const struct service *s);

/* Updates s->shown; called after the thread made progress. */
void pages_service_note(struct service *s);

#endif
