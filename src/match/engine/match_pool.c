/* match_pool.c: allocates elements in address order, and finds them by number in a constant number of steps.
 *
 * The hardware prefetches a queue whose nodes lie in the order in which it is walked. Scattered nodes are not
 * prefetched, and gain nothing from holding several entries per node. Therefore the free elements with the lowest
 * addresses are used first, and a queue that was emptied in any order is filled in address order again.
 *
 *      chunk 0     first elements | their sides | free bits      chunk 1: twice as many, and so on
 *      free[0]     a bit per element, set if it is free
 *      free[1]     a bit per word of free[0], set if that is not zero; and so on up to one word
 *
 * A few free elements are kept in `spares`, without such a bit: those released last, which are in the cache, or a few
 * of the lowest. Most allocations and releases touch only these.
 *
 * Numbers are positions, chunk after chunk. Chunks are not released before the pool is closed: the heater may be
 * reading them, and handles may refer to their elements. */
#include "match/engine/match_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

enum { FIRST_BYTES = 16384 };

static uint32_t chunk_first(const struct match_pool *pool, unsigned c) {
    return pool->first * ((1u << c) - 1);
}

/* Sets the position of each level's words in the chunk; returns their total number. */
static size_t pool_lay_out(struct pool_chunk *chunk, uint32_t elements, uint64_t *words) {
    size_t total = 0;
    uint32_t count = elements / 64;
    chunk->words = count;
    for (chunk->top = 0;; chunk->top++) {
        chunk->free[chunk->top] = words ? words + total : NULL;
        total += count;
        if (count == 1)
            return total;
        count = (count + 63) / 64;
    }
}

static void set_all_free(struct pool_chunk *chunk) {
    uint32_t bits = chunk->words * 64;
    for (unsigned level = 0; level <= chunk->top; level++) {
        uint32_t words = (bits + 63) / 64;
        memset(chunk->free[level], 0xff, words * sizeof(uint64_t));
        if (bits % 64)
            chunk->free[level][words - 1] = ((uint64_t)1 << (bits % 64)) - 1;
        bits = words;
    }
}

static int pool_add_chunk(struct match_pool *pool) {
    unsigned c = pool->chunks;
    struct pool_chunk *chunk = &pool->chunk[c];
    if (c == POOL_CHUNKS || pool->first << c >= 1u << 30)
        return -ENOMEM;
    uint32_t elements = pool->first << c;
    size_t own = round_up((uint64_t)elements * pool->size, CACHE_LINE);
    size_t sides = round_up((uint64_t)elements * pool->side, CACHE_LINE);
    size_t bytes = own + sides + pool_lay_out(chunk, elements, NULL) * sizeof(uint64_t);
    int err = supply_take(pool->supply, &chunk->memory, bytes, own);
    if (err)
        return err;
    char *base = chunk->memory.base;
    pool_lay_out(chunk, elements, (uint64_t *)(base + own + sides));
    set_all_free(chunk);
    unsigned zeros = (unsigned)__builtin_clz(elements);
    pool->origins[zeros] = (uintptr_t)base - (uintptr_t)chunk_first(pool, c) * pool->size;
    pool->side_origins[zeros] = (uintptr_t)base + own - (uintptr_t)chunk_first(pool, c) * pool->side;
    pool->open |= 1u << c;
    pool->chunks++;
    log_debug(LOG_MATCH, "chunk %u of the pool: %u elements of %u bytes", c, elements, pool->size);
    return 0;
}

int pool_open(struct match_pool *pool, struct supply *supply, uint32_t size, uint32_t side) {
    *pool = (struct match_pool){.supply = supply, .size = size, .side = side, .first = 64};
    while (pool->first * size < FIRST_BYTES)
        pool->first *= 2;
    return pool_add_chunk(pool);
}

void pool_close(struct match_pool *pool) {
    for (unsigned c = 0; c < pool->chunks; c++)
        supply_return(pool->supply, &pool->chunk[c].memory);
    pool->chunks = 0;
}

static unsigned chunk_of(const struct match_pool *pool, uint32_t number) {
    return (unsigned)(__builtin_clz(pool->first) - __builtin_clz(number + pool->first));
}

static uint64_t *pool_word_of(const struct match_pool *pool, unsigned c, uint32_t number) {
    return &pool->chunk[c].free[0][(number - chunk_first(pool, c)) / 64];
}

/* The word has become zero. */
static void note_full(struct match_pool *pool, unsigned c, uint32_t word) {
    struct pool_chunk *chunk = &pool->chunk[c];
    ASSERT(word < chunk->words && chunk->free[0][word] == 0);
    for (unsigned level = 1; level <= chunk->top; level++, word /= 64) {
        uint64_t *above = &chunk->free[level][word / 64];
        *above &= ~((uint64_t)1 << (word % 64));
        if (*above)
            return;
    }
    pool->open &= ~(1u << c);
}

