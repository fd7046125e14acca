/* fetch.c: issues a get of bytes that are described by shapes.
 *
 * A contiguous range that begins at a multiple of the displacement unit is a get of MPI_BYTE. Any other needs datatypes,
 * made for this call. */
#include "mpi/windows/caching/inflight/fetch.h"

#include <limits.h>

#include "mpi/windows/caching/window/rma_progress.h"

/* Creates a committed type for bytes that begin `rest` bytes after the displacement. */
static int shifted_type(const struct shape *shape, uint64_t rest, MPI_Datatype *type) {
    MPI_Datatype inner;
    MPI_Aint place = (MPI_Aint)rest;
    int one = 1, rc = layout_to_type(shape, &inner);
    if (rc || !rest) {
        *type = inner;
        return rc;
    }
    rc = host_Type_create_hindexed(1, &one, &place, inner, type);
    host_Type_free(&inner);
    return rc ? rc : host_Type_commit(type);
}

static int fetch_shaped(struct window *w, int target, MPI_Aint disp, uint64_t rest, const struct shape *there,
                        void *buffer, const struct shape *here) {
    MPI_Datatype here_type, there_type;
    int rc = shifted_type(there, rest, &there_type);
    if (rc)
        return rc;
    rc = layout_to_type(here, &here_type);
    if (!rc) {
        rc = host_Get(buffer, 1, here_type, target, disp, 1, there_type, w->handle);
        host_Type_free(&here_type);
    }
    host_Type_free(&there_type);
    return rc;
}

int rma_fetch_bytes(struct window *w, const struct rma_target *t, uint64_t address, const struct shape *there,
                    void *buffer, const struct shape *here) {
    MPI_Aint disp = (MPI_Aint)((address - t->base) / t->unit);
    uint64_t rest = (address - t->base) % t->unit;
    int rc, target = t->head.rank, n = (int)there->bytes;
    if (!rest && shape_is_contiguous(there) && shape_is_contiguous(here) && there->bytes <= INT_MAX)
        rc = host_Get(buffer, n, MPI_BYTE, target, disp, n, MPI_BYTE, w->handle);
    else
        rc = fetch_shaped(w, target, disp, rest, there, buffer, here);
    rma_progress_note();
    return rc;
}
