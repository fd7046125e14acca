/* transfer.h: what puts, gets and sets of all kinds have in common. */
#ifndef HEARTH_GAS_TRANSFER_H
#define HEARTH_GAS_TRANSFER_H

#include "gas/handle.h"

/* Of one call. */
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

/* Does it, whole. */
void transfer_now(const struct transfer *x);

/* Starts it: GASNET_INVALID_HANDLE if it is complete already. */
gasnet_handle_t transfer_start(const struct transfer *x);

/* Starts it as one of the thread's implicit ones. */
void transfer_start_implicit(const struct transfer *x);

#endif
