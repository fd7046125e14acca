/* service.h: the page service: the thread of a node that handles messages for the copies in its pool and acts as the
 * home of the pages on its NVM.
 *
 * It runs in the leader's process and has its own channel to the other nodes. It allocates nothing once it runs, and
 * blocks only when it is idle.
 *
 *      service.c        the thread and its progress loop                 service_cache.c  the copies (controller.h)
 *      service_send.c   outgoing and incoming messages                   service_home.c   the home (directory.h)
 *      service_small.c  remote operations, local and remote side         service_disk.c   reads and writes of the NVM
 *      service_behind.c pages of the home that are not on the NVM yet    service_progress.c  caller-driven progress
 *      service_order.c  orders from the leader of the node               service_room.c   space on the NVM for a checkpoint
 *      service_alive.c  detection of unresponsive nodes
 *
 * Messages to the own node take the same path, without the network. Messages of the controllers stay in the outboxes of
 * their frames until the progress loop sends them; messages of the directory are sent immediately. So no message causes
 * a call chain of more than a few levels. */
#ifndef HEARTH_PAGES_SERVICE_H
#define HEARTH_PAGES_SERVICE_H

#include <poll.h>
#include <pthread.h>

#include "pages/protocol/directory.h"
#include "pages/pages.h"
#include "pages/pool/pool.h"
#include "pages/store/store.h"

enum {
    SERVICE_WORKS = 64, /* maximum number of concurrent transactions of a home */
    SERVICE_LEAST = 8,
    /* Their number is limited to this many bytes of buffers, but is at least SERVICE_LEAST. */
    SERVICE_BUFFERS = 64 << 20,
    SERVICE_PIECE = 262144,  /* maximum bytes of a page in one message */
    SERVICE_MESSAGE = 65536, /* minimum capacity of a network message, bytes: several messages share one */
};

/* Orders from the leader of a node to its service. */
enum service_order {
    ORDER_NOTHING,
    ORDER_HOLD,       /* argument: whether page requests and remote operations are held back from now on */
    ORDER_KEEP_OWNED, /* argument: whether owners that drop their copy hand the page over */
    ORDER_RESERVE,    /* reserve space on the NVM for all dirty copies */
    ORDER_CLEAN,      /* drop all dirty copies */
    ORDER_IDLE,       /* wait until nothing is under way and all pages are on the NVM */
    ORDER_COMPARE,    /* -ESTALE: the NVM is newer than the last checkpoint */
    ORDER_PREPARE,    /* argument: the epoch; waits as ORDER_IDLE does */
    ORDER_COMMIT,
    ORDER_ABANDON,
};

/* Messages outside of the coherence protocol; they do not change its state. */
enum service_kind {
    SERVICE_RESERVE = PAGES_KINDS, /* to the home: reserve space to write the page */
    SERVICE_RESERVED,              /* tag: an errno value, or 0 */
    SERVICE_PING,                  /* liveness probe */
    SERVICE_PONG,
    SERVICE_KINDS
};

/* Header of a message on the wire. */
struct wire {
    struct pages_message message;
    /* Of this piece of the page; of a remote operation: its offset in the page and its size. */
    uint32_t offset, bytes;
    uint32_t whole; /* bytes of all pieces */
    uint32_t zero;  /* the page is all zero, and its bytes are not sent */
};

/* Bounce buffer: the bytes of a remote operation while the home or a holder has them. */
struct bounce {
    uint32_t next; /* of the free list: index + 1 */
    uint32_t offset, bytes;
    char data[];
};

/* Location of a message's payload, which stays in place until the message has left. */
enum load_kind { LOAD_NONE, LOAD_FRAME, LOAD_WORK, LOAD_BOUNCE, LOAD_SLOT };
struct load {
    enum load_kind kind;
    uint32_t index;
    bool zero;
};

struct sending {
    struct link_send link;
    struct service *service;
    struct wire wire;
    struct load load;
    const char *memory;
    uint32_t sent, next; /* bytes sent; next of the free list: index + 1 */
};

/* A transaction of the home, with the buffer that it may need (directory.h). */
struct work {
    bool taken;
    /* The transaction has ended; the struct is free once nothing is sent from its buffer. */
    bool over;
    bool stalled;         /* the store has not accepted its I/O yet */
    bool zero;            /* the page is all zero */
    bool reading;         /* the I/O under way, if any, is a read */
    bool applying, dirty; /* APPLY: the page is read, then written if the operation modifies it */
    uint32_t page, came, sends;
    /* Frame of our pool that is read into or written from instead of the buffer; or POOL_NO_FRAME. */
    int64_t frame;
    bool holds;            /* the work keeps that frame until it has ended */
    uint64_t bounce;       /* APPLY */
    char *buffer, *memory; /* memory: location of the page */
};

/* A page of the home that is not on the NVM while later transactions continue: either its write is under way
 * (HEARTH_WRITE_BACK=dram), or it could not be written. */
