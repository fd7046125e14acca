/* alloc.c: MPI_Alloc_mem and MPI_Free_mem for served windows.
 *
 * The call is not collective, so other processes map the memory when a window is created over it (memory.h). They map
 * chunks: address space of which the program's blocks are parts, with one file each.
 *
 *      chunk      | block | free | block   | free                       |
 *
 * Pages are backed when they are first touched, and returned to the system when the block is freed. Large blocks are
 * promised within the memory limit (net/shm/promise.h). If the limit is reached, or there is no file or address left, the
 * host allocates the memory: a window over it is then reached through the kernel. */
#include "mpi/windows/serving/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/random.h"
#include "mpi/host/agreement.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/serving/state/memory.h"
#include "mpi/windows/serving/serve_auto.h"
#include "mpi/windows/serving/serving.h"

#define CHUNK_SHORT ((uint64_t)4 << 20) /* where few addresses are free in all processes */
#define CHUNK_LEAST ((uint64_t)64 << 20)
#define CHUNK_MOST  ((uint64_t)4 << 30) /* unless a block is longer */

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20, LARGE = 1 << 20 /* promised */ };

struct chunk {
    struct net_shared *shared;
    struct extents free;
    struct net_promise *promise;
    struct chunk *next;
};

struct block {
    uint64_t base; /* the key */
    uint64_t offset, bytes, promised;
    struct chunk *chunk;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *chunks;
static void *blocks; /* tree of the C library, by address */
static uint64_t mapped;
static uint64_t account;     /* of all promises; 0: none yet */
static _Atomic bool is_used; /* there is a chunk: MPI_Free_mem may be for us */

/* ---- chunks ---- */

static int gather_alone(void *arg, const void *mine, void *all, size_t bytes) {
    (void)arg;
    memcpy(all, mine, bytes);
    return 0;
}

/* If the system limits address space or file sizes, no longer than needed. */
static uint64_t chunk_bytes(uint64_t need) {
    struct rlimit space, file;
    bool scarce = (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) ||
                  (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY);
    uint64_t bytes = net_address_is_scarce() ? CHUNK_SHORT
                     : mapped < CHUNK_LEAST  ? CHUNK_LEAST
                     : mapped < CHUNK_MOST   ? mapped
                                             : CHUNK_MOST;
    return round_up(scarce || bytes < need ? need : bytes, HUGE_PAGE);
}

static bool chunk_map(struct chunk *c, uint64_t bytes) {
    const struct net_boot alone = {.rank = 0, .size = 1, .gather = gather_alone};
    struct serve_card own = serve_process_card();
    if (!own.pid || net_shared_map(&alone, bytes, NULL, &c->shared) != 0)
        return false;
    if (net_extents_open(&c->free, bytes) == 0 &&
        serve_memory_publish(random_mix(clock_ns() ^ own.id), c->shared, &own))
        return true;
    net_extents_close(&c->free);
    net_shared_leave(NULL, c->shared);
    return false;
}

/* Tried until it fails once: each failure is logged. */
static struct chunk *chunk_add(uint64_t need) {
    static bool failed;
    struct chunk *c = failed ? NULL : calloc(1, sizeof *c);
    uint64_t bytes = chunk_bytes(need);
    if (!c || bytes < need || !chunk_map(c, bytes)) {
        log_debug(LOG_WINDOWS, "MPI_Alloc_mem: no chunk for %llu bytes%s: MPI allocates them",
                  (unsigned long long)need, failed ? ", as one failed before" : "");
        failed = true;
        free(c);
        return NULL;
    }
    c->promise = net_promise_open(account);
    net_promise_file(c->promise, &c->shared->place.address, 0);
    mapped += bytes;
    log_debug(LOG_WINDOWS, "MPI_Alloc_mem: a chunk of %llu bytes was mapped; %llu in all",
              (unsigned long long)bytes, (unsigned long long)mapped);
    c->next = chunks;
    chunks = c;
    atomic_store(&is_used, true);
    return c;
}

/* ---- blocks ---- */

static int compare_blocks(const void *a, const void *b) {
    uint64_t x = ((const struct block *)a)->base, y = ((const struct block *)b)->base;
    return x < y ? -1 : x > y;
}

static uint64_t page_size(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool block_in(struct chunk *c, struct block *b) {
    uint64_t alignment = b->bytes < page_size() ? ALIGNMENT : b->bytes < HUGE_PAGE ? page_size() : HUGE_PAGE;
    if (net_extents_reserve(&c->free) != 0)
        return false;
    b->offset = net_extents_take(&c->free, b->bytes, alignment);
    b->chunk = c;
    return b->offset != EXTENTS_NONE;
}

static bool block_place(struct block *b) {
    for (struct chunk *c = chunks; c; c = c->next)
        if (block_in(c, b))
            return true;
    struct chunk *c = chunk_add(b->bytes);
    return c && block_in(c, b);
}

/* Small blocks are not checked, as those of malloc are not. */
static bool has_room(uint64_t bytes) {
    struct memory_limit room;
    if (!account)
        account = net_promise_id();
    return bytes < LARGE || net_room_has(account, bytes, &room);
}

static void block_return(struct block *b) {
    net_promise_add(b->chunk->promise, -(int64_t)b->promised);
    net_extents_give(&b->chunk->free, b->offset, b->bytes);
}

/* The pages that hold nothing but this block. */
static void block_release_pages(const struct block *b) {
    uint64_t page = page_size(), from = round_up(b->base, page), end = (b->base + b->bytes) / page * page;
    if (from < end)
        madvise((void *)(uintptr_t)from, end - from, MADV_REMOVE);
}

static bool block_make(struct block *b) {
    if (!has_room(b->bytes) || !block_place(b))
        return false;
    b->base = (uint64_t)(uintptr_t)b->chunk->shared->base + b->offset;
    b->promised = b->bytes < LARGE ? 0 : b->bytes;
    net_promise_add(b->chunk->promise, (int64_t)b->promised);
    if (tsearch(b, &blocks, compare_blocks))
        return true;
    block_return(b);
    return false;
}

void *serve_alloc_take(uint64_t bytes) {
    struct block *b = bytes < (uint64_t)1 << 62 ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->bytes = round_up(bytes, bytes < page_size() ? ALIGNMENT : page_size());
    serve_open();
    pthread_mutex_lock(&mutex);
    bool made = block_make(b);
    log_trace(LOG_WINDOWS, "MPI_Alloc_mem: %llu bytes %s", (unsigned long long)bytes,
              made ? "in memory that other processes of the node can map"
                   : "are left to MPI: no room, or no chunk");
    void *base = made ? (void *)(uintptr_t)b->base : NULL;
    pthread_mutex_unlock(&mutex);
    if (!made)
        free(b);
    return base;
}

bool serve_alloc_give(void *memory) {
    if (!atomic_load(&is_used))
        return false;
    struct block key = {.base = (uint64_t)(uintptr_t)memory};
    pthread_mutex_lock(&mutex);
    struct block **found = tfind(&key, &blocks, compare_blocks), *b = found ? *found : NULL;
    if (b) {
        tdelete(b, &blocks, compare_blocks);
        block_release_pages(b);
        block_return(b);
        free(b);
    }
    pthread_mutex_unlock(&mutex);
    return b;
}

/* ---- the calls ---- */

uint64_t serve_alloc_alignment(MPI_Info info) {
    char value[32];
    int flag = 0;
    if (info == MPI_INFO_NULL ||
        host_Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &flag) != MPI_SUCCESS)
        return 0;
    return flag ? strtoull(value, NULL, 10) : 0;
}

int hook_Alloc_mem(MPI_Aint bytes, MPI_Info info, void *base) {
    void *memory = NULL;
    if (bytes > 0 && base && serve_auto_wants_memory(info) && !agreement_node_ranks() &&
        !serve_alloc_alignment(info))
        memory = serve_alloc_take((uint64_t)bytes);
    if (!memory)
        return host_Alloc_mem(bytes, info, base);
    memcpy(base, &memory, sizeof memory);
    return MPI_SUCCESS;
}

int hook_Free_mem(void *base) {
    return serve_alloc_give(base) ? MPI_SUCCESS : host_Free_mem(base);
}
