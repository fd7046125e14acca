/* cores.h: the cores that this process may use: which of them share a cache, and which are idle. Not thread-safe. */
#ifndef HEARTH_CORES_H
#define HEARTH_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_CORES = CPU_SETSIZE };

struct cores {
    cpu_set_t allowed;
    double count;          /* of the allowed cores; less if the control group grants less CPU time */
    unsigned level;        /* level of the caches in the next two fields; 0: unknown */
    size_t cache_bytes;    /* size of one cache of that level; 0: unknown */
    int cache[MOST_CORES]; /* the cache of that level that a core uses; -1: none, or unknown */
    int whole[MOST_CORES]; /* the physical core of a hardware thread; -1: unknown */

    uint64_t when;             /* of the last load sample, in ns; 0: none yet */
    uint64_t busy[MOST_CORES]; /* busy time of each until then, in ns */
    float load[MOST_CORES];    /* between the last two samples, 0 to 1 */
};

/* Detects the allowed cores, and which of them share a cache of this level: 2 or 3; 0: the last level that exists.
 * Widens the affinity of the calling thread to all cores that the system permits, whatever it was bound to. Returns 0,
 * or a negative code if the cores are unknown. */
int cores_open(struct cores *c, unsigned level);

/* Samples the load. Returns true if the previous sample is long enough ago for c->load to be meaningful. */
bool cores_look(struct cores *c);

/* Requirements on a core. */
struct cores_wish {
    int neighbour;    /* must share the cache with this core, and be another */
    bool any_cache;   /* need not share it */
    double most_load; /* 1: any load */
    int own;          /* the core that the caller runs on now; -1: none */
    double own_load;  /* the caller's part of that core's load, which does not count */
};

/* The core that fits best, or -1. The caller's own core is preferred if it still fits; then, in this order, a core that
 * shares the neighbour's cache, a core that is not a hardware thread of the neighbour's physical core, the idlest. */
int cores_choose(const struct cores *c, const struct cores_wish *wish);

#endif
