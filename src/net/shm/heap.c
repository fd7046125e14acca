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
 * All members compute the length of a chunk from numbers that they have in common: the sizes, and the members of the
 * fullest node. A node's own memory and members decide only how many pages it keeps.
 *
 * Most allocations have the same size in all members. Their parts are then equally far apart on each node, and only this distance is
 * stored.
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

#include "base/compiler.h"
#include "base/log.h"
#include "net/shm/extents.h"
#include "net/shm/mapped.h"
#include "net/shm/numa.h"
#include "net/shm/address_picker.h"

#define CHUNK_SHORT      ((uint64_t)4 << 20)
#define CHUNK_SHORT_MOST ((uint64_t)64 << 20) /* these unless a block is longer */
#define CHUNK_MOST       ((uint64_t)4 << 30)
#define WARM_EACH        ((uint64_t)64 << 20)

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
    int nodes;
    uint64_t fullest;            /* members of the node that has the most */
    struct heap_member *members; /* [all.size] */
    uint64_t *ends;              /* [nodes]: scratch memory of heap_lay_out */
    int64_t *heard;              /* [all.size]: scratch memory of the exchanges */
};

struct heap_member {
    uint32_t node;  /* 0 ... nodes - 1, in the order of the first members */
    uint32_t place; /* among the members of that node */
};

size_t net_heap_member_bytes(void) {
    return sizeof(struct heap_member) + sizeof(int64_t);
}

size_t net_heap_part_bytes(void) {
    return sizeof(struct net_heap_part);
}

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

static int heap_compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Maps arbitrary node numbers to 0 ... nodes - 1. Sorted by node and member, the members of a node are neighbours. Their first one
 * gets the node's number when all are visited in their own order. */
static int heap_number_nodes(struct net_heap *h, const int *node_of) {
    uint32_t size = (uint32_t)h->group.all.size;
    uint64_t *keys = malloc(size * sizeof *keys);
    if (!keys)
        return -ENOMEM;
    for (uint32_t i = 0; i < size; i++)
        keys[i] = (uint64_t)(uint32_t)node_of[i] << 32 | i;
    qsort(keys, size, sizeof *keys, heap_compare_keys);
    for (uint32_t i = 0, first = 0; i < size; i++) {
        first = keys[i] >> 32 == keys[first] >> 32 ? first : i;
        h->members[(uint32_t)keys[i]] =
            (struct heap_member){.node = (uint32_t)keys[first], .place = i - first};
    }
    free(keys);
    for (uint32_t i = 0; i < size; i++) /* `node` is the node's first member until here */
        h->members[i].node = h->members[i].place ? h->members[h->members[i].node].node : (uint32_t)h->nodes++;
    for (uint32_t i = 0; i < size; i++)
        h->fullest = h->members[i].place >= h->fullest ? h->members[i].place + 1 : h->fullest;
    return 0;
}

/* At most 1/64 of the node's memory. Differs between nodes. */
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
    h->members = calloc(size, sizeof *h->members);
    h->heard = calloc(size, sizeof *h->heard);
    bool numbered = h->members && h->heard && !heap_number_nodes(h, group->node_of);
    h->ends = numbered ? calloc((size_t)h->nodes, sizeof *h->ends) : NULL;
    log_debug(LOG_NET, "a heap of %d processes on %d nodes keeps up to %llu bytes of freed memory",
              h->group.all.size, h->nodes, (unsigned long long)h->warm);
    if (h->ends)
        return h;
    net_heap_close(h);
    return NULL;
}

static void heap_drop_chunk(struct net_heap *h, struct heap_chunk *c) {
    log_debug(LOG_NET, "the heap returns a chunk to the system");
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
    free(h->members);
    free(h->ends);
    free(h->heard);
    free(h);
}

/* ---- adding a chunk ---- */

/* Twice what any node keeps of the first chunk, if that is not too long. */
static uint64_t heap_least_bytes(const struct net_heap *h, int limit) {
    if (limit != HEAP_FREE)
        return CHUNK_SHORT;
    return h->fullest < CHUNK_MOST / (2 * WARM_EACH) ? 2 * WARM_EACH * h->fullest : CHUNK_MOST;
}

