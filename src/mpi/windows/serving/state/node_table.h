/* node_table.h: a memory_table whose rows the processes of a node share; the exchange that fills it when a window is created. */
#ifndef HEARTH_MPI_SERVE_NODE_TABLE_H
#define HEARTH_MPI_SERVE_NODE_TABLE_H

#include "mpi/host/host.h"
#include "mpi/windows/serving/state/memory_table.h"
#include "net/net.h"

struct node_table {
    struct memory_table table;
    struct net_shared *shared; /* of the node, for the rows; NULL: they are private */
    bool borrowed;             /* the rows are another table's */
    uint64_t key;              /* the least of all members' */
};

/* This process in the exchange. If that fails inside MPI, the job ends; up to 64 ranks get false instead, each for itself, unless the
 * result is relied on. */
struct node_table_member {
    struct rank_memory memory; /* `process` is filled in by the exchange */
    bool ready;                /* nothing has failed so far */
    bool by_id; /* identify processes by random numbers, even if they are of one MPI_COMM_WORLD */
    bool relied_on;
    uint64_t key;
};

/* Collective over comm. True on all ranks: `out` describes all of them. False on all: some rank is not ready, or has no memory. */
bool serve_node_table_gather(const struct node_table_member *own, MPI_Comm comm, struct node_table *out);
void serve_node_table_free(struct node_table *t);

/* Bytes that the first rank of a node needs meanwhile, for a table like this one. */
static inline size_t serve_node_table_scratch(const struct memory_table *t, int nodes) {
    return (size_t)t->size * (sizeof(int) + t->row_bytes) + 2 * (size_t)nodes * sizeof(int);
}

#endif
