/* cores.h: the cores that this process may use: which of them share a cache, and which are idle. Not for
 * two threads at once. */
#ifndef HEARTH_CORES_H
#define HEARTH_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_CORES = CPU_SETSIZE };

struct cores {
    cpu_set_t allowed;
    double count;          /* of them; less where the control group grants less time than that */
    unsigned level;        /* of the caches below: that asked for, or found; 0: not known */
    size_t cache_bytes;    /* of one cache of the level asked for; 0: not known */
    int cache[MOST_CORES]; /* which cache of that level a core hangs on; -1: none, or not known */
    int whole[MOST_CORES]; /* which core it is a hardware thread of; -1: not known */

    uint64_t when;             /* of the last look at the load, in ns; 0: none yet */
    uint64_t busy[MOST_CORES]; /* time that each was busy until then, in ns */
    float load[MOST_CORES];    /* between the last two looks, 0 to 1 */
};

/* Looks which cores there are, and which share the cache of this level: 2 or 3; 0: of any, the last one.
 * Widens the calling thread to all cores that the system lets it use, whatever it was bound to. 0, or a
 * negative code: nothing is known. */
int cores_open(struct cores *c, unsigned level);

/* Looks at the load. True if the look before is long enough ago that c->load tells of the time between. */
bool cores_look(struct cores *c);

/* What is asked of a core. */
struct cores_wish {
    int beside;       /* shares the cache with this one, and is another */
    bool any_cache;   /* need not share it */
    double most_load; /* 1: whatever its load */
    int own;          /* a core whose load is partly the asker's own; -1: none */
    double own_load;
};

/* The core that suits best, or -1: the asker's own if it still does, then a whole core before a hardware
 * thread of the one beside, then the idlest. */
int cores_choose(const struct cores *c, const struct cores_wish *wish);

#endif
