/* rmw.h: a word is read and changed in one step. */
#ifndef HEARTH_ARMCI_RMW_H
#define HEARTH_ARMCI_RMW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

/* Bytes of the word of an ARMCI_FETCH_AND_ADD ... operation; 0: it is none. */
size_t rmw_bytes(int op);

/* Does it: the old value. Words at odd addresses are changed under a lock; false: it is held, and `wait` was not asked
 * for. Any process of the word's node, and its helper. */
bool rmw_apply(struct net_stripes *stripes, int op, void *word, uint64_t operand, bool wait, uint64_t *old);

#endif
