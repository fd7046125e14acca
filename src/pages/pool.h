/* pool.h: the copies of pages that a node holds, in frames that all its processes share.
 *
 *      buckets             frames                                  memory
 *      +------+           +---------------------------------+      +--------------+
 *      | lock | --first-> | control (controller.h) of a page| -.-> | page_bytes   |
 *      +------+           | next in the bucket              |  :   +--------------+
 *      | lock |           | what the service is to send     |  :   |              |
 *
 * A page is found by its home and number. The bucket's lock covers all that concerns its pages but the memory
 * itself, for which one holds a pin (pool_pin). Frames without a page are in a list of free ones; whoever wants a page
 * takes one first. Only the service (service.h) drops copies, so that a frame is free again.
 *
 * The controller says what is to be sent. Processes cannot send: it is put into the frame's outbox, and the frame into
 * the list of those that the service looks after, once. The outbox has room for all that can be in it: one request,
 * and one answer to what was put off.
 *
 * Requests that a node has open are counted (`window`), as the homes keep a place for each: PAGES_WINDOW in all. The
 * last of them are for dropping copies, without which nothing else may be able to go on. */
#ifndef HEARTH_PAGES_POOL_H
#define HEARTH_PAGES_POOL_H

#include "net/net.h"
#include "pages/controller.h"
#include "pages/lock.h"
#include "pages/replace.h"

enum {
    POOL_OUTBOX = 4,
    POOL_FOR_EVICTION = 16,     /* of the window */
    POOL_SMALLS = PAGES_WINDOW, /* small operations of a node under way */
    POOL_NO_FRAME = -1,
};

struct pool_frame {
    struct pages_control control;
    uint32_t next;  /* in its bucket: frame + 1 */
    uint32_t local; /* rank of this node whose segment it is of; only if this node is its home */

    _Atomic uint32_t ready; /* counts PAGES_READY */
    _Atomic uint32_t again; /* counts PAGES_AGAIN */
    _Atomic uint32_t sleepers;
    _Atomic uint8_t only;  /* nobody else has the page (E, M); as it was last seen */
    _Atomic uint8_t fresh; /* fetched ahead, and not used yet */

    /* For the service. */
    uint32_t attention; /* next of those that it is to look after: frame + 1 */
    bool called;        /* is one of them */
    bool gone;          /* its page was dropped: it is free once all that is sent from it has left */
    uint8_t outbox_count, actions;
    bool leaving;   /* the service's: it is being dropped to make room */
    bool held;      /* the service's: its request is not sent before a checkpoint is over */
    uint16_t sends; /* the service's: from its memory, on their way */
    uint32_t came;  /* the service's: bytes of DATA that have come */
    struct pages_message outbox[POOL_OUTBOX];

    /* For the mapper of its rank (local.h). */
    uint32_t mapper_next; /* frame + 1 */
    uint8_t mapper_level; /* to be mapped no higher than that */
    uint64_t stay_until;  /* clock_ns: it is not unmapped before */
};

/* A small operation of this node; its words are written by who asked, then by the service, then read by who asked. */
struct pool_small {
    _Atomic uint32_t state; /* enum pool_small_state */
    _Atomic uint32_t sleepers;
    uint32_t next; /* of those that the service is to send, or of the free ones: index + 1 */
    uint32_t page, offset;
    uint16_t home, bytes;
    uint8_t writes;
};

enum pool_small_state { SMALL_FREE, SMALL_ASKED, SMALL_DONE };

/* What happened in this node; written by the service or under some lock, read at any time. */
struct pool_counts {
    _Atomic uint64_t from_nvm, from_home, from_peers, served_peers, invalidated, evicted, written_back,
        messages, message_bytes, unmapped, nvm_reads, nvm_writes, nvm_holes;
};

/* Of a rank of this node: its mapper's list of frames. */
struct pool_mapper {
    _Atomic uint32_t first; /* frame + 1 */
    _Atomic uint32_t bell;
};

struct pool_bucket {
    struct pages_lock lock;
    uint32_t first; /* frame + 1 */
};

/* In shared memory; followed by the arrays, each aligned to 128. */
struct pool_shared {
    uint32_t frames, buckets /* a power of two */, locals;
    uint32_t small_bytes; /* most of a small operation */
    size_t page_bytes;
    uint16_t self;  /* this node */
    uint16_t nodes; /* that give each other pages; 1: they do not */

    _Alignas(128) struct pages_lock lock; /* of the free frames and the lists */
    uint32_t first_free;                  /* frame + 1 */
    _Atomic uint32_t free_count;
    struct replace replace;
    _Atomic uint32_t freed; /* counts frames that became free */
    _Atomic uint32_t frame_waiters;

    _Alignas(128) _Atomic int32_t window; /* requests that may still be opened */
    _Atomic uint32_t closed;              /* counts requests that ended, and slots that became free */
    _Atomic uint32_t window_waiters;

    _Alignas(128) _Atomic uint32_t attention; /* frames that the service is to look after: frame + 1 */
    _Atomic uint32_t small_attention;

    _Alignas(128) struct pages_lock small_lock; /* of the free slots */
    uint32_t small_free;                        /* index + 1 */

    _Alignas(128) struct pool_counts counts;
};

/* This process's view. */
struct pool {
    struct pool_shared *shared;
    struct pool_bucket *buckets;
    struct pool_frame *frames;
    struct replace_link *links;  /* [frames] */
    struct pool_small *smalls;   /* [POOL_SMALLS] */
    char *small_data;            /* [POOL_SMALLS] of small_bytes each */
    struct pool_mapper *mappers; /* [locals] */
    char *memory; /* [frames] of page_bytes each: the second mapping, of which no page is ever taken away */
    int file;     /* of that memory */
    size_t page_bytes;
    struct mailbox *bell; /* by which the service is woken; NULL: nobody sleeps */

