/* get.h: the arguments of a get, shared by get.c (cached path) and bypass.c (bypass). */
#ifndef HEARTH_MPI_GET_H
#define HEARTH_MPI_GET_H

#include "mpi/rma/record.h"
#include "mpi/rma/rma.h"
#include "mpi/rma/admission.h"

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

/* ---- get.c ---- */

/* Passes the get to MPI unchanged. */
int rma_get_forward(const struct get *g);
/* An MPI_Get that does not take the fast bypass path. */
int rma_get_slow(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                 MPI_Datatype ttype, MPI_Win win);

/* ---- bypass.c ---- */

/* Passes the get to MPI and only counts it. t: NULL if the target is invalid. seen: the get was recorded already. */
int rma_bypass_get(struct window *w, struct rma_target *t, const struct get *g, bool seen);
/* Counts a get that was passed to MPI and that the cache does not track. Requires the lock. */
void rma_bypass_count(struct window *w, struct rma_target *t, const struct get *g, uint64_t bytes,
                      bool revalidates);
/* Whether completion of the request implies that the data has arrived. */
bool rma_bypass_is_reliable(const struct get *g);

/* Counts a get of the window that bypassed its cache. */
static inline void rma_bypass_note(struct window *w) {
    w->gets++;
    w->bypassed++;
    if (UNLIKELY(w->admission.resume_at <= w->bypassed_fast + w->bypassed))
        rma_admission_resume(w);
}

#endif
