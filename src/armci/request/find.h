/* find.h: whether memory of another process may be accessed. */
#ifndef HEARTH_ARMCI_FIND_H
#define HEARTH_ARMCI_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "armci/inside.h"
#include "armci/data/patch.h"

/* How a process is reached. */
enum way { WAY_SELF, WAY_NEAR /* shared memory */, WAY_FAR /* another node */ };

static inline enum way way_to(int proc) {
    if (proc == armci.rank)
        return WAY_SELF;
    return armci.world->node_of[proc] == (uint32_t)armci.world->node ? WAY_NEAR : WAY_FAR;
}

/* The same for an unchecked number: one that is not a rank ends the job. */
enum way way_of(const char *call, int proc);

/* Ends the job, with an error that names the call, the rank and the range, unless proc is a rank and [low, high) of
 * its memory was allocated with ARMCI. Of one's own memory, any mapped range is allowed. */
void find_check(const char *call, int proc, const void *low, const void *high);

static inline enum way find_row(const char *call, int proc, const void *address, size_t bytes) {
    find_check(call, proc, address, (const char *)address + bytes);
    return way_to(proc);
}

static inline enum way find_patch(const char *call, int proc, const struct patch *p) {
    char *low, *high;
    patch_hull(p, &low, &high);
    find_check(call, proc, low, high);
    return way_to(proc);
}

#endif
