/* find.h: whether memory of another process may be accessed. */
#ifndef HEARTH_ARMCI_FIND_H
#define HEARTH_ARMCI_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "armci/job/armci_internal.h"
#include "data/data.h"

/* How a process is reached. */
enum way { WAY_SELF, WAY_LOCAL /* shared memory */, WAY_REMOTE /* another node */ };

static inline enum way armci_way_to(int proc) {
    if (proc == armci_job.rank)
        return WAY_SELF;
    return armci_job.world->node_of[proc] == (uint32_t)armci_job.world->node ? WAY_LOCAL : WAY_REMOTE;
}

/* The same for an unchecked number: one that is not a rank ends the job. */
enum way armci_find_way(const char *call, int proc);

/* Ends the job, with an error that names the call, the rank and the range, unless proc is a rank and [low, high) of
 * its memory was allocated with ARMCI. If proc is the caller, any mapped range is allowed that does not begin in one
 * of its own allocations or in freed ARMCI memory. */
void armci_find_check(const char *call, int proc, const void *low, const void *high);

static inline enum way armci_find_row(const char *call, int proc, const void *address, size_t bytes) {
    armci_find_check(call, proc, address, (const char *)address + bytes);
    return armci_way_to(proc);
}

static inline enum way armci_find_patch(const char *call, int proc, const struct patch *p) {
    char *low, *high;
    data_patch_hull(p, &low, &high);
    armci_find_check(call, proc, low, high);
    return armci_way_to(proc);
}

#endif
