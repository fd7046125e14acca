/* cache_help.h: a small cache for tests, and one-line operations on it. The data is a pattern that encodes its place,
 * so that results can be checked. */
#ifndef HEARTH_TEST_CACHE_HELP_H
#define HEARTH_TEST_CACHE_HELP_H

#include "cache/cache.h"

#include "base/memory.h"
#include "base/settings.h"
#include "tables/shape.h"

static struct cache *cache;
static struct cache_config config;
static struct memory_budget budget;

/* Fixed sizes, a known seed, and a sample that covers the whole index: deterministic. */
static inline void configure(uint64_t slots, uint64_t bytes) {
    struct settings s;
    settings_defaults(&s);
    cache_config_from(&config, &s);
    budget = (struct memory_budget){.limit = (size_t)1 << 40};
    config.budget = &budget;
    config.index_slots = slots;
    config.storage_bytes = bytes;
    config.adaptive = false;
    config.sample = 1 << 20;
    config.seed = 12345;
}

static inline void open_cache(uint64_t slots, uint64_t bytes) {
    configure(slots, bytes);
    expect_eq(cache_open(&config, &cache), 0);
}

static inline void close_cache(void) {
    expect_eq(cache_check(cache), 0);
    cache_close(cache);
    expect_eq(budget.used, 0);
}

static inline struct cache_stats stats(void) {
    struct cache_stats s;
    cache_stats(cache, &s);
    return s;
}

static inline uint8_t byte_at(uint32_t target, uint64_t place) {
    return (uint8_t)(target * 31 + place * 7 + (place >> 8) * 13);
}

/* byte_at for this place and those behind it, up to the next multiple of 256. Data is copied and compared by such rows: under ASan each
 * access costs a check. */
static inline const uint8_t *row_at(uint32_t target, uint64_t place, uint64_t *bytes) {
    enum { SEVENTH = 183 }; /* 7 * 183 = 1 modulo 256 */
    static uint8_t sevens[512];
    for (unsigned i = 0; !sevens[1] && i < sizeof sevens; i++)
        sevens[sizeof sevens - 1 - i] = (uint8_t)(7 * (sizeof sevens - 1 - i));
    *bytes = 256 - place % 256;
    return sevens + place % 256 + (uint8_t)((target * 31 + (place >> 8) * 13) * SEVENTH);
}

static inline void fetch(uint32_t target, uint64_t disp, void *data, uint64_t from, uint64_t to) {
    for (uint64_t i = from, bytes; i < to; i += bytes) {
        const uint8_t *row = row_at(target, disp + i, &bytes);
        memcpy((uint8_t *)data + i, row, bytes < to - i ? bytes : to - i);
    }
}

static inline bool is_data(uint32_t target, uint64_t disp, const void *data, uint64_t bytes) {
    for (uint64_t i = 0, row_bytes; data && i < bytes; i += row_bytes) {
        const uint8_t *row = row_at(target, disp + i, &row_bytes);
        if (memcmp((const uint8_t *)data + i, row, row_bytes < bytes - i ? row_bytes : bytes - i) != 0)
            return false;
    }
    return data != NULL;
}

/* A miss up to the reservation. */
static inline enum cache_outcome reserve(uint32_t target, uint64_t disp, uint64_t bytes, uint32_t *id) {
    struct shape s = shape_contiguous(bytes);
    cache_lookup(cache, target, disp);
    return cache_insert(cache, target, disp, &s, cache_generation(cache), id);
}

/* A complete miss. */
static inline enum cache_outcome put(uint32_t target, uint64_t disp, uint64_t bytes) {
    uint32_t id;
    enum cache_outcome outcome = reserve(target, disp, bytes, &id);
    if (outcome == CACHE_FAILING)
        return outcome;
    fetch(target, disp, cache_data(cache, id), 0, bytes);
    cache_settle(cache, id);
    return outcome;
}

/* Returns whether the entry exists, without counting a hit. */
static inline bool has(uint32_t target, uint64_t disp) {
    return cache_lookup(cache, target, disp) != CACHE_NONE;
}

/* A full hit with the right data. */
static inline bool hit(uint32_t target, uint64_t disp, uint64_t bytes) {
    return is_data(target, disp, cache_find(cache, target, disp, bytes), bytes);
}

static inline uint64_t write_to(uint32_t target, uint64_t disp, uint64_t bytes) {
    struct shape s = shape_contiguous(bytes);
    return cache_write(cache, target, disp, &s);
}

#endif
