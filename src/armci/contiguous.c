/* contiguous.c: contiguous transfers. */
#include "armci/request/armci_transfer.h"

static struct armci_transfer contiguous_transfer(enum transfer_kind kind, const char *call, const void *local,
                                                 const void *remote, int bytes, int proc) {
    if (bytes < 0)
        armci_fail(call, "the size is negative: %d bytes", bytes);
    return (struct armci_transfer){.kind = kind,
                                   .call = call,
                                   .proc = proc,
                                   .local = data_patch_row(local, (size_t)bytes),
                                   .remote = data_patch_row(remote, (size_t)bytes)};
}

int PARMCI_Put(void *src, void *dst, int bytes, int proc) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_PUT, "ARMCI_Put", src, dst, bytes, proc);
    armci_transfer_patch(&t);
    return 0;
}
ALIAS(int, ARMCI_Put, (void *src, void *dst, int bytes, int proc));

int PARMCI_Get(void *src, void *dst, int bytes, int proc) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_GET, "ARMCI_Get", dst, src, bytes, proc);
    armci_transfer_patch(&t);
    return 0;
}
ALIAS(int, ARMCI_Get, (void *src, void *dst, int bytes, int proc));

int PARMCI_Acc(int type, void *scale, void *src, void *dst, int bytes, int proc) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_ACC, "ARMCI_Acc", src, dst, bytes, proc);
    t.type = type;
    t.scale = scale;
    armci_transfer_patch(&t);
    return 0;
}
ALIAS(int, ARMCI_Acc, (int type, void *scale, void *src, void *dst, int bytes, int proc));

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *handle) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_PUT, "ARMCI_NbPut", src, dst, bytes, proc);
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbPut, (void *src, void *dst, int bytes, int proc, armci_hdl_t *handle));

int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *handle) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_GET, "ARMCI_NbGet", dst, src, bytes, proc);
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbGet, (void *src, void *dst, int bytes, int proc, armci_hdl_t *handle));

int PARMCI_NbAcc(int type, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *handle) {
    struct armci_transfer t = contiguous_transfer(TRANSFER_ACC, "ARMCI_NbAcc", src, dst, bytes, proc);
    t.type = type;
    t.scale = scale;
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbAcc,
      (int type, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *handle));

void ARMCI_Copy(void *src, void *dst, int bytes) {
    if (bytes > 0)
        memcpy(dst, src, (size_t)bytes);
}
