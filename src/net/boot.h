/* boot.h: how a set of processes meets, before or beside the network: given by whoever launched them (MPI,
 * or a test). Everything else that is collective in net is made of this one call. */
#ifndef HEARTH_NET_BOOT_H
#define HEARTH_NET_BOOT_H

#include <stddef.h>

struct net_boot {
    int rank, size; /* of this process among those that meet */
    void *arg;

    /* Each brings `bytes` bytes; all get those of all, in the order of the ranks. `mine` and `all` do not
     * overlap. 0, or a negative code after a line: then no one can go on. With bytes = 0 it is a barrier. */
    int (*gather)(void *arg, const void *mine, void *all, size_t bytes);
};

/* Through MPI: `comm` points to an MPI_Comm, which must live as long. */
void net_boot_over(const void *comm, struct net_boot *boot);

/* A number that its ranks have in common if they are on one machine. Collective. */
int net_boot_machine(const void *comm);

/* Ends the job of this process: MPI_Abort where that is allowed, else only the process; never with status 0, which
 * would tell a batch system that all was well. What was said before is heard. */
_Noreturn void net_boot_abort(int code);

static inline int net_boot_gather(const struct net_boot *b, const void *mine, void *all, size_t bytes) {
    return b->gather(b->arg, mine, all, bytes);
}

static inline int net_boot_barrier(const struct net_boot *b) {
    return b->gather(b->arg, NULL, NULL, 0);
}

#endif
