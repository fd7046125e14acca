/* reach.c: direct access to remote memory that bypasses the helpers, on networks that support it.
 *
 * The leaders among the members expose the allocation, and all members get their keys. Nodes whose leader is not a
 * member, or cannot expose memory, are reached through their helpers. If the network pins the pages, they are backed
 * when they are exposed, not when they are first touched. */
#include "armci/request/reach.h"

#include "armci/request/guard.h"

#include <stdlib.h>

/* A node's key, contributed by its leader; and the window opened with it at first use. */
struct reach {
    int node, length; /* 0: no direct access */
    char key[NET_KEY];
    struct link_window *window;
};

void armci_reach_open(struct allocation *a, MPI_Comm comm) {
    if (!net_is_direct(armci_job.net))
        return;
    struct reach mine = {.node = armci_job.world->node}, *all = calloc((size_t)a->count, sizeof *all);
    a->reach = calloc((size_t)armci_job.world->nodes, sizeof *a->reach);
    if (!all || !a->reach)
        armci_fail("ARMCI_Malloc", "no memory for the keys of %d nodes", armci_job.world->nodes);
    armci_guard_enter();
    if (armci_job.world->local == 0)
        mine.length = net_expose(armci_job.net, a->block.base, a->block.bytes, &a->exposed, mine.key);
    armci_guard_leave();
    armci_check("ARMCI_Malloc",
                MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, comm));
    for (int i = 0; i < a->count; i++)
        if (all[i].length > 0)
            a->reach[all[i].node] = all[i];
    free(all);
}

void armci_reach_close(struct allocation *a) {
    for (int node = 0; a->reach && node < armci_job.world->nodes; node++)
        if (a->reach[node].window)
            net_window_close(a->reach[node].window);
    if (a->exposed)
        net_hide(armci_job.net, a->exposed);
    free(a->reach);
    a->reach = NULL;
    a->exposed = NULL;
}

struct link_window *armci_reach_window(struct allocation *a, int node) {
    if (!a || !a->reach || a->reach[node].length <= 0)
        return NULL;
    struct reach *r = &a->reach[node];
    if (!r->window && net_window_open(armci_job.net, node, r->key, &r->window) != 0)
        r->length = 0;
    return r->window;
}
