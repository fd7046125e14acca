/* put_flag.c: a put, and then a flag, at the same process. */
#include <string.h>

#include "armci/request/find.h"
#include "armci/request/guard.h"
#include "armci/request/ops.h"

struct remote_flag {
    struct net_op op;
    struct op_flag asked;
};

static size_t put_flag_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_flag *f = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &f->asked, sizeof f->asked);
    out->header_bytes = sizeof f->asked;
    return 0;
}

/* The flag is set after everything that this process has put there before. The call waits until the helper has set it:
 * another process may wait for the flag while this one computes. */
static void put_flag_set(const char *call, int *flag, int value, int proc) {
    int node = (int)armci_job.world->node_of[proc];
    if (armci_find_row(call, proc, flag, sizeof *flag) != WAY_REMOTE) {
        __atomic_store_n(flag, value, __ATOMIC_RELEASE);
        return;
    }
    struct remote_flag f = {.op = {.handler = OP_FLAG, .next = put_flag_next},
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
    put_flag_set("ARMCI_Put_flag", flag, value, proc);
    return status;
}
ALIAS(int, ARMCI_Put_flag, (void *src, void *dst, int bytes, int *flag, int value, int proc));

int PARMCI_PutS_flag(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                     int *flag, int value, int proc) {
    int status = PARMCI_PutS(src, src_strides, dst, dst_strides, counts, levels, proc);
    put_flag_set("ARMCI_PutS_flag", flag, value, proc);
    return status;
}
ALIAS(int, ARMCI_PutS_flag,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int *flag,
       int value, int proc));
