/* share.h: one network engine (struct net) for several libraries of a process. libarmci and libhearth-mpi contain a copy of
 * net each. If a process uses both, and both serve the same processes, the second one joins the engine of the first: there is
 * one helper per node, one set of buffers and one connection to each peer.
 *
 * The registry of engines is a variable that libhearth-mpi exports, since windows are served only where it is loaded.
 * libarmci looks it up by name. The copies use the same structures, so only copies from the same sources share: the registry
 * carries their build id. An engine is closed by the library that opened it, after the last user has left. */
#ifndef HEARTH_NET_SHARE_H
#define HEARTH_NET_SHARE_H

#include <pthread.h>

#include "net/rpc/call.h"

struct net_share {
    uint64_t key;                       /* the same in all processes of the engine, and not 0 */
    const void *comm;                   /* MPI_Comm *: these processes, in the order of the engine's ranks */
    struct net *net;                    /* only one thread at a time may use it: */
    pthread_mutex_t guard;              /* recursive; needed only where several threads may call */
    void (*close)(struct net_share *s); /* collective; frees the structure, too */
    void *arg;                          /* of `close` */
    int users;                          /* guarded by the registry, as is `reserved` */
    bool reserved[NET_SERVICES];        /* a library takes it, or has taken it, for this service */
    struct net_share *next;
};

struct net_registry {
    const char *build;
    void *(*find_mpi)(
        const char *name); /* a function of the MPI library, which libhearth-mpi does not interpose */
    pthread_mutex_t mutex; /* guards the list */
    struct net_share *first;
};

/* From the sources of base and net, and from the MPI. */
extern const char net_build_id[];

/* The registry of this process; NULL: there is none, or it is of another build. */
struct net_registry *net_registry_find(void);

/* Makes a share ready for its first user, the caller, and enters it into the registry, unless that is NULL. */
void net_share_open(struct net_registry *r, struct net_share *s);

/* Looks for an engine without this service for which `fits` holds, and takes it. Collective among the processes of `boot`:
 * all take the same one, or none. The caller then calls net_join. If several threads look for one at once, at most one of them
 * takes it, and perhaps none. */
struct net_share *net_share_take(struct net_registry *r, const struct net_boot *boot,
                                 enum net_service_number service,
                                 bool (*fits)(const struct net_share *s, void *arg), void *arg);

/* The user of this service leaves. In all processes its operations are complete, and no further one is started. The last user
 * closes the engine; collective. */
void net_share_leave(struct net_registry *r, struct net_share *s, enum net_service_number service);

#endif