struct behind {
    uint32_t page; /* page + 1; 0: free */
    bool dirty, writing;
    bool failed;   /* the write failed; it is retried later */
    int64_t frame; /* pool frame that holds the page, or POOL_NO_FRAME: it is in a buffer of its own */
    char *buffer;
};

struct service_homes { /* of the ranks of this node */
    struct store *store;
    uint32_t first, pages;
    bool made; /* this job created the file */
};

/* Liveness state of another node. */
struct service_peer {
    bool known;      /* something was sent to it */
    uint64_t pinged; /* clock_ns of a ping since which nothing has arrived from it; 0: none */
};

/* State of the node's pages for hearth top, as of the last time the service made progress. */
struct service_shown {
    uint64_t frames, frames_used, requests, page_bytes, from_nvm, from_home, from_peers, served_peers,
        evicted, written_back, nvm_reads, nvm_writes;
};

struct service {
    struct pages_pool *pool;
    const struct net_world *world;
    struct net_channel *channel; /* NULL: one node */
    struct pages_events events;
    struct pages_directory *directory; /* NULL: this node has no pages */
    struct service_homes *homes;       /* [locals] */
    int locals;
    bool coop, write_behind;
    uint16_t self;

    struct work works[SERVICE_WORKS];
    uint32_t works_taken, works_most;
    struct behind *behind;            /* [behind_most]; the first works_most have buffers */
    uint32_t behind_most, behind_end; /* entries in use are before behind_end */
    struct pages_message *messages;   /* [nodes + 1], for a transaction that starts */
    struct memory_area {              /* reserved addresses; memory is committed on first use */
        char *base;
        size_t bytes;
    } directory_area, buffers, sending_area, bounce_area, behind_area;
    struct sending *sendings;
    uint32_t sending_free, sendings_made, sendings_most;
    uint32_t bounce_free, bounces_made, bounces_most;
    size_t bounce_bytes;

    struct mailbox *box;
    /* Progress lock: its holder runs the progress loop; the thread holds it unless it sleeps. */
    pthread_mutex_t progress_lock;
    struct spin caller_spin; /* whether caller-driven progress pays */
    bool caller_progressed;  /* callers made progress since the thread last ran */
    /* Caller-driven progress paid lately, so waiting for the progress lock is worthwhile; see service_progress.c. */
    _Atomic bool pays;
    _Atomic int wanted; /* callers that wait for the progress lock; the thread does not spin meanwhile */
    pthread_t thread;
    bool running;
    _Atomic bool stop, failed;
    struct spin spin;
    unsigned empty;                 /* consecutive spurious wakeups */
    struct {                        /* service_alive.c */
        struct service_peer *peers; /* [nodes] */
        uint64_t looked, pinged;    /* clock_ns of the last check, and of the last check that sent pings */
    } alive;
    uint32_t ios;                         /* under way at the stores */
    uint32_t stalled;                     /* works whose I/O waits for space in the store's queue */
    uint32_t unwritten;                   /* pages that are in `behind` only */
    uint32_t failed_writes, frames_taken; /* of those: could not be written; are in frames of the pool */
    int write_error;                      /* the last one */
    uint64_t retried;                     /* clock_ns */
    uint32_t leaving;                     /* frames whose copies are being dropped to free them */
    struct pollfd *polls;                 /* [2 + locals] */
    struct {                              /* the leader's current order */
        enum service_order what;
        uint64_t argument;
        int cell;
    } order;
    struct { /* ORDER_HOLD: requests that wait for the end of a checkpoint; each holds a window credit */
        bool on;
        uint32_t count, frames; /* all of them; requests for pages */
        struct pages_message messages[PAGES_WINDOW];
        uint32_t small; /* list of slots of remote operations: index + 1 */
    } held;
    struct {                  /* ORDER_RESERVE */
        uint32_t next, asked; /* the next frame to inspect; outstanding answers */
        int status;
    } room;
    struct service_shown shown;
};

/* ---- caller-driven progress: service_progress.c ---- */

/* Called by a thread of the leader's process that is about to send a request and wait for the answer. Takes the
 * progress lock and returns true if the service thread sleeps and caller-driven progress has paid lately. The caller
 * must not fault until it calls pages_progress_unlock. */
bool pages_progress_try_lock(struct service *s);
bool pages_progress_work_until(void *service, const _Atomic uint32_t *word, uint32_t seen);
void pages_progress_unlock(struct service *s);

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
int pages_service_start(struct service *s);
void pages_service_stop(struct service *s);
void pages_service_close(struct service *s);

/* ---- orders; only from the leader of the node ---- */

/* Waits until the order has been carried out. Returns 0 or a negative code. */
int pages_service_order(struct mailbox *box, enum service_order what, uint64_t argument);

/* ---- between the service's files ---- */

