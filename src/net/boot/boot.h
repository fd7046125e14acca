/* boot.h: the bootstrap collective, supplied by the launcher of the processes (MPI, or a test). Every other
 * collective operation in net is built from this one call. */
#ifndef HEARTH_NET_BOOT_H
#define HEARTH_NET_BOOT_H

#include <stddef.h>

struct net_boot {
    int rank, size; /* of this process in the set */
    void *arg;

    /* Allgather: each process contributes `bytes` bytes, and all receive the contributions of all, in rank order.
     * `mine` and `all` do not overlap. With bytes = 0 it is a barrier. Returns 0, or a negative code after logging
     * an error; then no process can continue. */
    int (*gather)(void *arg, const void *mine, void *all, size_t bytes);
};

static inline int net_boot_gather(const struct net_boot *b, const void *mine, void *all, size_t bytes) {
    return b->gather(b->arg, mine, all, bytes);
}

static inline int net_boot_barrier(const struct net_boot *b) {
    return b->gather(b->arg, NULL, NULL, 0);
}

#endif
