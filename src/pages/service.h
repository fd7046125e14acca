/* service.h: the thread of a node that speaks for its pages: for the copies in its pool, and as the home of those
 * that lie on its NVM. It runs in the leader's process, has a channel to the other nodes of its own, allocates nothing
 * once it runs, and waits for nothing but for something to do.
 *
 *      service.c        the thread: what is there to do?                 service_cache.c  for the copies (controller.h)
 *      service_send.c   messages on their way out                        service_home.c   for the home (directory.h)
 *      service_small.c  small operations, here and there                 service_disk.c   reads and writes of the NVM
 *      service_behind.c pages of the home that are not on the NVM
 *      service_order.c  what the leader of a node asks of its service    service_room.c   room on the NVM for a checkpoint
 *      service_alive.c  nodes that do not answer any more
 *
 * Messages to oneself take the same way, without a network in between. What the controllers want sent lies in the
 * outbox of their frames until the thread comes by; the directory's messages are sent at once. So no message leads to
 * more than a few calls deep. */
#ifndef HEARTH_PAGES_SERVICE_H
#define HEARTH_PAGES_SERVICE_H

#include <poll.h>
#include <pthread.h>

#include "pages/directory.h"
#include "pages/pages.h"
#include "pages/pool.h"
#include "pages/store.h"

enum {
    SERVICE_WORKS = 64, /* transactions of a home at a time, at most */
    SERVICE_LEAST = 8,
    SERVICE_BUFFERS = 64 << 20, /* as many as have buffers of so many bytes, but at least so many */
    SERVICE_PIECE = 262144,     /* most bytes of a page that travel in one message */
    SERVICE_MESSAGE = 65536,    /* bytes that the network has room for in one, at least: some come together */
};

/* What the leader of a node asks of its service. */
enum service_order {
    ORDER_NOTHING,
    ORDER_HOLD,       /* argument: whether requests for pages and small operations wait from now on */
    ORDER_KEEP_OWNED, /* argument: whether owners that leave hand their pages over */
    ORDER_RESERVE,    /* room on the NVM for all copies that are newer */
    ORDER_CLEAN,      /* drop all copies that are newer than the NVM */
    ORDER_IDLE,       /* until nothing is under way, and all is on the NVM */
    ORDER_COMPARE,    /* -ESTALE: what is on the NVM is newer than the last checkpoint */
    ORDER_PREPARE,    /* argument: the epoch; waits as ORDER_IDLE does */
    ORDER_COMMIT,
    ORDER_ABANDON,
};

/* Messages that are none of the protocol's: they change nothing that it knows of. */
enum service_kind {
    SERVICE_RESERVE = PAGES_KINDS, /* to the home: the page will be written */
    SERVICE_RESERVED,              /* tag: an error, or 0 */
    SERVICE_PING,                  /* is this node there? */
    SERVICE_PONG,
    SERVICE_KINDS
};

/* What travels before the bytes. */
struct wire {
    struct pages_message message;
    uint32_t offset, bytes; /* of this piece of the page; of a small operation: where, and how many */
    uint32_t whole;         /* bytes of all pieces */
    uint32_t zero;          /* the page is zero, and does not travel */
};

/* The bytes of a small operation, while the home or a holder has them. */
struct parcel {
    uint32_t next; /* of the free ones: index + 1 */
    uint32_t offset, bytes;
    char data[];
};

/* Where the bytes of a message lie; they are kept until it has left. */
enum load_kind { LOAD_NONE, LOAD_FRAME, LOAD_WORK, LOAD_PARCEL, LOAD_SLOT };
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
    uint32_t sent, next; /* bytes; of the free ones: index + 1 */
};

/* A transaction of the home, with the buffer that it may need (directory.h). */
struct work {
    bool taken;
    bool over;            /* the transaction; it is free once nothing is sent from its buffer */
    bool stalled;         /* its I/O was not taken by the store yet */
    bool zero;            /* the page is */
    bool reading;         /* the I/O under way, if any */
    bool applying, dirty; /* APPLY: the page is read, then written if the operation changes it */
    uint32_t page, came, sends;
    int64_t frame; /* read into or written from this frame of ours, instead of the buffer; or POOL_NO_FRAME */
    bool holds;    /* that frame, until all is over */
    uint64_t parcel;       /* APPLY */
    char *buffer, *memory; /* memory: where the page is */
};

/* Home's pages that are not on the NVM, while the next transaction goes on: on their way there (HEARTH_WRITE_BACK=dram), or
 * because they could not be written. */
