/* rmw_apply.c: see rmw_apply.h. Words are changed by CPU atomics. */
#include "armci/request/rmw_apply.h"

#include <string.h>

#include "armci/job/armci_internal.h"
#include "base/compiler.h"

size_t armci_rmw_bytes(int op) {
    switch (op) {
    case ARMCI_FETCH_AND_ADD:
    case ARMCI_SWAP:
        return sizeof(int);
    case ARMCI_FETCH_AND_ADD_LONG:
    case ARMCI_SWAP_LONG:
        return sizeof(long);
    default:
        return 0;
    }
}

bool armci_rmw_is_swap(int op) {
    return op == ARMCI_SWAP || op == ARMCI_SWAP_LONG;
}

static uint64_t change_int(uint32_t *word, uint32_t operand, bool swap) {
    return swap ? __atomic_exchange_n(word, operand, __ATOMIC_ACQ_REL)
                : __atomic_fetch_add(word, operand, __ATOMIC_ACQ_REL);
}

static uint64_t change_long(uint64_t *word, uint64_t operand, bool swap) {
    return swap ? __atomic_exchange_n(word, operand, __ATOMIC_ACQ_REL)
                : __atomic_fetch_add(word, operand, __ATOMIC_ACQ_REL);
}

/* For misaligned words, which CPU atomics do not support. */
static uint64_t change_odd(char *word, size_t bytes, uint64_t operand, bool swap) {
    uint64_t old = 0, new;
    memcpy(&old, word, bytes);
    new = swap ? operand : old + operand;
    memcpy(word, &new, bytes); /* its low bytes, which come first on little-endian machines */
    return old;
}

bool armci_rmw_apply(struct net_lock_table *lock_table, int op, void *word, uint64_t operand, bool wait,
                     uint64_t *old) {
    size_t bytes = armci_rmw_bytes(op);
    if (LIKELY((uintptr_t)word % bytes == 0)) {
        *old = bytes == sizeof(int) ? change_int(word, (uint32_t)operand, armci_rmw_is_swap(op))
                                    : change_long(word, operand, armci_rmw_is_swap(op));
        return true;
    }
    if (wait)
        net_lock_table_lock(lock_table, word);
    else if (!net_lock_table_try(lock_table, word))
        return false;
    *old = change_odd(word, bytes, operand, armci_rmw_is_swap(op));
    net_lock_table_unlock(lock_table, word);
    return true;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "change_odd");
