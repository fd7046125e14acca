/* served.h: windows that Hearth serves itself. Inside a node every operation is executed by the process that calls it,
 * whatever the target does meanwhile. Memory that was allocated with a window is shared by the processes of the node; other
 * memory is reached through the kernel. Operations on targets of other nodes are executed by the helper of the target's
 * node (remote/remote.h).
 *
 * The handle that the program sees is that of a host window over the same memory. So names, attributes, groups, info
 * and error handlers are the host's, and so are fences where they include all ranks. Locks, flushes and all operations are
 * Hearth's; the host sees none of them. So are post, start, complete and wait, where the host's do not suffice (serve_sync.h).
 *
 * To the rest of Hearth, served windows look like the host's: serve_table.c puts those of serving.h into the table of
 * the host's functions. They forward calls on all other windows to the host. */
#ifndef HEARTH_MPI_SERVED_H
#define HEARTH_MPI_SERVED_H

#include <pthread.h>

#include "base/compiler.h"
#include "mpi/host/host.h"
#include "mpi/types/layout.h"
#include "mpi/windows/serving/state/gate.h"
#include "mpi/windows/serving/state/node_table.h"
#include "net/net.h"
#include "tables/rank_table.h"

enum hold {
    HOLD_NONE,
    HOLD_SHARED,
    HOLD_ALONE,
    HOLD_UNCHECKED, /* MPI_MODE_NOCHECK: the program keeps others away */
    HOLD_REMOTE = 4 /* added to the above if the target is on another node */
};

/* One rank of the window, as seen from this process. */
struct served_target {
    struct rank_record head;
    uint64_t base; /* address of its memory, the same in all processes that map it; 0 in a dynamic window */
    uint64_t bytes;
    uint32_t unit;
    union {
        int pid;
        int node; /* if it is on another node: number of that node in the domain */
    };
    bool mapped;      /* in this process, too */
    bool by_kernel;   /* reached through the kernel (vm.h) */
    uint8_t held;     /* enum hold: this process's lock */
    bool started;     /* in the group of MPI_Win_start */
    bool fenced;      /* in the epoch of MPI_Win_fence, as all targets of the window are */
    bool is_attached; /* this rank in a dynamic window: its memory is what it has attached; `bytes` is 0 */
    struct serve_gate *gate;      /* its lock; NULL if it is on another node */
    struct net_lock_table *locks; /* for accumulates to its memory */
    struct served_memory *memory; /* its memory, if it was allocated with another window */
    struct served *remote;        /* the window, if it is on another node; else NULL */
};

struct serve_range {
    uint64_t begin, end;
};

struct served {
    MPI_Win handle;
    bool fenced, locked_all;   /* an access epoch to all targets is open */
    uint8_t held_all;          /* enum hold: with `locked_all`, of all targets on this node */
    struct rank_table targets; /* of struct served_target (serve_target.c) */
    bool dynamic;
    struct serve_range *attached; /* memory of this rank, of a dynamic window; with serve_lock */
    size_t attached_count;
    bool stand_in;     /* the host's window is an empty one: it could not create any other */
    uint64_t own_base; /* of this rank's memory */
    MPI_Aint own_bytes;
    int own_unit;
    int rank, size;
    int holds;                   /* targets with a lock of MPI_Win_lock */
    int gate;                    /* number of its gate in this process; -1: none */
    struct served_target **here; /* the targets on this node, by number and by rank */
    int here_count;
    struct node_table ranks;      /* where the memory of all ranks lies; with `domain` only */
    int *started, started_count;  /* ranks in the epoch of MPI_Win_start */
    MPI_Comm sync;                /* all ranks, for messages (serve_sync.h); MPI_COMM_NULL: none are needed */
    int *posted, posted_count;    /* ranks that may still access this one; with `sync` only */
    struct served_memory *memory; /* its own, if it was allocated with the window */
    struct net_shared
        *shared; /* the mapping of that memory, and of gates for which processes had none; or NULL */
    struct serve_domain *domain; /* its helpers; NULL: all ranks are on one node */
    uint64_t key;                /* by which helpers know it */
    uint64_t *nodes;             /* node_set: nodes of the domain with ranks of this window */
    struct serve_direct *direct; /* access to other nodes without their helpers; or NULL */
    struct served *next_in_domain;
    struct served *next;
};

/* The host's functions, as they were before served windows were put in front of them. */
extern HIDDEN struct host_table serve_host;

/* Several threads may call MPI at once. */
extern HIDDEN bool serve_is_threaded;
extern HIDDEN pthread_mutex_t serve_mutex; /* guards the list of windows, and the epochs of each */
static inline void serve_lock(void) {
    if (UNLIKELY(serve_is_threaded))
        pthread_mutex_lock(&serve_mutex);
}
static inline void serve_unlock(void) {
    if (UNLIKELY(serve_is_threaded))
        pthread_mutex_unlock(&serve_mutex);
}

/* The served window with this handle; NULL if it is the host's. */
extern HIDDEN _Atomic(struct served *) serve_recent;
struct served *serve_find_slow(MPI_Win handle);
static inline struct served *serve_find(MPI_Win handle) {
    struct served *s = atomic_load_explicit(&serve_recent, memory_order_acquire);
    return LIKELY(s && s->handle == handle) ? s : serve_find_slow(handle);
}

/* Whether Hearth serves this window, the most recent one, and all of its ranks are on this node. */
static inline bool serve_is_on_node(MPI_Win handle) {
    const struct served *s = atomic_load_explicit(&serve_recent, memory_order_acquire);
    return s && s->handle == handle && !s->domain;
}

/* ---- serve_lookup.c ---- */

void serve_lookup_add(struct served *s);
void serve_lookup_remove(struct served *s);
/* A structure for a new window; NULL: no memory. */
struct served *serve_lookup_take(void);
/* Keeps the structure of a window that is not in the table, for a later one. */
void serve_lookup_keep(struct served *s);

/* ---- targets ---- */

/* The record of a rank, or one with a negative rank. Any thread, the helper's included. */
static inline struct served_target *serve_target_find(const struct served *s, int rank) {
    return (struct served_target *)(void *)rank_table_find(&s->targets, rank);
}

/* Whether an access epoch to this target is open. */
static inline bool serve_epoch_is_open(const struct served_target *t) {
    return LIKELY((t->held | t->started | t->fenced) != 0);
}

#endif
