/* gas_transfer.h: common part of all puts, gets and sets. */
#ifndef HEARTH_GAS_TRANSFER_H
#define HEARTH_GAS_TRANSFER_H

#include "base/compiler.h"
#include "gas/rma/gas_handle.h"

/* Arguments of one call. */
struct gas_transfer {
    const char *call;
    enum stats_kind kind;
    gasnet_node_t node;
    char *remote;
    void *local; /* NULL for a set */
    size_t bytes;
    int value;  /* of a set */
    bool keeps; /* a put whose source may be changed as soon as the call returns */
};

static inline struct gas_transfer gas_transfer_get(const char *call, void *dest, gasnet_node_t node,
                                                   const void *src, size_t bytes) {
    return (struct gas_transfer){
        .call = call, .kind = STATS_GET, .node = node, .remote = (char *)src, .local = dest, .bytes = bytes};
}

static inline struct gas_transfer gas_transfer_put(const char *call, gasnet_node_t node, void *dest,
                                                   const void *src, size_t bytes, bool keeps) {
    return (struct gas_transfer){.call = call,
                                 .kind = STATS_PUT,
                                 .node = node,
                                 .remote = dest,
                                 .local = (void *)src,
                                 .bytes = bytes,
                                 .keeps = keeps};
}

/* Counts down to the next poll: calls that only start transfers poll too, as GASNet's do, so that a program that does nothing
 * else still runs its handlers. */
void gas_transfer_poll_now(struct gas_thread *t);
static inline void gas_transfer_poll(struct gas_thread *t) {
    if (UNLIKELY(t->until_poll == 0))
        gas_transfer_poll_now(t);
    t->until_poll--;
}

/* Executes it completely. */
void gas_transfer_now(const struct gas_transfer *x);

/* Starts it; GASNET_INVALID_HANDLE if it is already complete. */
gasnet_handle_t gas_transfer_start(const struct gas_transfer *x);

/* Starts it as an implicit operation of the thread. */
void gas_transfer_start_implicit(const struct gas_transfer *x);

#endif
