/* get.h: the arguments of a get, for get.c (hits), miss.c and bypass.c. */
#ifndef HEARTH_MPI_GET_H
#define HEARTH_MPI_GET_H

#include "base/compiler.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/record/record.h"
#include "mpi/windows/caching/inflight/rma_ahead.h"

/* The arguments of a get. request is NULL for MPI_Get. */
struct get {
    void *origin;
    MPI_Count ocount;
    MPI_Datatype otype;
    int target;
    MPI_Aint disp;
    MPI_Count tcount;
    MPI_Datatype ttype;
    MPI_Win win;
    MPI_Request *request;
    const struct noop *noop; /* NULL, or the call is issued as MPI_Get_accumulate with MPI_NO_OP */
};

/* The origin operand of that call, which MPI does not read. */
struct noop {
    const void *origin;
    int count;
    MPI_Datatype type;
};

/* The arguments as bytes and addresses. */
struct access {
    struct layout here, there;
    uint64_t address; /* of the first byte at the target */
    uint64_t bytes;
    char *buffer;     /* first byte in the local buffer */
    uint64_t started; /* ticks, if this get is timed; else 0 */
    bool revalidates; /* cached, but fetched anyway to detect writes by other processes */
};

/* MPI_Get_accumulate with MPI_NO_OP, as a get. */
int rma_get_noop(const void *nothing, int ncount, MPI_Datatype ntype, void *result, int rcount,
                 MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win);

/* Passes the get to MPI unchanged. */
int rma_get_forward(const struct get *g);

/* Counts a get that succeeded, by target: see record_targets.h. Calls with MPI_NO_OP count as the atomics that they are. Requires the
 * lock. */
static inline void rma_get_note_asked(struct rma_target *t, const struct get *g, uint64_t bytes) {
    if (UNLIKELY(g && g->noop))
        return;
    t->asked.gets++;
    t->asked.bytes += bytes;
}

/* Counts a hit. Requires the lock. */
static inline void rma_get_note_hit(struct window *w, struct rma_target *t, uint64_t address,
                                    uint64_t bytes) {
    w->count.gets++;
    w->count.hits++;
    w->count.bytes_served += bytes;
    w->epoch.hit = true;
    if (UNLIKELY(!rma_window_is_held(w, t))) {
        w->epoch.hit_unheld = true;
        rma_window_mark_busy(w, t); /* so that the flush visits this target */
    }
    t->hit_stamp = w->epoch.flush_stamp;
    t->last_hit = address;
    rma_window_use(w, t);
    if (UNLIKELY(w->ahead.blocks))
        rma_ahead_hit(w, t, address, bytes);
}

#endif