    /* Who waits may do the service's work meanwhile: true once *word is no longer `seen`, false if it will not. May be
     * NULL. */
    bool (*work_until)(void *service, const _Atomic uint32_t *word, uint32_t seen);
    void *service;
};

/* How many frames there must be at least for so many ranks: each may have threads in instructions that need 4 pages. */
uint32_t pool_least_frames(int locals);

/* Shared memory for so many frames. */
size_t pool_shared_bytes(uint32_t frames, int locals, uint32_t small_bytes);
/* By one process, in zeroed memory, before the others attach. */
void pool_make(struct pool_shared *s, uint32_t frames, size_t page_bytes, int locals, uint32_t small_bytes,
               uint16_t self, uint16_t nodes, enum replace_policy policy);
void pool_attach(struct pool *p, struct pool_shared *s, char *memory, int file, struct mailbox *bell);

static inline char *pool_memory(const struct pool *p, uint32_t frame) {
    return p->memory + (size_t)frame * p->page_bytes;
}

static inline uint32_t pool_frame_of(const struct pool *p, const struct pool_frame *f) {
    return (uint32_t)(f - p->frames);
}

/* ---- pins ---- */

/* Gets the page and pins its frame, which is returned. May wait: hold no pin and no lock. */
uint32_t pool_pin(struct pool *p, uint16_t home, uint32_t page, bool write);
/* Only if it can be had at once; else POOL_NO_FRAME. */
int64_t pool_try_pin(struct pool *p, uint16_t home, uint32_t page, bool write);
/* Whether it was fetched ahead and is used for the first time: tells so once, to who has it pinned. */
bool pool_is_fresh(struct pool *p, uint32_t frame);
void pool_unpin(struct pool *p, uint32_t frame, bool write);

/* Asks for it if it is not here and there is room; whether it did. */
bool pool_prefetch(struct pool *p, uint16_t home, uint32_t page);

/* Whether there is a copy that can be read (written: without asking). */
bool pool_has(struct pool *p, uint16_t home, uint32_t page, bool write);

/* Who has a pin has mapped the page; raises what the controller knows. */
void pool_mapped(struct pool *p, uint32_t frame, enum pages_level level);
/* The mapper has done what was asked for. */
void pool_lowered(struct pool *p, uint32_t frame, enum pages_level level);

/* ---- small operations ---- */

/* A slot and a place in the window, or -1 if none is free at once. The caller fills it in and asks. */
int pool_small_take(struct pool *p);
void pool_small_ask(struct pool *p, int slot);
/* Whether it is done; waits. Then the slot is given back. */
bool pool_small_is_done(const struct pool *p, int slot);
void pool_small_wait(struct pool *p, int slot);
/* The same, for at most some 100 us: somebody else may take the answer. */
void pool_small_wait_briefly(struct pool *p, int slot);
void pool_small_give(struct pool *p, int slot);
/* Until one may be free. `seen`: of pool_small_turn, read before the last try. */
uint32_t pool_small_turn(const struct pool *p);
void pool_small_wait_free(struct pool *p, uint32_t seen);

static inline char *pool_small_data(const struct pool *p, int slot) {
    return p->small_data + (size_t)slot * p->shared->small_bytes;
}

/* ---- for the service ---- */

struct pool_bucket *pool_bucket_of(const struct pool *p, uint16_t home, uint32_t page);
/* Under the bucket's lock; NULL: not here. */
struct pool_frame *pool_find(const struct pool *p, const struct pool_bucket *b, uint16_t home, uint32_t page);

/* Under the bucket's lock, after each call of the controller: those who wait are woken, what is to be sent or done
 * is put aside for the service, a page that is gone is found no more, a request that ended gives its place back.
 * `was_asking`: before the call. */
void pool_settle(struct pool *p, struct pool_bucket *b, struct pool_frame *f, bool was_asking,
                 const struct pages_effects *e);

/* The first of the frames to look after, as a list by `attention`; none is in it any more. frame + 1, or 0. */
uint32_t pool_take_attention(struct pool *p);
uint32_t pool_take_smalls(struct pool *p);

/* Begins to drop a copy: its frame, or POOL_NO_FRAME if there is none that could go now. */
int64_t pool_evict_one(struct pool *p);
/* Whether that one holds a page that is newer than the NVM, and which. */
bool pool_is_dirty(struct pool *p, uint32_t frame, uint16_t *home, uint32_t *page);
/* Begins to drop that one, if it is dirty and not in use: for checkpoints. 1; 0: it is clean; -EAGAIN: not now. */
int pool_evict_dirty(struct pool *p, uint32_t frame);

/* A frame without a page, for the service's own use until pool_free, or POOL_NO_FRAME. It has one send that is not over. */
int64_t pool_borrow(struct pool *p);

/* The frame's page is gone and nothing is sent from it any more. */
void pool_free(struct pool *p, uint32_t frame);

/* An answer has come; the service's. */
void pool_small_done(struct pool *p, int slot);

/* How many frames should be free, so that nobody has to wait for one. */
uint32_t pool_wanted_free(const struct pool *p);

/* ---- between pool.c and pool_small.c ---- */

/* A place in the window, if there is one at once. */
bool pool_take_place(struct pool *p);
void pool_give_place(struct pool *p);
/* Sleeps until *word is no longer `seen`. */
void pool_wait_for_change(struct pool *p, _Atomic uint32_t *word, uint32_t seen, _Atomic uint32_t *sleepers);

/* Counts one more. */
static inline void pool_count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Rings the service. */
void pool_ring(struct pool *p);

/* Walks everything; the service is not at work. Aborts if an invariant is broken. */
void pool_check(const struct pool *p);

#endif
