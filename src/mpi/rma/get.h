/* get.h: a get on its way through get.c, which takes it to the cache, or past.c, which takes it past. */
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
    const struct noop *noop; /* NULL, or it goes to MPI as MPI_Get_accumulate with MPI_NO_OP */
};

/* The operand of that, which is not read. */
struct noop {
    const void *origin;
    int count;
    MPI_Datatype type;
};

/* ---- get.c ---- */

/* To MPI, as it came. */
int get_pass(const struct get *g);
/* An MPI_Get that is not let past the cache unseen. */
int get_with_care(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
                  MPI_Datatype ttype, MPI_Win win);

/* ---- past.c ---- */

/* Leaves the get to MPI, and only counts it. t: NULL if there is no such target. seen: it was recorded already. */
int past_get(struct window *w, struct target *t, const struct get *g, bool seen);
/* Counts a get that was passed to MPI and is of no interest to the cache. Under the lock. */
void past_count(struct window *w, struct target *t, const struct get *g, uint64_t bytes, bool news);
/* Whether the data is there once the request is complete. */
bool past_is_reliable(const struct get *g);

/* A get of the window went past its cache. */
static inline void past_note(struct window *w) {
    w->gets++;
    w->bypassed++;
    if (UNLIKELY(w->worth.resume_at <= w->past + w->bypassed))
        worth_resume(w);
}

#endif
