/* serve_move.c: put and get on served windows: copies by the caller. */
#include "base/compiler.h"
#include "data/data.h"
#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/serve_access.h"
#include "mpi/windows/serving/state/vm.h"
#include "tables/shape.h"

enum direction { FETCH, STORE };

static inline void copy_flat(void *to, const void *from, uint64_t bytes) {
    if (bytes == 8) /* one access: a reader that polls never sees half a word */
        memcpy(to, from, 8);
    else if (bytes) /* if 0, the addresses may be NULL */
        memcpy(to, from, bytes);
}

/* Copies between memory of this process and memory of another that is not mapped here. */
static int move_through_kernel(const struct serve_args *a, const struct served_target *t,
                               const struct serve_side *here, const struct serve_side *there, uint64_t bytes,
                               enum direction d) {
    const struct vm_side local = {(uint64_t)(uintptr_t)here->first, &here->layout.shape};
    const struct vm_side remote = {(uint64_t)(uintptr_t)there->first, &there->layout.shape};
    int status = serve_vm_copy(t->pid, d == FETCH ? VM_READ : VM_WRITE, &local, &remote, bytes);
    return status == 0 ? MPI_SUCCESS : serve_access_refuse(a->win, serve_access_class(status));
}

/* The same for one range on both sides. */
static int move_flat(const struct serve_args *a, const struct served_target *t, uint64_t there,
                     uint64_t bytes, enum direction d) {
    int status = serve_vm_copy_flat(t->pid, d == FETCH ? VM_READ : VM_WRITE, (uint64_t)(uintptr_t)a->origin,
                                    there, bytes);
    return LIKELY(status == 0) ? MPI_SUCCESS : serve_access_refuse(a->win, serve_access_class(status));
}

static int move_remote(const struct serve_args *a, const struct served_target *t, struct serve_side *here,
                       struct serve_side *there, uint64_t bytes, enum direction d) {
    const struct remote_side local = {(uint64_t)(uintptr_t)here->first, &here->layout};
    const struct remote_side remote = {(uint64_t)(uintptr_t)there->first, &there->layout};
    int status =
        bytes ? serve_remote_copy(t, d == FETCH ? REMOTE_GET : REMOTE_PUT, &local, &remote, bytes) : 0;
    return status == 0 ? MPI_SUCCESS : serve_access_refuse(a->win, serve_access_class(status));
}

/* Runs of equal rows are copied in one loop each, if one side is contiguous or both have such rows. */
static void copy_shaped(const struct serve_side *to, const struct serve_side *from, uint64_t bytes) {
    const struct shape *t = &to->layout.shape, *f = &from->layout.shape;
    struct data_cursor c;
    if (shape_is_contiguous(t)) {
        data_cursor_start(&c, f, 0);
        data_cursor_gather(&c, to->first, from->first, bytes);
    } else if (shape_is_contiguous(f)) {
        data_cursor_start(&c, t, 0);
        data_cursor_scatter(&c, to->first, from->first, bytes);
    } else if (!t->list && !f->list && t->block_bytes == f->block_bytes && bytes % t->block_bytes == 0) {
        data_rows_copy(to->first, t->stride, from->first, f->stride, bytes / t->block_bytes, t->block_bytes);
    } else {
        shape_copy(to->first, t, from->first, f, bytes);
    }
}

static int move_shaped(const struct serve_args *a, const struct served_target *t, enum direction d) {
    struct serve_side here, there;
    int rc = serve_access_origin(a->origin, a->ocount, a->otype, a->win, &here);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = serve_access_there(t, a->disp, a->tcount, a->ttype, a->win, &there);
    if (rc == MPI_SUCCESS) {
        uint64_t bytes = here.layout.shape.bytes < there.layout.shape.bytes ? here.layout.shape.bytes
                                                                            : there.layout.shape.bytes;
        if (t->remote)
            rc = move_remote(a, t, &here, &there, bytes, d);
        else if (!t->mapped)
            rc = move_through_kernel(a, t, &here, &there, bytes, d);
        else if (bytes)
            copy_shaped(d == FETCH ? &here : &there, d == FETCH ? &there : &here, bytes);
        serve_access_free(&there);
    }
    serve_access_free(&here);
    return rc;
}

