/* armci_request.h: a pending operation on another node. */
#ifndef HEARTH_ARMCI_REQUEST_H
#define HEARTH_ARMCI_REQUEST_H

#include "armci/request/armci_transfer.h"

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

    uint32_t slot; /* index in the table of armci_handle.c */
    struct armci_request *chain,
        *chain_last; /* next and last request of the same handle; chain also links the free list */
};

/* A request that outlives the call; NULL: out of memory. armci_request_free also frees its copy of the lists.
 * armci_request_close_all gives back the memory of freed requests. */
struct armci_request *armci_request_new(void);
void armci_request_free(struct armci_request *r);
void armci_request_close_all(void);

/* Prepares the request. */
void armci_request_patch(struct armci_request *r, const struct armci_transfer *t);
void armci_request_vector(struct armci_request *r, const struct transfer_vector *t);

/* A copy of the vector's lists, to be freed by the caller; NULL: out of memory. */
void *armci_request_copy_lists(const struct transfer_vector *t);

void armci_request_start(struct armci_request *r);
void armci_request_wait(struct armci_request *r);

/* Starts the request and waits for it. */
void armci_request_do(struct armci_request *r);

/* The local side may be reused. */
static inline bool armci_request_is_over(const struct armci_request *r) {
    if (r->is_direct)
        return r->direct.over;
    return r->op.fetches ? net_is_done(&r->op) : net_is_sent(&r->op);
}

#endif
