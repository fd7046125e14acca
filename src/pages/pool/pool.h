/* pool.h: the page pool of a node: copies of pages, in frames that all processes of the node share.
 *
 *      buckets             frames                                  memory
 *      +------+           +---------------------------------+      +--------------+
 *      | lock | --first-> | control (controller.h) of a page| -.-> | page_bytes   |
 *      +------+           | next in the bucket              |  :   +--------------+
 *      | lock |           | outbox of the service           |  :   |              |
 *
 * A page is looked up by its home and number. The bucket's lock protects all state of its pages except the memory
 * itself, which is protected by pins (pages_pool_pin). Frames without a page are in the free list; a thread takes one before
 * it requests a page. Only the service (service.h) drops copies and so frees frames.
 *
 * The controller produces messages, but only the service can send them. A process puts them into the outbox of the
 * frame and the frame, once, into the list of frames that need the service's attention. The outbox has room for the
 * maximum: one request, and one answer to a deferred message.
 *
 * The open requests of a node are counted (`window`), as each home reserves space for them: PAGES_WINDOW in total. The
 * last POOL_FOR_EVICTION of them are reserved for dropping copies, without which no other request might be able to
 * proceed. */
#ifndef HEARTH_PAGES_POOL_H
#define HEARTH_PAGES_POOL_H

#include "net/net.h"
#include "pages/protocol/controller.h"
#include "pages/pool/pool_lock.h"
#include "pages/pool/replace.h"

enum {
    POOL_OUTBOX = 4,
    POOL_FOR_EVICTION = 16,     /* of the window */
    POOL_SMALLS = PAGES_WINDOW, /* remote operations that a node may have under way */
    POOL_NO_FRAME = -1,
};

struct pool_frame {
    struct pages_control control;
    uint32_t next;  /* in its bucket: frame + 1 */
    uint32_t local; /* rank of this node that owns the segment; only if this node is the home */

    _Atomic uint32_t ready; /* incremented at PAGES_READY */
    _Atomic uint32_t again; /* incremented at PAGES_RETRY */
    _Atomic uint32_t sleepers;
    _Atomic uint8_t only;  /* no other node has the page (E, M); may be outdated */
    _Atomic uint8_t fresh; /* prefetched, and not used yet */

    /* Used by the service. */
    uint32_t attention; /* next in the attention list: frame + 1 */
    bool called;        /* is in the attention list */
    bool gone;          /* its page was dropped: the frame is free once everything sent from it has left */
    uint8_t outbox_count, actions;
    bool leaving;   /* service only: being dropped to free the frame */
    bool held;      /* service only: its request is not sent before the checkpoint has ended */
    uint16_t sends; /* service only: sends from its memory under way */
    uint32_t came;  /* service only: bytes of DATA received */
    struct pages_message outbox[POOL_OUTBOX];

    /* Used by the mapper of its rank (local.h). */
    uint32_t mapper_next; /* frame + 1 */
    uint8_t mapper_level; /* highest level allowed */
    uint64_t stay_until;  /* clock_ns: not unmapped before this time */
};

/* A remote operation of this node. The requester writes the data words, then the service does, then the requester reads
 * them. */
struct pool_small {
    _Atomic uint32_t state; /* enum pool_small_state */
    _Atomic uint32_t sleepers;
    uint32_t next; /* of the list for the service, or of the free list: index + 1 */
    uint32_t page, offset;
    uint16_t home, bytes;
    uint8_t writes;
    uint8_t updates; /* the data words are a struct pages_update, then the previous value of the word */
};

enum pool_small_state { SMALL_FREE, SMALL_ASKED, SMALL_DONE };

/* Event counters of this node. Written by the service or under a lock, read at any time. */
struct pool_counts {
    _Atomic uint64_t from_nvm, from_home, from_peers, served_peers, invalidated, evicted, written_back,
        messages, message_bytes, unmapped, nvm_reads, nvm_writes, nvm_holes;
};

/* Of a rank of this node: the list of frames for its mapper. */
struct pool_mapper {
    _Atomic uint32_t first; /* frame + 1 */
    _Atomic uint32_t doorbell;
};

struct pool_bucket {
    struct pages_lock lock;
    uint32_t first; /* frame + 1 */
};

/* In shared memory; the arrays follow, each aligned to 128. */
struct pool_shared {
    uint32_t frames, buckets /* a power of two */, locals;
    uint32_t small_bytes; /* maximum size of a remote operation */
    size_t page_bytes;
    uint16_t self;  /* this node */
    uint16_t nodes; /* that cooperate; 1: no cooperation */

