/* smpi_charge.c: charges simulated time for the work of the program and the cache between messages, which would
 * otherwise take none.
 *
 * The program is built with MPI_Get named sim_Get. By its next get it has processed the data of the last one;
 * so each get first pays for the work on the bytes of the get before it and for the work of the cache
 * meanwhile. The linker wraps the cache's functions (smpi.cmake) to count their work.
 *
 * The times are constants, so that a run does not depend on the machine: those of a 2-core aarch64, as `make
 * bench-clampi` (a hit with its flush) and build/TREE/bench/clampi_parts (the rest) print them there.
 * SIM_WORK_NS is the program's. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cache/cache.h"
#include "tables/shape.h"

static const double hit_ns = 56, lookup_ns = 7, copy_ns_per_byte = 0.0175;
static const double insert_ns[] = {
    [CACHE_DIRECT] = 74, [CACHE_CONFLICTING] = 297, [CACHE_CAPACITY] = 203, [CACHE_FAILING] = 203};

static double owed; /* ns */

uint32_t __real_cache_lookup(struct cache *cache, uint32_t target, uint64_t disp);
uint32_t __wrap_cache_lookup(struct cache *cache, uint32_t target, uint64_t disp);
const void *__real_cache_find(struct cache *cache, uint32_t target, uint64_t disp, uint64_t bytes);
const void *__wrap_cache_find(struct cache *cache, uint32_t target, uint64_t disp, uint64_t bytes);
enum cache_outcome __real_cache_insert(struct cache *cache, uint32_t target, uint64_t disp,
                                       const struct shape *shape, uint64_t generation, uint32_t *entry);
enum cache_outcome __wrap_cache_insert(struct cache *cache, uint32_t target, uint64_t disp,
                                       const struct shape *shape, uint64_t generation, uint32_t *entry);
bool __real_cache_settle(struct cache *cache, uint32_t entry);
bool __wrap_cache_settle(struct cache *cache, uint32_t entry);
int sim_Get(void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
            MPI_Datatype target_type, MPI_Win window);

uint32_t __wrap_cache_lookup(struct cache *cache, uint32_t target, uint64_t disp) {
    owed += lookup_ns;
    return __real_cache_lookup(cache, target, disp);
}

const void *__wrap_cache_find(struct cache *cache, uint32_t target, uint64_t disp, uint64_t bytes) {
    const void *data = __real_cache_find(cache, target, disp, bytes);
    owed += data ? hit_ns + (double)bytes * copy_ns_per_byte : lookup_ns;
    return data;
}

enum cache_outcome __wrap_cache_insert(struct cache *cache, uint32_t target, uint64_t disp,
                                       const struct shape *shape, uint64_t generation, uint32_t *entry) {
    enum cache_outcome outcome = __real_cache_insert(cache, target, disp, shape, generation, entry);
    owed += insert_ns[outcome];
    return outcome;
}

/* The data has just been copied in. */
bool __wrap_cache_settle(struct cache *cache, uint32_t entry) {
    owed += (double)cache_bytes_of(cache, entry) * copy_ns_per_byte;
    return __real_cache_settle(cache, entry);
}

/* The program's work per byte that it gets. */
static double work_ns(void) {
    static double work = -1;
    const char *text;
    if (work < 0)
        work = (text = getenv("SIM_WORK_NS")) ? atof(text) : 0;
    return work;
}

/* Hosts execute 10^9 operations a second: one per nanosecond. */
static void pay(void) {
    if (owed > 0)
        smpi_execute_flops(owed);
    owed = 0;
}

int sim_Get(void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
    int size = 0;
    pay();
    int rc = MPI_Get(origin, count, type, target, disp, target_count, target_type, window);
    MPI_Type_size(type, &size);
    owed += work_ns() * count * size;
    return rc;
}
