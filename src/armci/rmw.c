/* rmw.c: read-modify-write, with CPU atomics: in the caller on this node, in the helper for other nodes. All changes
 * of a word happen in the memory of its node, never through network atomics, which are not atomic with respect to
 * the CPU's. */
#include "armci/request/rmw_apply.h"

#include <string.h>

#include "armci/request/armci_count.h"
#include "armci/request/find.h"
#include "armci/request/guard.h"
#include "armci/job/sync_event.h"
#include "armci/request/ops.h"

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
    if (armci_rmw_is_swap(op))
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
