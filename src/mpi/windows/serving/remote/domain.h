/* domain.h: a set of processes on several nodes, with a helper on each node, that executes operations on served windows
 * for the processes of other nodes (net/rpc/call.h).
 *
 * The first window across nodes opens a domain of its processes, collectively. Another window uses it too if all its
 * processes belong to the domain, and on each of its nodes the process that runs the helper is one of them: this
 * process then has mapped the window's memory and gates. Otherwise a new domain is opened. Domains are closed by
 * MPI_Finalize. */
#ifndef HEARTH_MPI_SERVE_DOMAIN_H
#define HEARTH_MPI_SERVE_DOMAIN_H

#include "base/compiler.h"
#include "mpi/windows/serving/remote/node_set.h"
#include "mpi/windows/serving/state/served.h"
#include "net/net.h"

/* The short operations of this process on a node (remote_small.c). */
struct remote_rhythm {
    uint32_t since; /* operations since the last flush */
    bool several;   /* there were several before it */
};

struct serve_domain {
    uint64_t id, key; /* ordered by both, in all processes */
    MPI_Comm comm;
    MPI_Group group;
    struct net_boot boot;
    struct node_table processes; /* which rank of the domain is which process */
    struct net_world *world;
    struct net *net;
    struct net_share *share;            /* `net`, and the guard of the threads that use it */
    bool joined;                        /* another library has opened it */
    pthread_mutex_t mutex;              /* guards `windows` */
    struct served *windows;             /* that the helper may be asked for */
    _Atomic int open;                   /* their number */
    struct remote_get *gets, *last_get; /* in flight, oldest first */
    int get_count;
    struct remote_batch *batches, *spare_batches;  /* in flight; unused (remote_small.c) */
    struct remote_rhythm *rhythms;                 /* [nodes] */
    struct remote_batch **open_batch;              /* [nodes] held back; or NULL */
    size_t batch_bytes;                            /* most bytes of one */
    struct remote_direct *directs, *spare_directs; /* in flight; unused (remote_direct.c) */
    uint64_t direct_count;
    struct serve_waiter *waiters; /* remote processes that wait for locks; the helper's only */
    int *faults;                  /* [world size] by rank: see remote_serve.c; the helper's only */
    struct serve_domain *next;
};

/* The domain for a window of these processes, found or opened. Collective. NULL: none can be opened, after one line that
 * says why; the host then serves the window. `machine`: the lowest rank of this machine. */
struct serve_domain *serve_domain_of(MPI_Comm comm, const struct net_boot *boot, int machine);

/* The nodes of a communicator of the domain's processes, as a node_set, allocated; NULL: out of memory. */
uint64_t *serve_domain_nodes(const struct serve_domain *d, MPI_Comm comm, int size);
/* The first node of a window that is not before this one; the number of nodes of the domain: none. */
static inline int serve_domain_next(const struct served *s, int node) {
    return node_set_next(s->nodes, s->domain->world->nodes, node);
}

/* The node of a process, as the table of a window of the domain identifies it. The rank that is likely in the domain is tried first. */
int serve_domain_node(const struct serve_domain *d, uint64_t process, int likely);

/* Closes all; collective, called before MPI_Finalize. */
void serve_domain_close_all(void);

/* Makes a window known to the helper, under s->key; and removes it. */
void serve_domain_add(struct serve_domain *d, struct served *s);
void serve_domain_remove(struct serve_domain *d, struct served *s);
struct served *serve_domain_window(struct serve_domain *d, uint64_t key);

/* The domain with this key. */
struct serve_domain *serve_domain_find(uint64_t key);

static inline void serve_domain_enter(struct serve_domain *d) {
    if (UNLIKELY(serve_is_threaded))
        pthread_mutex_lock(&d->share->guard);
}
static inline void serve_domain_leave(struct serve_domain *d) {
    if (UNLIKELY(serve_is_threaded))
        pthread_mutex_unlock(&d->share->guard);
}

#endif
