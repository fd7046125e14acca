/* pages_sim.h: the nodes of a job and the pages of one segment, simulated; internal to sim_pages.
 *
 * The directory, the controllers of the copies, the replacement, the read-ahead and the fetch policy for small
 * operations are those of src/pages. The work of a node's service thread around them (src/pages/pool/pool.c and
 * service_*.c: frames, request slots, buffers of the home) is done here in the same order, without threads.
 *
 * Models: the network (network.h), in which pages are in flight while they are copied at both ends; the NVM,
 * one read or write after another; a service thread that takes some time for each message, one after another.
 *
 * Instead of data only versions are kept: every write creates a new version of the page. Copies, the NVM, the
 * home's buffers and messages in flight have a version. A reader must find the newest version, and a writer
 * must be the only holder. */
#ifndef HEARTH_SIM_PAGES_H
#define HEARTH_SIM_PAGES_H

#include "events.h"
#include "network.h"

#include "base/random.h"
#include "pages/pool/ahead.h"
#include "pages/protocol/controller.h"
#include "pages/protocol/directory.h"
#include "pages/pool/fetch_policy.h"
#include "pages/pool/replace.h"

enum { HOME = 0, OWNER = 1, THIRD_NODE = 2, WORKS = 64, FOR_EVICTION = 16 }; /* as in pool.h and service.h */

enum pattern {
    SEQUENTIAL,
    RANDOM,
    FALSE_SHARING,
    MIXED, /* random pages and kinds of access; not in the paper */
    THIRD /* THIRD_NODE puts into pages that OWNER has written, after the last of these writes; not in the paper */
};

struct machine {
    double latency_us, bandwidth, copy_bandwidth, nvm_bandwidth, nvm_us, service_us, put_us;
    uint64_t page_bytes;
    uint32_t frames; /* of each node's pool */
};

struct plan {
    struct machine machine;
    uint32_t nodes, pages;
    enum pattern pattern;
    bool coop, small; /* small: operations are executed at the page's owner, if that is cheaper */
    bool raw;         /* no pages: the segment is in memory, and the NIC serves it (GASNet) */
    bool served;      /* with raw: the service threads handle the messages */
    unsigned ahead;
    uint32_t puts; /* of each node, FALSE_SHARING; of THIRD_NODE; accesses, MIXED */
    bool meet;     /* a barrier of all nodes after each put */
    uint64_t seed;
};

struct frame {
    struct pages_control control;
    uint64_t version;
    uint32_t next; /* free list: frame + 1 */
    uint16_t sends;
    bool gone, leaving, fresh;
};

enum app_state {
    APP_TRIES,
    APP_WAITS_READY,
    APP_WAITS_AGAIN,
    APP_WAITS_ROOM,
    APP_COPIES,
    APP_WAITS_SMALL,
    APP_OVER
};

struct node {
    struct frame *frames;
    struct replace replace;
    struct replace_link *links;
    uint32_t *where; /* by page: frame + 1 */
    uint32_t first_free, free_count, leaving;
    int window;
    struct ahead ahead;
    struct fetch_policy *habit;
    uint64_t service_busy; /* end of its current work */
    /* the application */
    enum app_state app;
    bool called;       /* an event for it is scheduled */
    uint32_t *order;   /* RANDOM */
    uint32_t at;       /* accesses done */
    uint32_t frame;    /* frame for which it waits, or from which it copies */
    uint32_t page;     /* of this access */
    bool write, whole; /* all of the page */
    uint64_t started;  /* when its first access began */
    uint64_t began, finished, longest;
    uint64_t hits, misses, smalls, from_nvm, from_home, from_peers, evicted;
};

struct work { /* a transaction of the home, and its buffer */
    bool taken, over, from_memory;
    uint32_t page;
    uint16_t sends;
    enum pages_io io;
    uint64_t version;
};

struct flight {
    struct pages_message m;
    uint64_t version;
    uint32_t next;  /* free list */
    uint32_t frame; /* + 1: the frame from which it is sent; 0: none */
    uint32_t work;  /* + 1: the same for a buffer of the home */
    uint16_t bytes; /* of a small operation */
    uint8_t raw;    /* 1: request, 2: answer */
};

struct pages_world {
    struct plan plan;
    struct events events;
    struct network network;
    struct random random;
    struct node *nodes;
    struct flight *flights;
    uint32_t flight_count, flight_room, free_flight;
    /* the home */
    struct pages_directory *directory;
    struct pages_message *messages;
    struct work works[WORKS];
    uint32_t works_taken;
    bool at_once; /* the home's present request to itself does not wait in a queue */
    uint64_t disk_busy, disk_work, nvm_reads, nvm_writes, memory_reads;
    uint64_t *latest, *nvm; /* by page: versions */
    uint64_t versions, writes;
    uint32_t over;            /* nodes that have finished */
    uint32_t met;             /* nodes that wait in the barrier after this put */
    uint64_t messages_before; /* those before the measured accesses */
};

struct pages_result {
    double seconds, bandwidth, operations_per_second, mean_us, longest_us, disk_share, fairness;
    uint64_t nvm_reads, nvm_writes, from_nvm, from_home, from_peers, hits, smalls, evicted, messages, bytes;
};

/* pages_world.c */
void world_send(struct pages_world *w, const struct flight *f);
void world_written(struct pages_world *w, uint32_t page, uint32_t writer, uint64_t *version);
uint64_t world_copy_ns(const struct pages_world *w);
void world_at(struct pages_world *w, uint64_t when, uint32_t kind, uint32_t who, uint64_t what);
enum { EVENT_HEAD, EVENT_TAIL, EVENT_HANDLE, EVENT_LEFT, EVENT_IO, EVENT_APP, EVENT_COPIED };
void pages_run(const struct plan *plan, const char *title, struct pages_result *r);

/* pages_cache.c: a node's copies */
void cache_open(struct pages_world *w, uint32_t node);
void cache_close(struct pages_world *w, uint32_t node);
void cache_receive(struct pages_world *w, const struct flight *f);
void cache_left(struct pages_world *w, uint32_t node, uint32_t frame);
void cache_make_room(struct pages_world *w, uint32_t node);
bool cache_prefetch(struct pages_world *w, uint32_t node, uint32_t page);
void cache_release(struct pages_world *w, uint32_t node, uint32_t frame, bool write);
/* PAGES_HIT, PAGES_WAIT, PAGES_LATER from the controller, or CACHE_NO_ROOM. */
enum { CACHE_NO_ROOM = 16 };
int cache_acquire(struct pages_world *w, uint32_t node, uint32_t page, bool write, uint32_t *frame);
bool cache_is_hit(const struct pages_world *w, uint32_t node, uint32_t page, bool write);
void cache_check(const struct pages_world *w, uint32_t node);

/* pages_home.c */
void home_open(struct pages_world *w);
void home_close(struct pages_world *w);
void home_receive(struct pages_world *w, const struct flight *f);
/* a request of the home itself, at once */
void home_queue(struct pages_world *w, const struct pages_message *m);
void home_finished_io(struct pages_world *w, uint32_t work);
void home_left(struct pages_world *w, uint32_t work);

/* pages_app.c: the program of a node */
void app_open(struct pages_world *w, uint32_t node);
void app_call(struct pages_world *w, uint32_t node); /* soon */
void app_go(struct pages_world *w, uint32_t node);
void app_ready(struct pages_world *w, uint32_t node, uint32_t frame); /* it has its pin */
void app_copied(struct pages_world *w, uint32_t node);
void app_answered(struct pages_world *w, uint32_t node);

#endif
