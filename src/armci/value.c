/* value.c: transfers of single values. The value is an argument, so it is copied before the call returns. */
#include "armci/request/armci_transfer.h"

static void value_put(const char *call, const void *value, size_t bytes, void *dst, int proc) {
    struct armci_transfer t = {.kind = TRANSFER_PUT,
                               .call = call,
                               .proc = proc,
                               .local = data_patch_row(value, bytes),
                               .remote = data_patch_row(dst, bytes)};
    armci_transfer_patch(&t); /* small enough to be sent at once, so nothing is left to wait for */
}

static void value_get(const char *call, void *value, size_t bytes, void *src, int proc) {
    struct armci_transfer t = {.kind = TRANSFER_GET,
                               .call = call,
                               .proc = proc,
                               .local = data_patch_row(value, bytes),
                               .remote = data_patch_row(src, bytes)};
    armci_transfer_patch(&t);
}

#define VALUE(Name, type)                                                                                    \
    int PARMCI_PutValue##Name(type value, void *dst, int proc) {                                             \
        value_put("ARMCI_PutValue" #Name, &value, sizeof value, dst, proc);                                  \
        return 0;                                                                                            \
    }                                                                                                        \
    ALIAS(int, ARMCI_PutValue##Name, (type value, void *dst, int proc));                                     \
    int PARMCI_NbPutValue##Name(type value, void *dst, int proc, armci_hdl_t *handle) {                      \
        (void)handle;                                                                                        \
        value_put("ARMCI_NbPutValue" #Name, &value, sizeof value, dst, proc);                                \
        return 0;                                                                                            \
    }                                                                                                        \
    ALIAS(int, ARMCI_NbPutValue##Name, (type value, void *dst, int proc, armci_hdl_t *handle));              \
    type PARMCI_GetValue##Name(void *src, int proc) {                                                        \
        type value;                                                                                          \
        value_get("ARMCI_GetValue" #Name, &value, sizeof value, src, proc);                                  \
        return value;                                                                                        \
    }                                                                                                        \
    ALIAS(type, ARMCI_GetValue##Name, (void *src, int proc))

VALUE(Int, int);
VALUE(Long, long);
VALUE(Float, float);
VALUE(Double, double);
