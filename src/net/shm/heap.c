/* heap.c: allocates blocks in chunks of shared memory.
 *
 *      chunk, on each node, at an address of its own      | block | free | block   | free                       |
 *      block                                              | part | part |gap| part |
 *                                                           each part begins at a multiple of 64, or of the page size
 *                                                           if it is at least a page long
 *
 * One collective exchange carries the sizes, and whether all members have what they need: their share of the memory
 * limit (reserve.c) and the memory for their bookkeeping. So nothing can fail after it. Only a new chunk takes more
 * exchanges. A block is as long on all nodes as the largest node needs; the surplus on the others is address space
 * only.
 *
 * *Returning memory.* Each page of a block is returned to the system by one member: the owner of the part in which
 * the page begins. The first `warm` bytes of the first chunk are kept: most blocks lie there (first fit), and
 * programs that allocate and free in a loop would otherwise pay for page faults each time.
 *
 * Invariant: between two calls, the chunks and the free extents of each are the same in all members. */
#include "net/shm/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"
#include "net/shm/extents.h"
#include "net/shm/mapped.h"
#include "net/shm/numa.h"
#include "net/shm/address_picker.h"

#define CHUNK_SHORT ((uint64_t)4 << 20)
#define CHUNK_LEAST ((uint64_t)64 << 20)
#define CHUNK_MOST  ((uint64_t)4 << 30) /* unless a block is longer */
#define WARM_EACH   ((uint64_t)64 << 20)

enum { HUGE_PAGE = 2 << 20, ALIGNMENT = 64 };

struct heap_chunk {
    struct heap_chunk *next;
    struct net_shared *shared;
    struct extents free;
    int number;       /* in the list of the reserve */
    uint64_t bytes;   /* the same on all nodes */
    uint64_t bases[]; /* [nodes] */
};

struct net_heap {
    struct net_heap_group group;
    struct heap_chunk *chunks, **last;
    uint64_t mapped; /* bytes of all chunks on one node */
    uint64_t warm, page;
    unsigned forgotten; /* blocks that will never be returned */
    int limit;          /* enum heap_limit of this process */
    int nodes, *index;  /* [all.size]: 0 ... nodes - 1, in the order of the first members */
    uint64_t *ends;     /* [nodes]: scratch memory of heap_lay_out */
    struct heap_wish *wishes;
};

/* The contribution of each member to the exchange. */
struct heap_wish {
    uint64_t bytes;
    int32_t status, limit;
};

/* ---- opening and closing ---- */

/* If the system limits address space, chunks are short; if it limits file sizes, they are no longer than needed. */
enum heap_limit { HEAP_FREE, HEAP_SHORT, HEAP_EXACT };

static enum heap_limit heap_limit_here(void) {
    struct rlimit space, file;
    if (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY)
        return HEAP_EXACT;
    bool scarce = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
    return scarce || net_address_is_scarce() ? HEAP_SHORT : HEAP_FREE;
}

/* Maps arbitrary node numbers to 0 ... nodes - 1. */
static void heap_number_nodes(struct net_heap *h, const int *node_of) {
    for (int i = 0; i < h->group.all.size; i++) {
        int first = 0;
        while (node_of[first] != node_of[i])
            first++;
        h->index[i] = first < i ? h->index[first] : h->nodes++;
    }
}

/* At most 1/64 of the node's memory. */
static uint64_t heap_warm_bytes(const struct net_heap *h) {
    uint64_t node = (uint64_t)sysconf(_SC_PHYS_PAGES) * h->page / 64, wanted = WARM_EACH;
    wanted *= (uint64_t)h->group.node.size;
    return (wanted < node ? wanted : node) / h->page * h->page;
}

struct net_heap *net_heap_open(const struct net_heap_group *group) {
    size_t size = (size_t)group->all.size;
    struct net_heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->group = *group;
    h->last = &h->chunks;
    h->page = (uint64_t)sysconf(_SC_PAGESIZE);
    h->warm = heap_warm_bytes(h);
    h->limit = heap_limit_here();
    h->index = calloc(size, sizeof *h->index);
    h->ends = calloc(size, sizeof *h->ends);
    h->wishes = calloc(size, sizeof *h->wishes);
    if (!h->index || !h->ends || !h->wishes) {
        net_heap_close(h);
        return NULL;
    }
    heap_number_nodes(h, group->node_of);
    return h;
}

static void heap_drop_chunk(struct net_heap *h, struct heap_chunk *c) {
    net_reserve_unlist(h->group.reserve, c->number);
    if (c->shared)
        net_shared_leave(h->group.remote, c->shared);
    net_extents_close(&c->free);
    free(c);
}

void net_heap_close(struct net_heap *h) {
    while (h->chunks && h->forgotten == 0) {
        struct heap_chunk *c = h->chunks;
        h->chunks = c->next;
        heap_drop_chunk(h, c);
    }
    free(h->index);
    free(h->ends);
    free(h->wishes);
    free(h);
}

/* ---- adding a chunk ---- */