/* The word was zero and is not any more. */
static void note_open(struct match_pool *pool, unsigned c, uint32_t word) {
    struct pool_chunk *chunk = &pool->chunk[c];
    for (unsigned level = 1; level <= chunk->top; level++, word /= 64)
        chunk->free[level][word / 64] |= (uint64_t)1 << (word % 64);
    pool->open |= 1u << c;
}

static uint32_t lowest_word(const struct pool_chunk *chunk) {
    uint32_t word = 0;
    for (unsigned level = chunk->top; level; level--)
        word = word * 64 + (uint32_t)__builtin_ctzll(chunk->free[level][word]);
    return word;
}

/* Adds up to POOL_SPARES / 2 spares, from one word. The lowest is put last, to be taken first. */
int pool_refill(struct match_pool *pool) {
    int err = pool->open ? 0 : pool_add_chunk(pool);
    if (err)
        return err;
    unsigned c = (unsigned)__builtin_ctz(pool->open), count = 0;
    ASSERT(c < pool->chunks && pool->spare_count <= POOL_SPARES / 2);
    uint32_t word = lowest_word(&pool->chunk[c]), first = chunk_first(pool, c) + word * 64;
    uint64_t *bits = &pool->chunk[c].free[0][word], left = *bits;
    for (; left && count < POOL_SPARES / 2; left &= left - 1)
        count++;
    for (uint64_t taken = *bits ^ left; taken; taken &= taken - 1) {
        uint32_t number = first + (uint32_t)__builtin_ctzll(taken);
        pool->spares[--count] = (struct pool_spare){pool_at(pool, number, pool->size), number};
        pool->spare_count++;
    }
    *bits = left;
    if (!left)
        note_full(pool, c, word);
    return 0;
}

/* Releases the half of the spares that was given back first. */
void pool_spill(struct match_pool *pool) {
    enum { HALF = POOL_SPARES / 2 };
    ASSERT(pool->spare_count >= HALF);
    for (unsigned i = 0; i < HALF; i++) {
        uint32_t number = pool->spares[i].number;
        unsigned c = chunk_of(pool, number);
        uint64_t *word = pool_word_of(pool, c, number);
        if (!*word)
            note_open(pool, c, (number - chunk_first(pool, c)) / 64);
        *word |= (uint64_t)1 << (number % 64);
    }
    memmove(pool->spares, pool->spares + HALF, HALF * sizeof *pool->spares);
    pool->spare_count -= HALF;
}

/* ---- for checks ---- */

bool pool_has(const struct match_pool *pool, uint32_t number) {
    if (number >= chunk_first(pool, pool->chunks))
        return false;
    for (uint32_t i = 0; i < pool->spare_count; i++)
        if (pool->spares[i].number == number)
            return false;
    return !(*pool_word_of(pool, chunk_of(pool, number), number) >> (number % 64) & 1);
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            log_error("match: broken invariant of a pool: %s", #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* Returns how many are free. Also verifies the bits of the upper levels. */
static uint32_t check_chunk(const struct match_pool *pool, unsigned c) {
    const struct pool_chunk *chunk = &pool->chunk[c];
    uint32_t words = chunk->words, free = 0;
    for (unsigned level = 0; level <= chunk->top; level++, words = (words + 63) / 64)
        for (uint32_t w = 0; w < words; w++) {
            uint64_t word = chunk->free[level][w];
            bool said =
                level == chunk->top ? pool->open >> c & 1 : chunk->free[level + 1][w / 64] >> (w % 64) & 1;
            CHECK(said == (word != 0));
            if (level == 0)
                free += (uint32_t)__builtin_popcountll(word);
        }
    return free;
}

static void check_spares(const struct match_pool *pool) {
    CHECK(pool->spare_count <= POOL_SPARES);
    for (uint32_t i = 0; i < pool->spare_count; i++) {
        uint32_t number = pool->spares[i].number;
        CHECK(number < chunk_first(pool, pool->chunks));
        CHECK(pool->spares[i].element == pool_at(pool, number, pool->size));
        CHECK(!(*pool_word_of(pool, chunk_of(pool, number), number) >> (number % 64) & 1));
        for (uint32_t k = 0; k < i; k++)
            CHECK(pool->spares[k].number != number);
    }
}

uint32_t pool_check(const struct match_pool *pool) {
    uint32_t free = pool->spare_count;
    check_spares(pool);
    for (unsigned c = 0; c < pool->chunks; c++)
        free += check_chunk(pool, c);
    return chunk_first(pool, pool->chunks) - free;
}
