/* rmw.c: read-modify-write, with CPU atomics: in the caller on this node, in the helper for other nodes. All changes
 * of a word happen in the memory of its node, never through network atomics, which are not atomic with respect to
 * the CPU's. */
#include "armci/rmw.h"

#include <string.h>

#include "armci/request/armci_count.h"
#include "armci/request/find.h"
#include "armci/request/guard.h"
#include "armci/sync_event.h"
#include "armci/request/ops.h"

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

static bool is_swap(int op) {
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
        *old = bytes == sizeof(int) ? change_int(word, (uint32_t)operand, is_swap(op))
                                    : change_long(word, operand, is_swap(op));
        return true;
    }
    if (wait)
        net_lock_table_lock(lock_table, word);
    else if (!net_lock_table_try(lock_table, word))
        return false;
    *old = change_odd(word, bytes, operand, is_swap(op));
    net_lock_table_unlock(lock_table, word);
    return true;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "change_odd");

/* ---- other nodes ---- */

struct remote_rmw {
    struct net_op op;
    struct op_rmw asked;
    uint64_t old;
};

static size_t rmw_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_rmw *r = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &r->asked, sizeof r->asked);
    out->header_bytes = sizeof r->asked;
    out->answer_bytes = sizeof r->old;
    return sizeof r->old;
}

static void rmw_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct remote_rmw *r = op->arg;
    memcpy((char *)&r->old + offset, data, bytes);
}

static uint64_t rmw_remote(int op, void *word, uint64_t operand, int proc) {
    int node = (int)armci_job.world->node_of[proc];
    struct remote_rmw r = {
        .op = {.handler = OP_RMW, .fetches = true, .left = sizeof r.old, .next = rmw_next, .take = rmw_take},
        .asked = {.address = (uint64_t)(uintptr_t)word, .operand = operand, .op = (uint32_t)op}};
    r.op.arg = &r;
    armci_guard_enter();
    net_start(armci_job.net, node, &r.op);
    net_wait_done(armci_job.net, node, &r.op);
    armci_guard_leave();
    return r.old;
}

int PARMCI_Rmw(int op, void *local, void *remote, int value, int proc) {
    size_t bytes = armci_rmw_bytes(op);
    uint64_t operand = 0, old;
    if (bytes == 0)
        armci_fail("ARMCI_Rmw",
                   "operation %d is unknown: use ARMCI_FETCH_AND_ADD(_LONG) or ARMCI_SWAP(_LONG)", op);
    enum way way = armci_find_row("ARMCI_Rmw", proc, remote, bytes);
    if (is_swap(op))
        memcpy(&operand, local, bytes);
    else
        operand = (uint64_t)(int64_t)value;
    armci_count_call(COUNT_RMW, way, bytes);
    if (way == WAY_REMOTE)
        old = rmw_remote(op, remote, operand, proc);
    else
        armci_rmw_apply(armci_job.lock_table, op, remote, operand, true, &old);
    memcpy(local, &old, bytes);
    armci_sync_event();
    return 0;
}
ALIAS(int, ARMCI_Rmw, (int op, void *local, void *remote, int value, int proc));
