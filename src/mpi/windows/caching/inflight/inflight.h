/* inflight.h: gets in flight that the cache tracks. All functions require the lock, unless they say otherwise. */
#ifndef HEARTH_MPI_RMA_INFLIGHT_H
#define HEARTH_MPI_RMA_INFLIGHT_H

#include "base/compiler.h"
#include "mpi/windows/caching/window/window.h"
#include "tables/shape.h"

enum rma_op_kind {
    OP_FILL,    /* its data fills a reserved entry */
    OP_JOIN,    /* its data, or the first part of it, comes from another get in flight */
    OP_EXTEND,  /* first part copied from the cache; the rest is in flight and will extend the entry */
    OP_REQUEST, /* as OP_FILL, but completed by its request; or, without an entry, as OP_RECHECK */
    OP_RECHECK, /* its data is compared with the cached data */
    OP_AHEAD,   /* read-ahead: not requested by the program; Hearth owns the buffer */
    OP_BYPASS,  /* a get with a request that the cache does not track */
    OP_NONSYNC  /* a request whose completion is no sync event: of a hit, of a send; has no window */
};

struct op {
    enum rma_op_kind kind;
    bool listed;      /* in its target's list */
    bool watched;     /* its buffer is checked by rma_inflight_overlap */
    bool invalid;     /* its buffer may hold other data */
    bool revalidates; /* a hit that was fetched instead: the data may be newer than the cached data */
    struct window *window;
    struct rma_target *target;
    uint32_t prev, next; /* in the target's list */
    uint32_t entry;      /* reserved in the cache, or CACHE_NONE */
    uint32_t source;     /* OP_JOIN: the get that fetches the data */
    uint32_t first_join, next_join;
    uint64_t sequence;   /* order of issue */
    uint64_t generation; /* generation of the cache when issued */
    uint64_t drops;      /* drops of the window when issued */
    uint64_t acquired;   /* acquire generation of the process when issued */
    uint64_t address;    /* at the target */
    uint64_t block;      /* OP_AHEAD: bytes of each entry to be created */
    uint64_t bytes;      /* OP_JOIN: bytes that come from the source; otherwise all */
    char *buffer;        /* first byte of the program's buffer */
    struct layout here;  /* layout of the buffer */
    struct shape there;  /* OP_JOIN: shape of the data at the target; the list is a copy */
    void *cached;        /* OP_RECHECK, and OP_REQUEST that verifies a hit: the cached data, packed */
    uintptr_t site;      /* likewise, in mode auto: where the program made the get; 0: unknown */
    uint32_t filled;     /* OP_RECHECK: number of calls made when the entry was filled */
    MPI_Request request;
    uint32_t next_request; /* chain in the request table; also the free list */
};

static inline int rma_op_rank(const struct op *op) {
    return op->target->head.rank;
}

/* Number of operations with a watched buffer. */
extern HIDDEN uint64_t rma_inflight_buffers;

extern HIDDEN struct op *rma_ops; /* moves when operations are added */
static inline struct op *rma_inflight_at(uint32_t id) {
    return &rma_ops[id];
}

/* Adds an operation to its target's list and starts to watch its buffer. Returns NO_OP if memory ran out. Takes
 * ownership of here.owned. */
uint32_t rma_inflight_add(const struct op *op);
/* The same in two steps: the caller sets the members of the operation at this number that its kind uses; `there`, `cached` and `site` are
 * 0. NO_OP if memory ran out. */
uint32_t rma_inflight_new(void);
void rma_inflight_list(uint32_t id);
/* Adds an OP_NONSYNC, which is in no list. */
uint32_t rma_inflight_add_nonsync(void);
void rma_inflight_remove(uint32_t id);
/* Removes it from its target's list and drops its entry. The operation itself stays until it is removed. */
void rma_inflight_orphan(uint32_t id);

/* Compares the data of a hit that is verified, which is in the buffer now, with the cached data. Does so once. */
void rma_inflight_verify(uint32_t id);

/* The window is being freed: the data is neither cached nor copied to joined gets. */
void rma_inflight_abandon(uint32_t id);

/* Number of the next operation; all lower numbers have been issued. */
extern HIDDEN uint64_t rma_inflight_issued;

/* Call before this part of the program's memory is written. Overlapping gets in flight become invalid and are not
 * cached. Returns whether there were any. */
bool rma_inflight_overlap(char *buffer, const struct shape *shape);

/* Marks the operation invalid after a failed call: its buffer contents are unknown. */
void rma_inflight_invalidate(uint32_t id);

/* The same for a buffer that a bypassing call writes. Takes the lock. */
void rma_inflight_overlap_typed(void *buffer, MPI_Count count, MPI_Datatype type);

/* Operation `op` copies its data from `source` when that completes. */
void rma_inflight_join(uint32_t op, uint32_t source);

/* The data of this operation has arrived: copies it to the joined gets, caches it if `keep`, removes the operation. */
void rma_inflight_complete(uint32_t id, bool keep);

/* Operations issued while nothing was tracked may still be in flight: marks all targets busy. */
void rma_inflight_assume_busy(struct window *w);

/* Entries inserted into any cache so far. */
extern HIDDEN uint64_t rma_inflight_inserts;

#endif
