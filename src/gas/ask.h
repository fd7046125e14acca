/* ask.h: operations on other nodes, from any number of threads.
 *
 * net/call.h is for one thread at a time. Here every call holds one lock of the process for a short while;
 * `next` and `take` of an operation are called under it, by whichever thread makes progress: they copy, and
 * do nothing else. No code of the program runs under it, and the caller need not hold anything. A thread that
 * waits lets others in. */
#ifndef HEARTH_GAS_ASK_H
#define HEARTH_GAS_ASK_H

#include "gas/inside.h"

/* As net_start: `op` belongs to the network until it is sent, and done if there is an answer. `node` is
 * another one than ours. */
void ask_start(int node, struct net_op *op);
void ask_start_both(int node, struct net_op *first,
                    struct net_op *second); /* nothing of another thread between them */

/* All blocks are sent and the memory that they come from is free; the answer is in. Neither makes progress. */
bool ask_is_sent(const struct net_op *op);
bool ask_is_done(const struct net_op *op);

/* Until then. They make progress and sleep, but run no handlers. */
void ask_wait_sent(int node, struct net_op *op);
void ask_wait_done(int node, struct net_op *op);

/* Until `done`, which a function of *carrier's sets; *carrier, changed inside such functions too, is NULL
 * before there is one. */
void ask_wait_carried(int node, const _Atomic bool *done, struct net_op *const *carrier);

/* Everything that this process asked of that node so far is done there. */
void ask_fence(int node);

/* Receives what came, sends what may be sent; does nothing if another thread is at it. */
void ask_progress(void);

/* What the report says; and how many bytes a block has at most. */
void ask_count(struct net_counts *counts);

/* Keeps everybody out, for good: the network is about to be closed. */
void ask_close(void);

#endif
