/* p2p_node.h: the processes of this node, through shared memory. */
#ifndef HEARTH_MPI_P2P_NODE_H
#define HEARTH_MPI_P2P_NODE_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_peer.h"
#include "net/net.h"

extern HIDDEN struct net_node *p2p_node; /* NULL: no shared memory */
extern HIDDEN uint64_t p2p_node_eager;   /* the largest message that is sent eagerly */
extern HIDDEN int p2p_node_rank;         /* of this process on the node; -1 without shared memory */

/* Contiguous messages from this size on are copied from the sender's memory; and from this one on each process copies a
 * half. UINT64_MAX: none. */
extern HIDDEN uint64_t p2p_node_pull_from, p2p_node_share_from;

/* Processes that are reached through shared memory, with this one: 1 without shared memory. */
int p2p_node_count(void);

/* Finds the processes of this node, and their number. Collective over MPI_COMM_WORLD. */
int p2p_node_find(unsigned *count);

/* Opens the shared memory among them. Collective, if p2p_node_find has succeeded on all processes. */
void p2p_node_open(void);
void p2p_node_close(void);
int p2p_node_poll(void);

#endif