/* Ends the job. pages_service_fail logs the reason; for pages_service_end it must have been logged already. */
void pages_service_fail(struct service *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pages_service_end(struct service *s, const char *why);

/* Ends the job because of a message that a correct node cannot send now. */
void pages_service_refuse(struct service *s, const struct pages_message *m);

/* Sends to another node or to ourselves. */
void pages_service_send(struct service *s, const struct pages_message *m, struct load load);
void pages_service_arrived(void *service, const void *header, size_t header_bytes, const void *payload,
                           size_t bytes);

/* Requests of this node that were sent and are not answered yet. */
static inline int32_t pages_service_open_requests(const struct service *s) {
    return PAGES_WINDOW - atomic_load(&s->pool->shared->window) - (int32_t)s->held.count;
}

/* pages_service_go_round: one pass over all sources of work; returns the number of events. Requires the progress lock.
 * pages_service_is_waiting: whether there is work that no descriptor signals. */
unsigned pages_service_go_round(struct service *s);
bool pages_service_is_waiting(const struct service *s);

/* Handle a message to our cache, with a piece of its page, or to our home. */
void pages_cache_take(struct service *s, const struct wire *w, const char *data);
void pages_home_take(struct service *s, const struct wire *w, const char *data);

/* One send from the frame, or from the buffer of the work, has left. */
void pages_cache_left(struct service *s, uint32_t frame);
void pages_home_left(struct service *s, uint32_t work);

unsigned pages_cache_look_after(struct service *s);
/* Sends the requests that were held back. */
void pages_cache_release(struct service *s);
unsigned pages_cache_make_room(struct service *s);

unsigned pages_home_begin(struct service *s);
/* Whether this node is the home of the message's page. */
bool pages_home_has(const struct service *s, const struct pages_message *m);
struct work *pages_home_work(struct service *s, uint32_t page);
void pages_home_finished(struct service *s, struct work *w);

/* Starts a read, write or apply; pages_home_finished follows, possibly before it returns. */
void pages_io_begin(struct service *s, struct work *w, enum pages_io io, uint64_t bounce, uint16_t requester);
unsigned pages_io_poll(struct service *s);
/* Whether no I/O is under way; *status: the error of pages that could not be written, or 0. */
bool pages_io_is_idle(const struct service *s, int *status);

/* Service_behind.c: writes pages that are in memory only; retries failed writes. */
void pages_behind_flush(struct service *s);
void pages_behind_retry(struct service *s);
struct behind *pages_behind_of(struct service *s, uint32_t page);
/* Keeps the page in memory instead of writing it, in its own entry or a free one. False: all are in use. */
bool pages_behind_keep(struct service *s, uint32_t page, const char *memory);
void pages_behind_written(struct service *s, struct behind *b, int error);
/* Keeps a page whose write failed in memory. False: there is no space for it now. */
bool pages_behind_keep_failed(struct service *s, struct work *w, int error);
/* Ends the job: no memory is left for pages that cannot be written, such as this one. */
void pages_io_fail_full(struct service *s, uint32_t page, int error);
/* Submits a request to the store; 0 if it was accepted. */
int pages_io_submit(struct service *s, enum store_way way, uint32_t page, char *memory, uint64_t token);
enum { DISK_BEHIND = 1 << 16 /* tokens of the store: works, and from here on entries of `behind` */ };
/* Reserve space on the NVM for a page of this node, or for all pages that are in memory only. 0, or a negative code
 * after an error line. */
int pages_io_reserve_page(struct service *s, uint32_t page);
int pages_io_reserve_behind(struct service *s);

/* Whether a bounce buffer is free: always, if the other nodes respect their windows. */
bool pages_bounce_is_left(const struct service *s);
uint32_t pages_bounce_take(struct service *s);
void pages_bounce_give(struct service *s, uint32_t index);
static inline struct bounce *pages_bounce_of(const struct service *s, uint32_t index) {
    return (struct bounce *)(s->bounce_area.base + (size_t)index * s->bounce_bytes);
}

/* Sends the remote operations that processes of this node have requested. */
unsigned pages_small_ask(struct service *s);
void pages_small_release(struct service *s);
/* The home keeps the operation of a message, with its bytes. */
uint32_t pages_small_keep(struct service *s, const struct wire *w, const char *data);
/* For the home, which answers from the same bounce buffer. */
void pages_small_apply(char *page, struct bounce *p, bool writes);
/* For a holder. */
void pages_small_serve(struct service *s, char *page, const struct wire *w, const char *data,
                       struct load *answer);
void pages_small_answered(struct service *s, const struct wire *w, const char *data);

/* Updates s->shown; called after the thread made progress. */
void pages_service_note(struct service *s);

/* Continues ORDER_RESERVE. Returns whether it is done, and its result. */
bool pages_room_for_all(struct service *s, int *status);
void pages_room_take(struct service *s, const struct pages_message *m);

/* pages_alive_is_wanted: whether answers from other nodes may be outstanding. pages_alive_look is then called at least every
 * SERVICE_LOOK_US. It pings nodes to which something was sent, and ends the job if one does not answer for
 * HEARTH_NET_TIMEOUT. */
enum { SERVICE_LOOK_US = 500000 };
bool pages_alive_is_wanted(const struct service *s);
void pages_alive_look(struct service *s);
void pages_alive_take(struct service *s, const struct pages_message *m);

unsigned pages_order_take(struct service *s);
unsigned pages_order_go_on(struct service *s);

#endif
