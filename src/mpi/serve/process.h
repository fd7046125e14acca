/* process.h: the processes of this node whose memory served windows reach.
 *
 * Each has one lock table for accumulates to its memory, which it creates when it first takes part in a served window;
 * the others map it. An element thus has the same lock in all windows, whichever processes these have. */
#ifndef HEARTH_MPI_SERVE_PROCESS_H
#define HEARTH_MPI_SERVE_PROCESS_H

#include "net/net.h"

struct serve_process {
    uint64_t id; /* random */
    int pid;
    struct net_lock_table *locks;
    struct segment segment; /* it holds the lock table */
    struct serve_process *next;
};

/* The identity of a process, as it is sent to the others. */
struct serve_card {
    uint64_t id;
    int64_t pid; /* 0: it has no lock table */
    struct net_address address;
};

/* This process; pid 0: no memory for its lock table. */
struct serve_card serve_process_card(void);

/* The process of this card, found or attached; NULL: its lock table cannot be mapped. Never detached. */
struct serve_process *serve_process_join(const struct serve_card *card, int rank);

#endif