/* As long as all chunks before it together, within bounds: the number of chunks grows logarithmically. */
static uint64_t heap_chunk_bytes(const struct net_heap *h, uint64_t need, int limit) {
    uint64_t least = limit == HEAP_FREE ? CHUNK_LEAST : CHUNK_SHORT,
             most = limit == HEAP_FREE ? CHUNK_MOST : CHUNK_LEAST;
    if (limit == HEAP_FREE && least < 2 * h->warm)
        least = 2 * h->warm;
    uint64_t bytes = h->mapped < most ? h->mapped : most;
    bytes = bytes < least ? least : bytes;
    return round_up(limit == HEAP_EXACT || bytes < need ? need : bytes,
                    need >= HUGE_PAGE ? HUGE_PAGE : h->page);
}

struct heap_offer {
    uint64_t base;
    int64_t status;
};

/* Exchanges the outcome of each node: returns 0, or the first failure, the same everywhere. */
static int heap_hear_bases(struct net_heap *h, struct heap_chunk *c, int status) {
    struct heap_offer mine = {.status = status}, all[h->group.all.size];
    if (status == 0)
        mine.base = (uint64_t)(uintptr_t)c->shared->base;
    int err = net_boot_gather(&h->group.all, &mine, all, sizeof mine);
    for (int i = 0; i < h->group.all.size && !err; i++) {
        err = (int)all[i].status;
        if (c)
            c->bases[h->index[i]] = all[i].base;
    }
    return err;
}

/* Only the first member of a node requests the bytes: the chunk belongs to no member in particular. */
static int heap_add_chunk(struct net_heap *h, uint64_t need, int limit) {
    uint64_t bytes = heap_chunk_bytes(h, need, limit);
    struct heap_chunk *c = calloc(1, sizeof *c + (size_t)h->nodes * sizeof c->bases[0]);
    struct net_shared *shared = NULL;
    int err = net_shared_map(&h->group.node, h->group.node.rank == 0 ? bytes : 0, h->group.remote, &shared);
    if (c) {
        *c = (struct heap_chunk){.shared = shared, .bytes = bytes, .number = -1};
        err = err ? err : net_extents_open(&c->free, bytes);
    }
    err = heap_hear_bases(h, c, !err && !c ? -ENOMEM : err);
    if (err) {
        if (c)
            heap_drop_chunk(h, c);
        else if (shared)
            net_shared_leave(h->group.remote, shared);
        return err;
    }
    /* Short chunks may be many. Their descriptors are closed, so their backed pages cannot be counted. */
    if (shared->file >= 0 && bytes < CHUNK_SHORT)
        net_shared_settle(shared);
    else if (shared->file >= 0)
        c->number = net_reserve_list(h->group.reserve, &shared->place.address, h->chunks ? 0 : h->warm);
    *h->last = c;
    h->last = &c->next;
    h->mapped += bytes;
    return 0;
}

/* ---- allocation ---- */

static int heap_hear_wishes(struct net_heap *h, uint64_t bytes, int status, int *limit) {
    struct heap_wish mine = {.bytes = bytes, .status = status, .limit = h->limit};
    int err = net_boot_gather(&h->group.all, &mine, h->wishes, sizeof mine);
    *limit = HEAP_FREE;
    for (int i = 0; i < h->group.all.size && !err; i++) {
        err = h->wishes[i].status;
        *limit = h->wishes[i].limit > *limit ? h->wishes[i].limit : *limit;
    }
    return err;
}

/* Stores the offset of each part in parts[].base. Returns the length of the block on all nodes; 0: all parts are
 * empty. */
static uint64_t heap_lay_out(struct net_heap *h, struct net_heap_part parts[]) {
    uint64_t longest = 0;
    memset(h->ends, 0, (size_t)h->nodes * sizeof *h->ends);
    for (int i = 0; i < h->group.all.size; i++) {
        uint64_t bytes = h->wishes[i].bytes, *end = &h->ends[h->index[i]];
        parts[i].base = round_up(*end, bytes >= h->page ? h->page : ALIGNMENT);
        parts[i].bytes = bytes;
        if (bytes > 0)
            *end = parts[i].base + bytes;
        longest = *end > longest ? *end : longest;
    }
    return round_up(longest, h->page);
}

/* The pages that begin in our part or in the gap after it, before the next part on our node. */
static void heap_own_pages(const struct net_heap *h, const struct net_heap_part parts[],
                           struct net_heap_block *b) {
    int me = h->group.all.rank, next = me + 1;
    bool first = true;
    b->own_offset = b->own_end = 0;
    if (parts[me].bytes == 0)
        return;
    for (int i = 0; i < me; i++)
        first &= h->index[i] != h->index[me] || parts[i].bytes == 0;
    while (next < h->group.all.size && (h->index[next] != h->index[me] || parts[next].bytes == 0))
        next++;
    b->own_offset = first ? 0 : round_up(parts[me].base, h->page);
    b->own_end = next < h->group.all.size ? round_up(parts[next].base, h->page) : b->bytes;
}