/* As long as all chunks before it together, within bounds: the number of chunks grows logarithmically. The same in all
 * members. */
static uint64_t heap_chunk_bytes(const struct net_heap *h, uint64_t need, int limit) {
    uint64_t least = heap_least_bytes(h, limit), most = limit == HEAP_FREE ? CHUNK_MOST : CHUNK_SHORT_MOST;
    uint64_t bytes = h->mapped < most ? h->mapped : most;
    bytes = bytes < least ? least : bytes;
    return round_up(limit == HEAP_EXACT || bytes < need ? need : bytes,
                    need >= HUGE_PAGE ? HUGE_PAGE : h->page);
}

/* Exchanges the outcome of each node, an address or a negative code: returns 0, or the first failure, the same everywhere. */
static int heap_hear_bases(struct net_heap *h, struct heap_chunk *c, int status) {
    int64_t mine = status ? status : (int64_t)(uintptr_t)c->shared->base;
    int err = net_boot_gather(&h->group.all, &mine, h->heard, sizeof mine);
    for (int i = 0; i < h->group.all.size && !err; i++) {
        err = h->heard[i] < 0 ? (int)h->heard[i] : 0;
        if (c)
            c->bases[h->members[i].node] = (uint64_t)h->heard[i];
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

/* What a member says: the size and its enum heap_limit, or a negative code. Sizes are below 2^60 (heap_is_possible). */
static int64_t heap_wish(uint64_t bytes, int limit, int status) {
    return status ? status : (int64_t)(bytes << 2 | (uint64_t)limit);
}

/* Afterwards h->heard has the sizes. */
static int heap_hear_sizes(struct net_heap *h, uint64_t bytes, int status, int *limit) {
    int64_t mine = heap_wish(bytes, h->limit, status);
    int err = net_boot_gather(&h->group.all, &mine, h->heard, sizeof mine);
    *limit = HEAP_FREE;
    for (int i = 0; i < h->group.all.size && !err; i++) {
        int theirs = (int)(h->heard[i] & 3);
        err = h->heard[i] < 0 ? (int)h->heard[i] : 0;
        *limit = theirs > *limit ? theirs : *limit;
        h->heard[i] >>= 2;
    }
    return err;
}

static uint64_t heap_alignment(const struct net_heap *h, uint64_t bytes) {
    return bytes >= h->page ? h->page : ALIGNMENT;
}

static bool heap_is_even(const struct net_heap *h) {
    for (int i = 1; i < h->group.all.size; i++)
        if (h->heard[i] != h->heard[0])
            return false;
    return true;
}

/* Parts of one size: as many as the largest node has. */
static uint64_t heap_lay_out_even(const struct net_heap *h, struct net_heap_block *b) {
    b->each = (uint64_t)h->heard[0];
    b->stride = round_up(b->each, heap_alignment(h, b->each));
    return b->each ? round_up((h->fullest - 1) * b->stride + b->each, h->page) : 0;
}

/* Stores the offset of each part in parts[].base. Returns the length of the block on all nodes; 0: all parts are
 * empty. */
static uint64_t heap_lay_out(struct net_heap *h, struct net_heap_part parts[]) {
    uint64_t longest = 0;
    memset(h->ends, 0, (size_t)h->nodes * sizeof *h->ends);
    for (int i = 0; i < h->group.all.size; i++) {
        uint64_t bytes = (uint64_t)h->heard[i], *end = &h->ends[h->members[i].node];
        parts[i].base = round_up(*end, heap_alignment(h, bytes));
        parts[i].bytes = bytes;
        if (bytes > 0)
            *end = parts[i].base + bytes;
        longest = *end > longest ? *end : longest;
    }
    return round_up(longest, h->page);
}

/* A part by its offset in the block. */
static struct net_heap_part heap_part(const struct net_heap *h, const struct net_heap_block *b, int member) {
    return b->parts ? b->parts[member]
                    : (struct net_heap_part){h->members[member].place * b->stride, b->each};
}

static bool heap_is_neighbour(const struct net_heap *h, const struct net_heap_block *b, int member) {
    return h->members[member].node == h->members[h->group.all.rank].node && heap_part(h, b, member).bytes > 0;
}

/* The pages that begin in our part or in the gap after it, before the next part on our node. */
static void heap_own_pages(const struct net_heap *h, struct net_heap_block *b) {
    int me = h->group.all.rank, next = me + 1;
    bool first = true;
    b->own_offset = b->own_end = 0;
    if (heap_part(h, b, me).bytes == 0)
        return;
    for (int i = 0; i < me; i++)
        first &= !heap_is_neighbour(h, b, i);
    while (next < h->group.all.size && !heap_is_neighbour(h, b, next))
        next++;
    b->own_offset = first ? 0 : round_up(heap_part(h, b, me).base, h->page);
    b->own_end = next < h->group.all.size ? round_up(heap_part(h, b, next).base, h->page) : b->bytes;
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

struct net_heap_part net_heap_part(const struct net_heap *h, const struct net_heap_block *b, int member) {
    struct net_heap_part part = heap_part(h, b, member);
    part.base = part.bytes > 0 ? b->chunk->bases[h->members[member].node] + b->offset + part.base : 0;
    return part;
}

static void heap_prefer_own(const struct net_heap *h, const struct net_heap_block *b) {
    struct net_heap_part mine = net_heap_part(h, b, h->group.all.rank);
    if (mine.bytes >= h->page)
        net_numa_prefer((void *)(uintptr_t)mine.base, mine.bytes);
}

/* Does everything that may run out of memory, before the exchange. Whether the parts are stored is not known yet. */
static int heap_prepare(struct net_heap *h, struct net_heap_block *b, uint64_t reserved) {
    int err = net_mapped_reserve(MAPPED_BLOCKS);
    b->parts = malloc((size_t)h->group.all.size * sizeof *b->parts);
    err = b->parts ? err : -ENOMEM;
    for (struct heap_chunk *c = h->chunks; c && !err; c = c->next)
        err = net_extents_reserve(&c->free);
    return err ? err : net_reserve_take(h->group.reserve, reserved);
}

/* Larger sizes exceed the address space. */
static bool heap_is_possible(const struct net_heap *h, uint64_t bytes) {
    return bytes < ((uint64_t)1 << 60) / (uint64_t)h->group.all.size;
}

static void heap_free_parts(struct net_heap_block *b) {
    free(b->parts);
    b->parts = NULL;
}

/* Lays the block out by the sizes that were heard. */
static void heap_shape(struct net_heap *h, struct net_heap_block *b) {
    if (!heap_is_even(h)) {
        b->bytes = heap_lay_out(h, b->parts);
        return;
    }
    b->bytes = heap_lay_out_even(h, b);
    heap_free_parts(b);
}

int net_heap_take(struct net_heap *h, uint64_t bytes, int status, void *owner, struct net_heap_block *b) {
    bool taken = false;
    int limit;
    *b = (struct net_heap_block){.reserved = bytes};
    if (!status && !heap_is_possible(h, bytes)) {
        log_error("shared memory: %llu bytes exceed the address space; ask for less",
                  (unsigned long long)bytes);
        status = -ENOMEM;
    }
    if (!status) {
        b->reserved = round_up(bytes, heap_alignment(h, bytes));
        status = heap_prepare(h, b, b->reserved);
        taken = !status;
    }
    status = heap_hear_sizes(h, bytes, status, &limit);
    if (!status)
        heap_shape(h, b);
    if (!status && b->bytes > 0)
        status = heap_place(h, b, limit);
    if (status && taken)
        net_reserve_give(h->group.reserve, b->reserved);
    if (status || b->bytes == 0) {
        heap_free_parts(b);
        return status;
    }
    heap_own_pages(h, b);
    heap_prefer_own(h, b);
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
    heap_free_parts(b);
    b->chunk = NULL;
}

void net_heap_forget(struct net_heap *h, struct net_heap_block *b) {
    net_mapped_remove(MAPPED_BLOCKS, (uint64_t)(uintptr_t)b->base);
    h->forgotten++;
    heap_free_parts(b);
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
