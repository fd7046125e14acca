/* armci_transfer.h: puts, gets and accumulates, of any shape, to any process.
 *
 * A transfer has a local and a remote side of the same number of bytes. On this node the caller executes it at once;
 * to another node it becomes an operation of net/rpc/call.h. */
#ifndef HEARTH_ARMCI_TRANSFER_H
#define HEARTH_ARMCI_TRANSFER_H

#include "armci/request/find.h"
#include "armci/job/armci_internal.h"
#include "data/data.h"

enum transfer_kind { TRANSFER_PUT, TRANSFER_GET, TRANSFER_ACC };

struct armci_transfer {
    enum transfer_kind kind;
    const char *call; /* the function that the program called, for messages */
    int proc;
    int type;          /* of an accumulate */
    const void *scale; /* valid during the call that starts it */
    struct patch local, remote;
};

/* Several pieces of equal length: the vector forms. */
struct transfer_vector {
    enum transfer_kind kind;
    const char *call;
    int proc;
    int type;
    const void *scale;
    const armci_giov_t *iov; /* valid until it is sent (put, acc) or done (get) */
    int iov_count;
};

/* Executes it; returns when local memory may be reused. */
void armci_transfer_patch(const struct armci_transfer *t);
void armci_transfer_vector(const struct transfer_vector *t);

/* Starts it. The program waits for it with the handle or, if that is NULL, with ARMCI_WaitAll and similar calls. The
 * vector's lists are copied. */
void armci_transfer_patch_start(const struct armci_transfer *t, armci_hdl_t *handle);
void armci_transfer_vector_start(const struct transfer_vector *t, armci_hdl_t *handle);

#endif
