/* ask.h: operations on other nodes, from any number of threads.
 *
 * net/rpc/call.h supports one thread at a time. Here every call holds a process-wide lock for a short time. `next` and
 * `take` of an operation are called under it, by whichever thread makes progress; they only copy. No code of the
 * program runs under it, and the caller need not hold any lock. A waiting thread releases the lock between polls. */
#ifndef HEARTH_GAS_ASK_H
#define HEARTH_GAS_ASK_H

#include "gas/process/process.h"

/* As net_start: `op` belongs to the network until it is sent, and, if it has an answer, until it is done. `node` is not
 * our own node. */
void gas_ask_start(int node, struct net_op *op);
void gas_ask_start_both(int node, struct net_op *first,
                        struct net_op *second); /* no operation of another thread in between */

/* Sent: all blocks have left and their memory may be reused. Done: the answer has arrived. Neither call makes
 * progress. */
bool gas_ask_is_sent(const struct net_op *op);
bool gas_ask_is_done(const struct net_op *op);

/* Wait until then. They make progress and sleep, but run no handlers. */
void gas_ask_wait_sent(int node, struct net_op *op);
void gas_ask_wait_done(int node, struct net_op *op);

/* Waits until `done`, which a callback of *carrier sets. *carrier also changes inside such callbacks, and is NULL while
 * there is none. */
void gas_ask_wait_carried(int node, const _Atomic bool *done, struct net_op *const *carrier);

/* Receives and sends as far as possible; does nothing if another thread is doing so. */
void gas_ask_progress(void);

/* Counters for the report, and the maximum size of a block. */
void gas_ask_count(struct net_counts *counts);

/* Blocks all further calls permanently: the network is about to be closed. */
void gas_ask_close(void);

#endif