static uint64_t heap_find_place(struct net_heap *h, uint64_t need, struct heap_chunk **chunk) {
    uint64_t alignment = need >= HUGE_PAGE ? HUGE_PAGE : h->page;
    for (struct heap_chunk *c = h->chunks; c; c = c->next) {
        uint64_t offset = net_extents_take(&c->free, need, alignment);
        *chunk = c;
        if (offset != EXTENTS_NONE)
            return offset;
    }
    return EXTENTS_NONE;
}

/* Allocates offsets for the block. Returns 0 or a negative code, everywhere. */
static int heap_place(struct net_heap *h, struct net_heap_block *b, int limit) {
    b->offset = heap_find_place(h, b->bytes, &b->chunk);
    if (b->offset != EXTENTS_NONE)
        return 0;
    int err = heap_add_chunk(h, b->bytes, limit);
    if (!err)
        b->offset = heap_find_place(h, b->bytes, &b->chunk);
    return err;
}

/* Converts offsets to addresses. */
static void heap_locate(struct net_heap *h, const struct net_heap_block *b, struct net_heap_part parts[]) {
    for (int i = 0; i < h->group.all.size; i++)
        parts[i].base = parts[i].bytes > 0 ? b->chunk->bases[h->index[i]] + b->offset + parts[i].base : 0;
    const struct net_heap_part *mine = &parts[h->group.all.rank];
    if (mine->bytes >= h->page)
        net_numa_prefer((void *)(uintptr_t)mine->base, mine->bytes);
}

/* Does everything that may run out of memory, before the exchange. */
static int heap_prepare(struct net_heap *h, uint64_t reserved) {
    int err = net_mapped_reserve(MAPPED_BLOCKS);
    for (struct heap_chunk *c = h->chunks; c && !err; c = c->next)
        err = net_extents_reserve(&c->free);
    return err ? err : net_reserve_take(h->group.reserve, reserved);
}

/* Larger sizes exceed the address space. */
static bool heap_is_possible(const struct net_heap *h, uint64_t bytes) {
    return bytes < ((uint64_t)1 << 62) / (uint64_t)h->group.all.size;
}

int net_heap_take(struct net_heap *h, uint64_t bytes, int status, void *owner, struct net_heap_part parts[],
                  struct net_heap_block *b) {
    bool taken = false;
    int limit;
    *b = (struct net_heap_block){.reserved = bytes};
    if (!status && !heap_is_possible(h, bytes)) {
        log_error("shared memory: %llu bytes exceed the address space; ask for less",
                  (unsigned long long)bytes);
        status = -ENOMEM;
    }
    if (!status) {
        b->reserved = round_up(bytes, bytes >= h->page ? h->page : ALIGNMENT);
        status = heap_prepare(h, b->reserved);
        taken = !status;
    }
    status = heap_hear_wishes(h, bytes, status, &limit);
    if (!status)
        b->bytes = heap_lay_out(h, parts);
    if (!status && b->bytes > 0)
        status = heap_place(h, b, limit);
    if (status && taken)
        net_reserve_give(h->group.reserve, b->reserved);
    if (status || b->bytes == 0)
        return status;
    heap_own_pages(h, parts, b);
    heap_locate(h, b, parts);
    b->base = b->chunk->shared->base + b->offset;
    return net_mapped_add(MAPPED_BLOCKS, (uint64_t)(uintptr_t)b->base, b->bytes, owner);
}

/* ---- return ---- */

/* The released range reads as zeros. */
static void heap_release_pages(const struct net_heap *h, const struct net_heap_block *b) {
    uint64_t from = b->offset + b->own_offset, end = b->offset + b->own_end;
    if (b->chunk == h->chunks && from < h->warm)
        from = h->warm;
    if (from < end)
        madvise(b->chunk->shared->base + from, end - from, MADV_REMOVE);
}

void net_heap_give(struct net_heap *h, struct net_heap_block *b) {
    if (!b->chunk)
        return;
    net_mapped_remove(MAPPED_BLOCKS, (uint64_t)(uintptr_t)b->base);
    heap_release_pages(h, b);
    net_extents_give(&b->chunk->free, b->offset, b->bytes);
    net_reserve_give(h->group.reserve, b->reserved);
    b->chunk = NULL;
}

void net_heap_forget(struct net_heap *h, struct net_heap_block *b) {
    net_mapped_remove(MAPPED_BLOCKS, (uint64_t)(uintptr_t)b->base);
    h->forgotten++;
    b->chunk = NULL;
}

/* ---- lookup ---- */

bool net_heap_covers(const struct net_heap *h, const void *address) {
    for (const struct heap_chunk *c = h->chunks; c; c = c->next)
        if ((uintptr_t)address - (uintptr_t)c->shared->base < c->bytes)
            return true;
    return false;
}

void *net_heap_owner(const void *address, size_t bytes) {
    struct mapped found;
    int err;
    do /* retries while another thread changes the list */
        err = net_mapped_find(MAPPED_BLOCKS, (uint64_t)(uintptr_t)address, bytes, &found);
    while (UNLIKELY(err == -EAGAIN));
    return err ? NULL : found.owner;
}
