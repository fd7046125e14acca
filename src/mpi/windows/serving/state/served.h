/* served.h: windows that Hearth serves itself. Inside a node every operation is executed by the process that calls it,
 * whatever the target does meanwhile. Memory that was allocated with a window is shared by the processes of the node; other
 * memory is reached through the kernel. Operations on targets of other nodes are executed by the helper of the target's
 * node (remote/remote.h).
 *
 * The handle that the program sees is that of a host window over the same memory. So names, attributes, groups, info
 * and error handlers are the host's, and so are fences where they include all ranks. Locks, flushes and all operations are
 * Hearth's; the host sees none of them. So are post, start, complete and wait, where the host's do not suffice (serve_sync.h).
 *
 * To the rest of Hearth, served windows look like the host's: serve_table.c puts the functions below into the table of
 * the host's functions. They forward calls on all other windows to the host. */
#ifndef HEARTH_MPI_SERVED_H
#define HEARTH_MPI_SERVED_H

#include <pthread.h>

#include "mpi/host/host.h"
#include "mpi/types/layout.h"
#include "mpi/windows/serving/state/gate.h"
#include "mpi/windows/serving/state/node_table.h"
#include "net/net.h"

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

/* ---- serve_lookup.c ---- */

void serve_lookup_add(struct served *s);
void serve_lookup_remove(struct served *s);
/* A structure for a new window; NULL: no memory. */
struct served *serve_lookup_take(void);
/* Keeps the structure of a window that is not in the table, for a later one. */
void serve_lookup_keep(struct served *s);

/* ---- serve_window.c ---- */

/* Where the memory of all ranks of a window across nodes lies; valid until the window is freed. False: not such a window. */
bool serve_window_table(MPI_Win handle, struct node_table *table);

/* ---- serve_table.c ---- */

/* Call before the first window is created. */
void serve_open(void);
/* Call before the first window is served. */
void serve_start(void);
/* Collective; call before MPI_Finalize. */
void serve_close(void);

/* ---- serve_target.c ---- */

/* What a lookup yields for ranks without a record: no epoch to it is open, and its rank is negative. */
extern HIDDEN struct served_target serve_no_target;

/* The record of a rank, or serve_no_target. Any thread, the helper's included. */
static inline struct served_target *serve_target_find(const struct served *s, int rank) {
    return (struct served_target *)(void *)rank_table_find(&s->targets, rank);
}

/* The same without a call; serve_no_target also for all ranks of a window that has more than RANK_TABLE_DENSE. */
static inline struct served_target *serve_target_peek(const struct served *s, int rank) {
    if (UNLIKELY((uint32_t)rank >= s->targets.dense))
        return &serve_no_target;
    return (struct served_target *)(void *)atomic_load_explicit(&s->targets.slots[rank],
                                                                memory_order_acquire);
}

/* Whether an access epoch to this target is open. */
static inline bool serve_epoch_is_open(const struct served_target *t) {
    return LIKELY((t->held | t->started | t->fenced) != 0);
}

/* The record of a rank of the window, found or made. NULL: no memory, which is logged. */
struct served_target *serve_target_make(struct served *s, int rank);
/* Makes the record of a rank of this node while the window is created, in ascending order of the ranks. NULL: as above. */
struct served_target *serve_target_make_here(struct served *s, int rank);

/* The target of an operation, where serve_target_peek shows no open epoch: if an epoch to all targets is open, its record is made now.
 * NULL: no epoch is open, or there is no such rank. */
struct served_target *serve_target_enter(struct served *s, int rank);

/* Mark all records, and those that are made later: MPI_Win_fence, MPI_Win_lock_all. Targets of this node have their own locks. */
void serve_target_mark_fenced(struct served *s, bool fenced);
void serve_target_mark_held(struct served *s, enum hold hold);

/* ---- serve_progress.c ---- */

/* Polled in calls that a program may repeat until something happens, possibly until a message arrives that needs progress
 * in this process. */
void serve_progress_open(void);
extern HIDDEN _Atomic int32_t serve_progress_left;
void serve_progress_poll_slow(void);
static inline void serve_progress_poll(void) {
    int32_t left = atomic_load_explicit(&serve_progress_left, memory_order_relaxed) - 1;
    atomic_store_explicit(&serve_progress_left, left, memory_order_relaxed);
    if (UNLIKELY(left <= 0))
        serve_progress_poll_slow();
}

/* ---- serve_element.c ---- */

/* Call before the first window is served. */
void serve_element_open(void);

/* The element type of a datatype, and the operator, as src/data knows them; -1: none. */
int serve_element_type(MPI_Datatype type);
int serve_element_predefined(MPI_Datatype type); /* the same for predefined datatypes only */
/* The element type by whose kernels to apply `op` to elements of this type: the type itself if MPI defines the operator for it,
 * else one with which the result is that of the MPI below; -1: that MPI has none, either. */
int serve_element_for(int op, int type);
int serve_element_op(MPI_Op op);

/* ---- the calls ---- */

#define MAKE(name) __typeof__(*((struct host_table *)0)->name) serve_##name;
#define CALL       MAKE
#include "mpi/windows/serving/state/serve_calls.def"

#endif
