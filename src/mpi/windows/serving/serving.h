/* serving.h: the functions of served windows, above their state (state/served.h) and the targets of other nodes (remote/). */
#ifndef HEARTH_MPI_SERVING_H
#define HEARTH_MPI_SERVING_H

#include "base/compiler.h"
#include "mpi/windows/serving/state/served.h"

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

/* serve_target_find without a call; serve_no_target also for all ranks of a window that has more than RANK_TABLE_DENSE. */
static inline struct served_target *serve_target_peek(const struct served *s, int rank) {
    if (UNLIKELY((uint32_t)rank >= s->targets.dense))
        return &serve_no_target;
    return (struct served_target *)(void *)atomic_load_explicit(&s->targets.slots[rank],
                                                                memory_order_acquire);
}

/* The record of a rank of the window, found or made. NULL: no memory, which is logged. */
struct served_target *serve_target_make(struct served *s, int rank);
/* Makes the record of a rank of this node while the window is created, in ascending order of the ranks. NULL: as above. */
struct served_target *serve_target_make_here(struct served *s, int rank);

/* The target of an operation, where serve_target_peek shows no open epoch: if an epoch to all targets is open, its record is made now.
 * NULL: no epoch is open, or there is no such rank. */
struct served_target *serve_target_enter(struct served *s, int rank);

/* Whether Hearth serves the window, and the memory of that rank is mapped here. */
bool serve_target_is_mapped(MPI_Win handle, int rank);

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
#include "mpi/windows/serving/serve_calls.def"

#endif
