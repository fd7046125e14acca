/* match_pool.h: allocates elements of one size, lowest addresses first. A 32-bit number identifies an element. */
#ifndef HEARTH_MATCH_POOL_H
#define HEARTH_MATCH_POOL_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "match/engine/supply.h"

enum { POOL_CHUNKS = 24, POOL_LEVELS = 6, POOL_SPARES = 16 };
#define POOL_NONE UINT32_MAX

struct pool_spare {
    void *element;
    uint32_t number;
};

struct pool_chunk {
    struct memory memory;
    uint64_t *free[POOL_LEVELS]; /* [0]: a bit per element; [n]: a bit per word of [n - 1] that is not zero */
    uint32_t words;              /* of free[0] */
    unsigned top;                /* the level that has one word */
};

struct match_pool {
    uint32_t spare_count;
    uint32_t first;                        /* elements of chunk 0: a power of two, at least 64 */
    struct pool_spare spares[POOL_SPARES]; /* free elements for immediate use: the last is taken next */
    uintptr_t origins[32]; /* by the leading zeros of number + first: where element 0 would be */
    uintptr_t side_origins[32];
    struct pool_chunk chunk[POOL_CHUNKS];
    uint32_t size, side;   /* bytes of an element, and of its side */
    uint32_t chunks, open; /* open: a bit per chunk with a free element */
    struct supply *supply;
};

/* Elements of `size` bytes, a multiple of 8, 64-byte aligned if it is a multiple of 64. Each has another `side` bytes
 * elsewhere, which are not heated, and cost nothing if they are never touched. Returns 0 or -ENOMEM. */
int pool_open(struct match_pool *pool, struct supply *supply, uint32_t size, uint32_t side);
void pool_close(struct match_pool *pool);

/* Chunk c begins at number first * (2^c - 1), so number + first has its highest bit at the same position throughout a
 * chunk. `size` is the pool's: callers pass a constant if they have one. */
static inline void *pool_at(const struct match_pool *pool, uint32_t number, uint32_t size) {
    return (void *)(pool->origins[__builtin_clz(number + pool->first)] + (uintptr_t)number * size);
}

static inline void *pool_side(const struct match_pool *pool, uint32_t number, uint32_t side) {
    return (void *)(pool->side_origins[__builtin_clz(number + pool->first)] + (uintptr_t)number * side);
}

/* Adds spares, or removes some. pool_refill returns 0 or -ENOMEM. */
int pool_refill(struct match_pool *pool);
void pool_spill(struct match_pool *pool);

/* A free element, or NULL. Its contents are undefined. */
static inline void *pool_take(struct match_pool *pool, uint32_t *number) {
    if (UNLIKELY(!pool->spare_count) && pool_refill(pool))
        return NULL;
    const struct pool_spare *spare = &pool->spares[--pool->spare_count];
    *number = spare->number;
    return spare->element;
}

static inline void pool_give(struct match_pool *pool, void *element, uint32_t number) {
    if (UNLIKELY(pool->spare_count == POOL_SPARES))
        pool_spill(pool);
    pool->spares[pool->spare_count++] = (struct pool_spare){element, number};
}

/* For checks: whether it is in use, and how many are; the second also verifies everything. */
bool pool_has(const struct match_pool *pool, uint32_t number);
uint32_t pool_check(const struct match_pool *pool);

#endif
