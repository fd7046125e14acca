/* share.h: one network engine (struct net) for several libraries of a process. If a process uses libarmci and libhearth-mpi, and
 * both serve the same processes, the second one joins the engine of the first: there is one helper per node, one set of buffers
 * and one connection to each peer. An engine is closed by the library that opened it, after the last user has left. */
#ifndef HEARTH_NET_SHARE_H
#define HEARTH_NET_SHARE_H

#include <pthread.h>

#include "net/rpc/call.h"

struct net_share {
    uint64_t key;                       /* the same in all processes of the engine, and not 0 */
    const void *comm;                   /* MPI_Comm *: these processes, in the order of the engine's ranks */
    const char *abi;                    /* of `comm`: net_mpi_abi */
    struct net *net;                    /* only one thread at a time may use it: */
    pthread_mutex_t guard;              /* recursive; needed only where several threads may call */
    void (*close)(struct net_share *s); /* collective; frees the structure, too */
    void *arg;                          /* of `close` */
    int users;                          /* private to share.c, as is the rest */
    bool reserved[NET_SERVICES];        /* a library takes it, or has taken it, for this service */
    struct net_share *next;
};

/* Makes a share ready for its first user, the caller, and for others to find. */
void net_share_open(struct net_share *s);

/* Looks for an engine of this ABI without this service for which `fits` holds, and takes it. Collective among the processes of
 * `boot`: all take the same one, or none. The caller then calls net_join. If several threads look for one at once, at most one of
 * them takes it, and perhaps none. */
struct net_share *net_share_take(const char *abi, const struct net_boot *boot,
                                 enum net_service_number service,
                                 bool (*fits)(const struct net_share *s, void *arg), void *arg);

/* The user of this service leaves. In all processes its operations are complete, and no further one is started. The last user
 * closes the engine; collective. */
void net_share_leave(struct net_share *s, enum net_service_number service);

#endif