struct behind {
    uint32_t page; /* + 1; 0: free */
    bool dirty, writing;
    bool failed;   /* to be written; it is tried again later */
    int64_t frame; /* of the pool, in which it lies, or POOL_NO_FRAME: in a buffer of its own */
    char *buffer;
};

struct service_homes { /* of the ranks of this node */
    struct store *store;
    uint32_t first, pages;
    bool made; /* its file, by this job */
};

/* Another node, as far as it may owe an answer. */
struct service_peer {
    bool known;      /* it was sent something */
    uint64_t pinged; /* clock_ns of a ping since which nothing came from it; 0: none */
};

/* What the node's pages are like, for hearth top; as it was when the thread last did something. */
struct service_shown {
    uint64_t frames, frames_used, requests, page_bytes, from_nvm, from_home, from_peers, served_peers,
        evicted, written_back, nvm_reads, nvm_writes;
};

struct service {
    struct pool *pool;
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
    uint32_t behind_most, behind_end; /* used ones are before the end */
    struct pages_message *messages;   /* [nodes + 1], of a transaction that begins */
    struct memory_area {              /* addresses, of which memory is used as needed */
        char *base;
        size_t bytes;
    } directory_area, buffers, sending_area, parcel_area, behind_area;
    struct sending *sendings;
    uint32_t sending_free, sendings_made, sendings_most;
    uint32_t parcel_free, parcels_made, parcels_most;
    size_t parcel_bytes;

    struct mailbox *box;
    pthread_mutex_t baton; /* who has it goes round; the thread, unless it sleeps */
    struct spin stand_in;  /* whether it pays that others do */
    bool stood_in;         /* since the thread last looked, others did */
    _Atomic bool pays;  /* it did lately: worth waiting for the baton. Partners: both in service_stand_in.c */
    _Atomic int wanted; /* so many wait for the baton; the thread does not spin meanwhile */
    pthread_t thread;
    bool running;
    _Atomic bool stop, failed;
    struct spin spin;
    unsigned empty;                 /* wakes for nothing */
    struct {                        /* service_alive.c */
        struct service_peer *peers; /* [nodes] */
        uint64_t looked, pinged;    /* clock_ns of the last look, and of the last one that pinged */
    } alive;
    uint32_t ios;                         /* under way at the stores */
    uint32_t stalled;                     /* works whose I/O waits for room there */
    uint32_t unwritten;                   /* pages that are in `behind` only */
    uint32_t failed_writes, frames_taken; /* of them: could not be written; lie in frames of the pool */
    int write_error;                      /* the last one */
    uint64_t retried;                     /* clock_ns */
    uint32_t leaving;                     /* frames whose copies are being dropped to make room */
    struct pollfd *polls;                 /* [2 + locals] */
    struct {                              /* what the leader has asked for */
        enum service_order what;
        uint64_t argument;
        int cell;
    } order;
    struct { /* ORDER_HOLD: requests that wait for the end of a checkpoint; each has a place in the window */
        bool on;
        uint32_t count, frames; /* all of them; of pages */
        struct pages_message messages[PAGES_WINDOW];
        uint32_t small; /* slots of small operations, a list: index + 1 */
    } held;
    struct {                  /* ORDER_RESERVE */
        uint32_t next, asked; /* frames: the next to look at; whose answers are not here */
        int status;
    } room;
    struct service_shown shown;
};

/* ---- in the place of its thread: service_stand_in.c ---- */

/* By a thread of the leader's process that is about to ask for something and to wait for it: whether it does the work
 * itself from now on, because the service sleeps and that has paid lately. It must not fault until it gives it back. */
bool service_take_over(struct service *s);
bool service_work_until(void *service, const _Atomic uint32_t *word, uint32_t seen);
void service_give_back(struct service *s);

/* What it is made of, by the leader's process. 0 or a negative code after a line. */
struct service_options {
    struct pool *pool;
    const struct net_world *world;
    struct net_channel *channel;
    struct pages_events events;
    struct service_homes *homes; /* [locals], with their stores open; the service does not close them */
    uint32_t pages;              /* of all of them */
    struct mailbox *box;
};
int service_open(struct service *s, const struct service_options *options);
int service_start(struct service *s);
void service_stop(struct service *s);
void service_close(struct service *s);

/* ---- what its leader asks for; other processes do not ---- */

/* Waits until it is done: 0 or a negative code. */
int service_order(struct mailbox *box, enum service_order what, uint64_t argument);

/* ---- between the files ---- */

