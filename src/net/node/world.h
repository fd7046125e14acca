/* world.h: the mapping of ranks to nodes.
 *
 * A node is a set of ranks that map each other's memory: the ranks of one machine or, with HEARTH_NODE_RANKS=k, every
 * k consecutive ranks of one machine. These then reach the other ranks of their machine through the network, as if
 * they were on another machine. Nodes are numbered in the order of their lowest ranks. The lowest rank of a node is
 * its leader.
 *
 * Data that is the same for all processes of a node (this table, and additions such as the addresses of the helpers)
 * exists once per node in shared memory, the *area*. The leader creates it and all processes map it. It vanishes
 * with the last process, however that ends. */
#ifndef HEARTH_NET_WORLD_H
#define HEARTH_NET_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "net/boot/boot.h"

struct net_world {
    int rank, size;         /* of this process among all */
    int node, nodes;        /* its node, and the number of nodes */
    int local, local_count; /* its index among the ranks of its node, and their number */

    /* In the area. */
    const uint32_t *node_of;  /* [size] */
    const uint32_t *local_of; /* [size] */
    const uint32_t *first;    /* [nodes + 1]: index in `members` of the first rank of each node */
    const uint32_t *members;  /* [size]: ranks by node, ascending */

    struct net_area *area;
};

/* Collective. `machine`: a number that is equal in two ranks if and only if they can share memory, such as the
 * lowest rank of the machine. `node_ranks`: 0, or the most ranks per node. Returns 0, or a negative code after
 * logging an error, the same in all processes; then nothing is open anywhere. */
int net_world_open(const struct net_boot *boot, int machine, unsigned node_ranks, struct net_world **world);
void net_world_close(struct net_world *w);

/* Memory that all processes of the node share: zeroed, `bytes` long, aligned to 128. All processes of all nodes call
 * it, equally often and in the same order; it synchronises through `boot`, which must be the one given to
 * net_world_open. `bytes` is the same within a node, and may differ between nodes. The memory lies in the leader's
 * segment; its address may differ between processes. Returns NULL after logging an error, in all processes or in
 * none. */
void *net_world_share(struct net_world *w, const struct net_boot *boot, size_t bytes);

static inline int net_world_count(const struct net_world *w, int node) {
    return (int)(w->first[node + 1] - w->first[node]);
}

static inline int net_world_leader(const struct net_world *w, int node) {
    return (int)w->members[w->first[node]];
}

static inline int net_world_member(const struct net_world *w, int node, int local) {
    return (int)w->members[w->first[node] + (uint32_t)local];
}

#endif
