/* get.h: the arguments of a get, shared by get.c (cached path) and past.c (bypass). */
#ifndef HEARTH_MPI_GET_H
#define HEARTH_MPI_GET_H

#include "mpi/rma/record.h"
#include "mpi/rma/rma.h"
#include "mpi/rma/worth.h"

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
int get_pass(const struct get *g);
/* An MPI_Get that does not take the fast bypass path. */
int get_with_care(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                  MPI_Datatype ttype, MPI_Win win);

/* ---- past.c ---- */

/* Passes the get to MPI and only counts it. t: NULL if the target is invalid. seen: the get was recorded already. */
int past_get(struct window *w, struct target *t, const struct get *g, bool seen);
/* Counts a get that was passed to MPI and that the cache does not track. Requires the lock. */
void past_count(struct window *w, struct target *t, const struct get *g, uint64_t bytes, bool news);
/* Whether completion of the request implies that the data has arrived. */
bool past_is_reliable(const struct get *g);

/* Counts a get of the window that bypassed its cache. */
static inline void past_note(struct window *w) {
    w->gets++;
    w->bypassed++;
    if (UNLIKELY(w->worth.resume_at <= w->past + w->bypassed))
        worth_resume(w);
}

#endif
