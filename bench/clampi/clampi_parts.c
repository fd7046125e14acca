/* clampi_parts.c: measures the parts of an access on the cache itself, without MPI (the stacked parts of Fig.
 * 7).
 *
 *      lookup        of a present entry
 *      lookup-miss   of an absent one
 *      direct        lookup, reserve and settle, with room for all
 *      conflicting   the same, every path through the index full
 *      capacity      the same, the storage full of entries of this size
 *      failing       the attempt for 64 KB, the storage full of entries of one cache line
 *      copy          memcpy of the data
 *
 * Each is timed over a loop; the difference between capacity (or conflicting) and direct is the eviction. The
 * minimum and the median of the loops are printed: part, bytes, ns least, ns median. Only copy touches data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/settings.h"
#include "cache/cache.h"
#include "sample.h"
#include "tables/shape.h"

enum { ENTRIES = 512, SLOTS = 1500, LARGEST = 1 << 16, LOOPS = 40 };

static struct cache *open_cache(uint64_t slots, uint64_t bytes) {
    struct settings settings;
    struct cache_config config;
    struct cache *cache;
    settings_defaults(&settings);
    settings.adapt = 0;
    settings.seed = 7;
    cache_config_from(&config, &settings);
    config.index_slots = slots;
    config.storage_bytes = bytes;
    if (cache_open(&config, &cache)) {
        fprintf(stderr, "bench: no memory for a cache of %llu bytes\n", (unsigned long long)bytes);
        exit(1);
    }
    return cache;
}

/* Inserts entries number `from` up to `to`, each with its own key. Returns how many have this outcome. */
static unsigned insert(struct cache *c, uint64_t from, uint64_t to, uint32_t bytes,
                       enum cache_outcome outcome) {
    struct shape shape = shape_contiguous(bytes);
    unsigned found = 0;
    uint32_t entry;
    for (uint64_t i = from; i < to; i++) {
        cache_lookup(c, 1, i * LARGEST);
        enum cache_outcome got = cache_insert(c, 1, i * LARGEST, &shape, cache_generation(c), &entry);
        found += got == outcome;
        if (got != CACHE_FAILING)
            cache_settle(c, entry);
    }
    return found;
}

static void print_part(const char *part, uint32_t bytes, struct samples *s) {
    printf("%s,%u,%.1f,%.1f\n", part, bytes, samples_least(s), samples_median(s).value);
    samples_free(s);
}

/* Times `count` inserts per loop, including the lookup of each, after `prepare` inserts. */
static void time_inserts(const char *part, uint32_t bytes, uint64_t slots, uint64_t storage, uint32_t filler,
                         uint64_t prepare, uint64_t count, enum cache_outcome outcome) {
    struct cache *c = open_cache(slots, storage);
    struct samples seen = {0};
    for (unsigned loop = 0; loop < LOOPS; loop++) {
        cache_invalidate(c);
        insert(c, 0, prepare, filler, CACHE_DIRECT);
        uint64_t start = clock_ns();
        unsigned found = insert(c, prepare, prepare + count, bytes, outcome);
        double ns = (double)(clock_ns() - start) / (double)count;
        if (found > count * 9 / 10)
            samples_add(&seen, ns);
    }
    if (seen.count)
        print_part(part, bytes, &seen);
    cache_close(c);
}

static void time_lookups(uint32_t bytes) {
    struct cache *c = open_cache(SLOTS, (uint64_t)ENTRIES * LARGEST);
    struct samples hits = {0}, misses = {0};
    uint64_t found = 0;
    insert(c, 0, ENTRIES, bytes, CACHE_DIRECT);
    for (unsigned loop = 0; loop < LOOPS; loop++) {
        uint64_t start = clock_ns();
        for (uint64_t i = 0; i < 8 * ENTRIES; i++)
            found += cache_find(c, 1, i % ENTRIES * LARGEST, bytes) != NULL;
        uint64_t middle = clock_ns();
        for (uint64_t i = 0; i < 8 * ENTRIES; i++)
            found += cache_lookup(c, 2, i % ENTRIES * LARGEST) != CACHE_NONE;
        samples_add(&hits, (double)(middle - start) / (8 * ENTRIES));
        samples_add(&misses, (double)(clock_ns() - middle) / (8 * ENTRIES));
    }
    if (found == (uint64_t)LOOPS * 8 * ENTRIES) {
        print_part("lookup", bytes, &hits);
        print_part("lookup-miss", bytes, &misses);
    }
    cache_close(c);
}

static void time_copy(uint32_t bytes) {
    static char from[LARGEST], apart[3 * CACHE_LINE],
        to[LARGEST]; /* equal page offsets would conflict in the L1 cache */
    struct samples seen = {0};
    (void)apart;
    for (unsigned loop = 0; loop < LOOPS; loop++) {
        uint64_t start = clock_ns();
        for (unsigned i = 0; i < 256; i++) {
            memcpy(to, from, bytes);
            __asm__ volatile("" ::"r"(to), "r"(bytes) : "memory");
        }
        samples_add(&seen, (double)(clock_ns() - start) / 256);
    }
    print_part("copy", bytes, &seen);
}

int main(void) {
    for (uint32_t bytes = 1; bytes <= LARGEST; bytes *= 4) {
        uint64_t room = round_up(bytes, CACHE_LINE), all = (uint64_t)ENTRIES * 2 * LARGEST;
        time_lookups(bytes);
        time_inserts("direct", bytes, SLOTS, all, bytes, 0, ENTRIES, CACHE_DIRECT);
        time_inserts("conflicting", bytes, ENTRIES / 2, all, bytes, ENTRIES, ENTRIES, CACHE_CONFLICTING);
        time_inserts("capacity", bytes, SLOTS, ENTRIES * room, bytes, ENTRIES, ENTRIES, CACHE_CAPACITY);
        time_copy(bytes);
    }
    time_inserts("failing", LARGEST, SLOTS, (uint64_t)SLOTS * 9 / 10 * CACHE_LINE, 1, SLOTS * 9 / 10,
                 ENTRIES / 4, CACHE_FAILING);
    return 0;
}
