/* transfer.h: common part of all puts, gets and sets. */
#ifndef HEARTH_GAS_TRANSFER_H
#define HEARTH_GAS_TRANSFER_H

#include "gas/rma/handle.h"

/* Arguments of one call. */
struct transfer {
    const char *call;
    enum stats_kind kind;
    gasnet_node_t node;
    char *remote;
    void *local; /* NULL for a set */
    size_t bytes;
    int value;  /* of a set */
    bool keeps; /* a put whose source may be changed as soon as the call returns */
};

/* Executes it completely. */
void transfer_now(const struct transfer *x);

/* Starts it; GASNET_INVALID_HANDLE if it is already complete. */
gasnet_handle_t transfer_start(const struct transfer *x);

/* Starts it as an implicit operation of the thread. */
void transfer_start_implicit(const struct transfer *x);

#endif