    _Alignas(128) struct pages_lock lock; /* protects the free list and the replacement lists */
    uint32_t first_free;                  /* frame + 1 */
    _Atomic uint32_t free_count;
    struct replace replace;
    _Atomic uint32_t freed; /* incremented when a frame becomes free */
    _Atomic uint32_t frame_waiters;

    _Alignas(128) _Atomic int32_t window; /* requests that may still be opened */
    _Atomic uint32_t closed;              /* incremented when a request ends or a slot becomes free */
    _Atomic uint32_t window_waiters;

    _Alignas(128) _Atomic uint32_t attention; /* list of frames that need the service: frame + 1 */
    _Atomic uint32_t small_attention;

    _Alignas(128) struct pages_lock small_lock; /* protects the free slots */
    uint32_t small_free;                        /* index + 1 */

    _Alignas(128) struct pool_counts counts;
};

typedef bool (*pages_pool_work)(void *service, const _Atomic uint32_t *word, uint32_t seen);

/* A process's view of the pool. */
struct pages_pool {
    struct pool_shared *shared;
    struct pool_bucket *buckets;
    struct pool_frame *frames;
    struct replace_link *links;  /* [frames] */
    struct pool_small *smalls;   /* [POOL_SMALLS] */
    char *small_data;            /* [POOL_SMALLS] of small_bytes each */
    struct pool_mapper *mappers; /* [locals] */
    char *memory; /* [frames] of page_bytes each; always mapped, in addition to the mappings in segments */
    int file;     /* file descriptor of that memory */
    size_t page_bytes;
    struct mailbox *doorbell; /* doorbell of the service; NULL: nothing sleeps */

    /* Caller-driven progress: a waiting thread may do the service's work. Returns true once *word differs from `seen`,
     * false if the thread has to sleep instead. NULL until the service is open. The thread that handles faults is started before. */
    _Atomic pages_pool_work work_until;
    void *service;
};

/* Minimum number of frames for so many ranks: each may have threads in instructions that need 4 pages. */
uint32_t pages_pool_least_frames(int locals);

/* Bytes of shared memory for so many frames. */
size_t pages_pool_shared_bytes(uint32_t frames, int locals, uint32_t small_bytes);
/* Called by one process, on zeroed memory, before the others attach. */
void pages_pool_make(struct pool_shared *s, uint32_t frames, size_t page_bytes, int locals,
                     uint32_t small_bytes, uint16_t self, uint16_t nodes, enum replace_policy policy);
void pages_pool_attach(struct pages_pool *p, struct pool_shared *s, char *memory, int file,
                       struct mailbox *doorbell);

static inline char *pages_pool_memory(const struct pages_pool *p, uint32_t frame) {
    return p->memory + (size_t)frame * p->page_bytes;
}

static inline uint32_t pages_pool_frame_of(const struct pages_pool *p, const struct pool_frame *f) {
    return (uint32_t)(f - p->frames);
}

/* ---- pins ---- */

/* Gets the page, pins its frame and returns the frame. May wait: the caller must hold no pin and no lock. */
uint32_t pages_pool_pin(struct pages_pool *p, uint16_t home, uint32_t page, bool write);
/* As pages_pool_pin for writing, by a caller that writes all of the page before it unpins it: the page is not fetched. */
uint32_t pages_pool_pin_to_overwrite(struct pages_pool *p, uint16_t home, uint32_t page);
/* Pins the page only if that needs no wait; else POOL_NO_FRAME. */
int64_t pages_pool_try_pin(struct pages_pool *p, uint16_t home, uint32_t page, bool write);
/* Whether the page was prefetched and is used for the first time. True once only; the caller must hold a pin. */
bool pages_pool_is_fresh(struct pages_pool *p, uint32_t frame);
void pages_pool_unpin(struct pages_pool *p, uint32_t frame, bool write);

/* Requests the page if it is absent and a frame is free. Returns whether it did. */
bool pages_pool_prefetch(struct pages_pool *p, uint16_t home, uint32_t page);

/* Whether there is a copy that can be read (`write`: written without a request). */
bool pages_pool_has(struct pages_pool *p, uint16_t home, uint32_t page, bool write);

/* The holder of a pin has mapped the page; raises the level in the controller. */
void pages_pool_mapped(struct pages_pool *p, uint32_t frame, enum pages_level level);
/* The mapper has lowered the mapping as requested. */
void pages_pool_lowered(struct pages_pool *p, uint32_t frame, enum pages_level level);

/* ---- remote operations ---- */

/* Takes a slot and a window credit, or returns -1 if none is free. The caller fills in the slot, then calls
 * pages_pool_small_ask. */
