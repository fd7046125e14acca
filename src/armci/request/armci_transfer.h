/* armci_transfer.h: puts, gets and accumulates, of any shape, to any process.
 *
 * A transfer has a local and a remote side of the same number of bytes. On this node the caller executes it at once;
 * to another node it becomes an operation of net/rpc/call.h. */
#ifndef HEARTH_ARMCI_TRANSFER_H
#define HEARTH_ARMCI_TRANSFER_H

#include "armci/request/find.h"
#include "armci/armci_internal.h"
#include "armci/data/patch.h"

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

/* ---- operations to other nodes ---- */

/* A pending operation. */
struct armci_request {
    struct net_op op;
    int proc, node;
    enum transfer_kind kind;
    uint8_t type;
    uint8_t scale[16];
    bool is_vector, is_direct;
    struct net_direct direct; /* if it bypasses the helper */
    uint64_t done;            /* bytes that are in blocks */
    struct patch local, remote;

    struct cursor { /* position in a vector */
        int list, piece;
        uint64_t offset; /* in the piece */
        uint64_t at;     /* bytes before it in total */
    } next, taken;
    const armci_giov_t *iov;
    int iov_count;
    void *copy; /* of the lists, if one was made; freed with the request */

    uint32_t slot;                            /* index in the table of armci_handle.c */
    struct armci_request *chain, *chain_last; /* further requests of the same handle */
};

/* Prepares the request. */
void armci_request_patch(struct armci_request *r, const struct armci_transfer *t);
void armci_request_vector(struct armci_request *r, const struct transfer_vector *t);

/* A copy of the vector's lists, to be freed by the caller; NULL: out of memory. */
void *armci_request_copy_lists(const struct transfer_vector *t);

void armci_request_start(struct armci_request *r);

/* The local side may be reused. */
static inline bool armci_request_is_over(const struct armci_request *r) {
    if (r->is_direct)
        return r->direct.over;
    return r->op.fetches ? net_is_done(&r->op) : net_is_sent(&r->op);
}
void armci_request_wait(struct armci_request *r);

#endif
