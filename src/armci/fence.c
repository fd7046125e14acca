/* fence.c: fences, and the put with flag.
 *
 * Operations on this node are complete when the call returns, so a fence there is only a memory fence. Operations on
 * other nodes are complete when their helpers have acknowledged them. Helpers acknowledge every block anyway, so a
 * fence sends nothing, except a flush of the link after direct puts (net/rpc/direct.h). */
#include <stdatomic.h>
#include <string.h>

#include "armci/armcix.h"
#include "armci/request/armci_count.h"
#include "armci/request/guard.h"
#include "armci/request/ops.h"

void PARMCI_Fence(int proc) {
    enum way way = armci_find_way("ARMCI_Fence", proc);
    armci_count_call(COUNT_FENCE, way, 0);
    atomic_thread_fence(memory_order_seq_cst);
    if (way != WAY_REMOTE)
        return;
    armci_guard_enter();
    net_fence(armci_job.net, (int)armci_job.world->node_of[proc]);
    armci_guard_leave();
}
ALIAS(void, ARMCI_Fence, (int proc));

void PARMCI_AllFence(void) {
    armci_need_open("ARMCI_AllFence");
    armci_count_call(COUNT_FENCE, armci_job.world->nodes > 1 ? WAY_REMOTE : WAY_LOCAL, 0);
    atomic_thread_fence(memory_order_seq_cst);
    if (armci_job.world->nodes == 1)
        return;
    armci_guard_enter();
    net_fence_all(armci_job.net);
    armci_guard_leave();
}
ALIAS(void, ARMCI_AllFence, (void));

void PARMCI_Barrier(void) {
    PARMCI_AllFence();
    armci_count_call(COUNT_BARRIER, WAY_LOCAL, 0);
    armci_check("ARMCI_Barrier", MPI_Barrier(armci_job.comm));
}
ALIAS(void, ARMCI_Barrier, (void));

void ARMCIX_Progress(void) {
    armci_need_open("ARMCIX_Progress");
    armci_guard_enter();
    net_progress(armci_job.net);
    armci_guard_leave();
}

/* ---- put with flag ---- */

struct remote_flag {
    struct net_op op;
    struct op_flag asked;
};

static size_t fence_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_flag *f = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &f->asked, sizeof f->asked);
    out->header_bytes = sizeof f->asked;
    return 0;
}

/* The flag is set after everything that this process has put there before. The call waits until the helper has set it:
 * another process may wait for the flag while this one computes. */
static void fence_set_flag(const char *call, int *flag, int value, int proc) {
    int node = (int)armci_job.world->node_of[proc];
    if (armci_find_row(call, proc, flag, sizeof *flag) != WAY_REMOTE) {
        __atomic_store_n(flag, value, __ATOMIC_RELEASE);
        return;
    }
    struct remote_flag f = {.op = {.handler = OP_FLAG, .next = fence_next},
                            .asked = {.address = (uint64_t)(uintptr_t)flag, .value = value}};
    f.op.arg = &f;
    armci_guard_enter();
    net_start(armci_job.net, node, &f.op);
    net_wait_sent(armci_job.net, node, &f.op);
    net_fence(armci_job.net, node);
    armci_guard_leave();
}

int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc) {
    int status = PARMCI_Put(src, dst, bytes, proc);
    fence_set_flag("ARMCI_Put_flag", flag, value, proc);
    return status;
}
ALIAS(int, ARMCI_Put_flag, (void *src, void *dst, int bytes, int *flag, int value, int proc));

int PARMCI_PutS_flag(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                     int *flag, int value, int proc) {
    int status = PARMCI_PutS(src, src_strides, dst, dst_strides, counts, levels, proc);
    fence_set_flag("ARMCI_PutS_flag", flag, value, proc);
    return status;
}
ALIAS(int, ARMCI_PutS_flag,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int *flag,
       int value, int proc));
