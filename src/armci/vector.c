/* vector.c: transfers of scattered pieces. */
#include "armci/request/armci_transfer.h"

static struct transfer_vector vector_transfer(enum transfer_kind kind, const char *call, armci_giov_t *iov,
                                              int count, int proc) {
    return (struct transfer_vector){.kind = kind, .call = call, .proc = proc, .iov = iov, .iov_count = count};
}

int PARMCI_PutV(armci_giov_t *iov, int count, int proc) {
    struct transfer_vector t = vector_transfer(TRANSFER_PUT, "ARMCI_PutV", iov, count, proc);
    armci_transfer_vector(&t);
    return 0;
}
ALIAS(int, ARMCI_PutV, (armci_giov_t * iov, int count, int proc));

int PARMCI_GetV(armci_giov_t *iov, int count, int proc) {
    struct transfer_vector t = vector_transfer(TRANSFER_GET, "ARMCI_GetV", iov, count, proc);
    armci_transfer_vector(&t);
    return 0;
}
ALIAS(int, ARMCI_GetV, (armci_giov_t * iov, int count, int proc));

int PARMCI_AccV(int type, void *scale, armci_giov_t *iov, int count, int proc) {
    struct transfer_vector t = vector_transfer(TRANSFER_ACC, "ARMCI_AccV", iov, count, proc);
    t.type = type;
    t.scale = scale;
    armci_transfer_vector(&t);
    return 0;
}
ALIAS(int, ARMCI_AccV, (int type, void *scale, armci_giov_t *iov, int count, int proc));

int PARMCI_NbPutV(armci_giov_t *iov, int count, int proc, armci_hdl_t *handle) {
    struct transfer_vector t = vector_transfer(TRANSFER_PUT, "ARMCI_NbPutV", iov, count, proc);
    armci_transfer_vector_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbPutV, (armci_giov_t * iov, int count, int proc, armci_hdl_t *handle));

int PARMCI_NbGetV(armci_giov_t *iov, int count, int proc, armci_hdl_t *handle) {
    struct transfer_vector t = vector_transfer(TRANSFER_GET, "ARMCI_NbGetV", iov, count, proc);
    armci_transfer_vector_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbGetV, (armci_giov_t * iov, int count, int proc, armci_hdl_t *handle));

int PARMCI_NbAccV(int type, void *scale, armci_giov_t *iov, int count, int proc, armci_hdl_t *handle) {
    struct transfer_vector t = vector_transfer(TRANSFER_ACC, "ARMCI_NbAccV", iov, count, proc);
    t.type = type;
    t.scale = scale;
    armci_transfer_vector_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbAccV,
      (int type, void *scale, armci_giov_t *iov, int count, int proc, armci_hdl_t *handle));
