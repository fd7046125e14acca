/* fence.c: fences.
 *
 * Operations on this node are complete when the call returns, so a fence there is only a memory fence. Operations on
 * other nodes are complete when their helpers have acknowledged them. Helpers acknowledge every block anyway, so a
 * fence sends nothing, except a flush of the link after direct puts (net/rpc/direct.h). */
#include <stdatomic.h>

#include "hearth/armci/armcix.h"
#include "armci/request/armci_count.h"
#include "armci/request/guard.h"

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
