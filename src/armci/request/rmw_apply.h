/* rmw_apply.h: atomic read-modify-write of a word. */
#ifndef HEARTH_ARMCI_RMW_APPLY_H
#define HEARTH_ARMCI_RMW_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

/* Bytes of the word of an ARMCI_FETCH_AND_ADD ... operation; 0: the operation is invalid. */
size_t armci_rmw_bytes(int op);

/* Whether it replaces the word. */
bool armci_rmw_is_swap(int op);

/* Executes it and sets *old. Misaligned words are changed under a lock; false: the lock is held, and `wait` is
 * false. For any process of the word's node, and its helper. */
bool armci_rmw_apply(struct net_lock_table *lock_table, int op, void *word, uint64_t operand, bool wait,
                     uint64_t *old);

#endif