int pages_pool_small_take(struct pages_pool *p);
void pages_pool_small_ask(struct pages_pool *p, int slot);
/* Tests, or waits, for completion. The caller then returns the slot with pages_pool_small_give. */
bool pages_pool_small_is_done(const struct pages_pool *p, int slot);
void pages_pool_small_wait(struct pages_pool *p, int slot);
/* Works for the service until the slot changes. False: this thread does not, or not any more, drive its progress. */
bool pages_pool_small_drive(struct pages_pool *p, int slot);
/* Waits for at most 100 us, as another thread may take the answer. */
void pages_pool_small_wait_briefly(struct pages_pool *p, int slot);
void pages_pool_small_give(struct pages_pool *p, int slot);
/* Waits until a slot may be free. `seen`: result of pages_pool_small_turn before the last attempt. */
uint32_t pages_pool_small_turn(const struct pages_pool *p);
void pages_pool_small_wait_free(struct pages_pool *p, uint32_t seen);

/* The bytes of the answer. */
static inline uint32_t pages_pool_small_answer(const struct pool_small *m) {
    return m->updates ? sizeof(uint64_t) : m->writes ? 0 : m->bytes;
}

static inline char *pages_pool_small_data(const struct pages_pool *p, int slot) {
    return p->small_data + (size_t)slot * p->shared->small_bytes;
}

/* ---- for the service ---- */

struct pool_bucket *pages_pool_bucket_of(const struct pages_pool *p, uint16_t home, uint32_t page);
/* The bucket must be locked. NULL: not present. */
struct pool_frame *pages_pool_find(const struct pages_pool *p, const struct pool_bucket *b, uint16_t home,
                                   uint32_t page);

/* Called under the bucket's lock after each call of the controller. It wakes waiters, queues messages and actions for
 * the service, removes a dropped page from the bucket, and returns the window credit of a request that has ended.
 * `was_asking`: pages_control_is_asking before the call. */
void pages_pool_settle(struct pages_pool *p, struct pool_bucket *b, struct pool_frame *f, bool was_asking,
                       const struct pages_effects *e);

/* Takes the whole attention list, linked by `attention`, oldest first. Returns the first frame + 1, or 0. */
uint32_t pages_pool_take_attention(struct pages_pool *p);
uint32_t pages_pool_take_smalls(struct pages_pool *p);

/* Starts to drop a copy. Returns its frame, or POOL_NO_FRAME if none can be dropped now. */
int64_t pages_pool_evict_one(struct pages_pool *p);
/* Whether the frame's copy is newer than the NVM. Requires the bucket's lock. */
static inline bool pages_pool_is_newer(const struct pool_frame *f) {
    return f->control.state == PAGES_M || f->control.state == PAGES_O;
}
/* The same for any frame, and the page that it holds. */
bool pages_pool_is_dirty(struct pages_pool *p, uint32_t frame, uint16_t *home, uint32_t *page);
/* For checkpoints: starts to drop the page of this frame if it is dirty and not in use. 1: started; 0: clean; -EAGAIN:
 * not possible now. */
int pages_pool_evict_dirty(struct pages_pool *p, uint32_t frame);

/* Takes a frame without a page for the service's own use until pages_pool_free, or POOL_NO_FRAME. Its `sends` starts at one. */
int64_t pages_pool_borrow(struct pages_pool *p);

/* Returns a frame whose page is gone and from which nothing is being sent. */
void pages_pool_free(struct pages_pool *p, uint32_t frame);

/* Service: the answer has arrived. */
void pages_pool_small_done(struct pages_pool *p, int slot);
/* Service: the number of answers that were not collected yet. */
int32_t pages_pool_small_answers(const struct pages_pool *p);

/* Number of frames to keep free, so that a miss need not wait for one. */
uint32_t pages_pool_wanted_free(const struct pages_pool *p);

/* ---- between the files of the pool ---- */

/* Takes a window credit if one is free. */
bool pages_pool_take_place(struct pages_pool *p);
/* The same, if more than `leave` are left. */
bool pages_pool_claim_place(struct pages_pool *p, int32_t leave);
void pages_pool_give_place(struct pages_pool *p);
/* Sleeps until *word differs from `seen`. */
void pages_pool_wait_for_change(struct pages_pool *p, _Atomic uint32_t *word, uint32_t seen,
                                _Atomic uint32_t *sleepers);

static inline void pages_pool_count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Rings the service's doorbell. */
void pages_pool_doorbell(struct pages_pool *p);

/* Verifies all invariants while the service is idle; aborts if one is broken. */
void pages_pool_check(const struct pages_pool *p);

#endif