/* Ends the job, after the line that it writes; the second, after one that was written already. */
void service_fail(struct service *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void service_end(struct service *s, const char *why);

/* The same, for a message that nobody of ours would send now. */
void service_refuse(struct service *s, const struct pages_message *m);

/* To another node or to ourselves. */
void service_send(struct service *s, const struct pages_message *m, struct load load);
void service_arrived(void *service, const void *header, size_t header_bytes, const void *payload,
                     size_t bytes);

/* Requests of this node that were sent and are not answered. */
static inline int32_t service_open_requests(const struct service *s) {
    return PAGES_WINDOW - atomic_load(&s->pool->shared->window) - (int32_t)s->held.count;
}

/* By who has the baton: looks at everything once; how much happened. Whether something waits that no descriptor tells of. */
unsigned service_go_round(struct service *s);
bool service_is_waiting(const struct service *s);

/* A message to our cache, a piece of its page with it; to our home. */
void cache_take(struct service *s, const struct wire *w, const char *data);
void home_take(struct service *s, const struct wire *w, const char *data);

/* The page is sent from the frame no more. */
void cache_left(struct service *s, uint32_t frame);
void home_left(struct service *s, uint32_t work);

unsigned cache_look_after(struct service *s);
/* Sends the requests that were held back. */
void cache_release(struct service *s);
unsigned cache_make_room(struct service *s);

unsigned home_begin(struct service *s);
/* Whether the page of the message is one of ours. */
bool home_has(const struct service *s, const struct pages_message *m);
struct work *home_work(struct service *s, uint32_t page);
void home_finished(struct service *s, struct work *w);

/* Reads, writes or applies; home_finished follows, perhaps at once. */
void disk_begin(struct service *s, struct work *w, enum pages_io io, uint64_t parcel, uint16_t requester);
unsigned disk_poll(struct service *s);
/* Nothing is under way; *status: an error of pages that could not be written, or 0. */
bool disk_is_idle(const struct service *s, int *status);

/* service_behind.c: writes what is only in memory; tries again what could not be written. */
void disk_flush(struct service *s);
void disk_retry(struct service *s);
struct behind *behind_of(struct service *s, uint32_t page);
/* Keeps the page in memory instead of writing it, if there is room: its place is free, or its own. */
bool behind_keep(struct service *s, uint32_t page, const char *memory);
void behind_written(struct service *s, struct behind *b, int error);
/* A page that could not be written stays in memory. False: there is no room for it now. */
bool behind_keep_failed(struct service *s, struct work *w, int error);
/* To the store, for service_behind.c: 0 if it was taken. */
/* Ends the job: there is no memory for pages that cannot be written, such as this one. */
void disk_fail_full(struct service *s, uint32_t page, int error);
int disk_submit(struct service *s, enum store_way way, uint32_t page, char *memory, uint64_t token);
enum { DISK_BEHIND = 1 << 16 /* tokens of the store: works, and from here on pages that are behind */ };
/* Room for a page of this node; for those that are only in memory. 0, or a negative code after a line. */
int disk_reserve_page(struct service *s, uint32_t page);
int disk_reserve_behind(struct service *s);

/* Whether there is one: always, if the other nodes keep to their windows. */
bool parcel_is_left(const struct service *s);
uint32_t parcel_take(struct service *s);
void parcel_give(struct service *s, uint32_t index);
static inline struct parcel *parcel_of(const struct service *s, uint32_t index) {
    return (struct parcel *)(s->parcel_area.base + (size_t)index * s->parcel_bytes);
}

/* Sends the small operations that processes of this node have asked for. */
unsigned small_ask(struct service *s);
void small_release(struct service *s);
/* The operation of a message, with its bytes: kept by the home; applied to memory, and answered. */
uint32_t small_keep(struct service *s, const struct wire *w, const char *data);
/* For the home, which answers with the same parcel. */
void small_apply(char *page, struct parcel *p, bool writes);
/* For a holder. */
void small_serve(struct service *s, char *page, const struct wire *w, const char *data, struct load *answer);
void small_answered(struct service *s, const struct wire *w, const char *data);

/* Brings what is shown up to date; after the thread did something. */
void service_note(struct service *s);

/* Goes on with ORDER_RESERVE; whether it is done, and with what result. */
bool room_for_all(struct service *s, int *status);
void room_take(struct service *s, const struct pages_message *m);

/* Whether answers of other nodes may be missing. Then, at least every SERVICE_LOOK_US: nodes that were sent something are pinged
 * now and then, and the job is ended if one does not answer for HEARTH_NET_TIMEOUT. */
enum { SERVICE_LOOK_US = 500000 };
bool alive_is_wanted(const struct service *s);
void alive_look(struct service *s);
void alive_take(struct service *s, const struct pages_message *m);

unsigned order_take(struct service *s);
unsigned order_go_on(struct service *s);

#endif
