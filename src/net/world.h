/* world.h: who is on which node.
 *
 * A node is a set of ranks that map each other's memory: those of one machine, or, with
 * HEARTH_NODE_RANKS=k, every k consecutive ones of them, which then talk to the others through the
 * network as if these were elsewhere. Nodes are numbered in the order of their lowest ranks; the
 * lowest rank of a node is its leader.
 *
 * What is the same for all processes of a node (this table, and what others add to it, such as the
 * addresses of the helpers) lies once per node in shared memory, the *area*, made by the leader and
 * mapped by all. It is gone when the last process is, however it ended. */
#ifndef HEARTH_NET_WORLD_H
#define HEARTH_NET_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "net/boot.h"

struct net_world {
    int rank, size;         /* of this process among all */
    int node, nodes;        /* its node, and how many there are */
    int local, local_count; /* its place among the ranks of its node, and how many these are */

    /* In the area. */
    const uint32_t *node_of;  /* [size] */
    const uint32_t *local_of; /* [size] */
    const uint32_t *first;    /* [nodes + 1]: where in `members` the ranks of each node begin */
    const uint32_t *members;  /* [size]: the ranks, by node, ascending */

    struct net_area *area;
};

/* Collective. `machine`: a number that ranks have in common if and only if they can share memory, such
 * as the lowest rank of the machine. `node_ranks`: 0, or at most so many ranks to a node. 0, or a
 * negative code after a line, the same in all processes: then nothing is open anywhere. */
int net_world_open(const struct net_boot *boot, int machine, unsigned node_ranks, struct net_world **world);
void net_world_close(struct net_world *w);

/* Memory that all processes of the node share: zeroed, `bytes` long, aligned to 128. Called by all
 * processes of all nodes, as often and in the same order (they meet through `boot`, which is as given
 * to net_world_open); `bytes` is the same in a node, and may differ between nodes. The leader's
 * segment holds the memory; in every process it may lie elsewhere. NULL after a line, in all or none. */
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
