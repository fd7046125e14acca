/* process.h: the processes of this node whose memory served windows reach.
 *
 * Each has one lock table for accumulates to its memory, which it creates when it first takes part in a served window;
 * the others map it. An element thus has the same lock in all windows, whichever processes these have. The same segment
 * holds the gates of the process in its windows (gate.h), so that a window needs no memory of its own for them. */
#ifndef HEARTH_MPI_SERVE_PROCESS_H
#define HEARTH_MPI_SERVE_PROCESS_H

#include "mpi/windows/serving/state/gate.h"
#include "net/net.h"

struct serve_process {
    uint64_t id; /* random */
    int pid;
    _Atomic bool is_allowed; /* the kernel lets this process read and write its memory; false: not known */
    struct net_lock_table *locks;
    struct serve_gate *gates;
    struct segment segment; /* it holds the lock table and the gates */
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

/* A gate of this process, by its number, for one of its windows; -1: none is free. It is open when it is taken. To be given
 * back when no process uses it any more. */
enum { PROCESS_GATES = 512 };
int serve_process_take_gate(void);
void serve_process_give_gate(int number);

/* The process of this card, found or attached; NULL: its lock table cannot be mapped. Never detached. */
struct serve_process *serve_process_join(const struct serve_card *card, int rank);

#endif