/* One range on both sides, not mapped here. */
static int move_unmapped(const struct serve_args *a, const struct served_target *t, uint64_t there,
                         uint64_t bytes, enum direction d) {
    enum remote_direction direction = d == FETCH ? REMOTE_GET : REMOTE_PUT;
    void *here = (void *)(uintptr_t)a->origin;
    if (bytes && t->by_kernel)
        return move_flat(a, t, there, bytes, d);
    if (bytes && t->remote && t->remote->direct && serve_remote_direct_copy(t, direction, here, there, bytes))
        return MPI_SUCCESS;
    if (bytes && bytes <= REMOTE_SMALL && t->remote &&
        serve_remote_small_copy(t, direction, here, there, bytes))
        return MPI_SUCCESS;
    return move_shaped(a, t, d);
}

static inline int move(const struct serve_args *a, const struct served_target *t, enum direction d) {
    uint64_t osize, tsize;
    if (UNLIKELY(!layout_are_plain(a->otype, a->ttype, &osize, &tsize)))
        return move_shaped(a, t, d);
    uint64_t bytes = (uint64_t)a->ocount * osize;
    uint64_t there = serve_access_flat(t, a->disp, bytes);
    if (UNLIKELY(!there || bytes != (uint64_t)a->tcount * tsize))
        return move_shaped(a, t, d);
    if (UNLIKELY(!t->mapped))
        return move_unmapped(a, t, there, bytes, d);
    if (d == FETCH)
        copy_flat((void *)(uintptr_t)a->origin, (void *)(uintptr_t)there, bytes);
    else
        copy_flat((void *)(uintptr_t)there, a->origin, bytes);
    return MPI_SUCCESS;
}

/* A request is complete from the start, so the data of a get must have arrived. A get's has a handle of its own, by which its data may be
 * kept. */
static int move_request(const struct served_target *t, enum direction d, MPI_Request *request) {
    if (t->remote)
        serve_remote_wait(t);
    return d == FETCH ? serve_access_request(request) : serve_access_shared_request(request);
}

/* The arguments of a call, and its target t: NULL if the host executes the call. */
#define ARGS                                                                                                 \
    struct served *s;                                                                                        \
    const struct serve_args a = {origin, ocount, otype, target, disp, tcount, ttype, win};                   \
    const struct served_target *t = serve_access_target(&a, &s)

#define REQUEST(rc, d) (rc == MPI_SUCCESS ? move_request(t, d, request) : rc)

int serve_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win) {
    ARGS;
    return LIKELY(t != NULL) ? move(&a, t, FETCH)
                             : serve_host.Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int serve_Put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win) {
    ARGS;
    return LIKELY(t != NULL) ? move(&a, t, STORE)
                             : serve_host.Put(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int serve_Rget(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
               MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rget(origin, ocount, otype, target, disp, tcount, ttype, win, request);
    int rc = move(&a, t, FETCH);
    return REQUEST(rc, FETCH);
}

int serve_Rput(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
               MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rput(origin, ocount, otype, target, disp, tcount, ttype, win, request);
    int rc = move(&a, t, STORE);
    return REQUEST(rc, STORE);
}

#if HEARTH_MPI_COUNTS
int serve_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    ARGS;
    return t ? move(&a, t, FETCH) : serve_host.Get_c(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int serve_Put_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win) {
    ARGS;
    return t ? move(&a, t, STORE) : serve_host.Put_c(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int serve_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                 MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rget_c(origin, ocount, otype, target, disp, tcount, ttype, win, request);
    int rc = move(&a, t, FETCH);
    return REQUEST(rc, FETCH);
}

int serve_Rput_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                 MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rput_c(origin, ocount, otype, target, disp, tcount, ttype, win, request);
    int rc = move(&a, t, STORE);
    return REQUEST(rc, STORE);
}
#endif
