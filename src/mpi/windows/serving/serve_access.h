/* serve_access.h: the two sides of an operation on a served window: memory of this process, and of the target. */
#ifndef HEARTH_MPI_SERVE_ACCESS_H
#define HEARTH_MPI_SERVE_ACCESS_H

#include "base/compiler.h"
#include "mpi/windows/serving/serve_count.h"
#include "mpi/windows/serving/serving.h"

struct serve_args {
    const void *origin;
    MPI_Count ocount;
    MPI_Datatype otype;
    int target;
    MPI_Aint disp;
    MPI_Count tcount;
    MPI_Datatype ttype;
    MPI_Win win;
};

/* One side: the address of its first byte, in the process that owns the memory, and its shape. */
struct serve_side {
    char *first;
    struct layout layout;
};

/* The target of an operation in an open epoch. NULL: the window is not served, the target is MPI_PROC_NULL, or the
 * call is wrong: the host then reports the error. */
static inline struct served_target *serve_access_target(const struct serve_args *a, struct served **s) {
    *s = serve_find(a->win);
    if (UNLIKELY(!*s || a->ocount < 0 || a->tcount < 0 || a->disp < 0))
        return NULL;
    struct served_target *t = serve_target_peek(*s, a->target);
    if (UNLIKELY(!serve_epoch_is_open(t)) && !(t = serve_target_enter(*s, a->target)))
        return NULL;
    serve_count(t);
    return t;
}

/* The address of `bytes` contiguous bytes at a displacement, at the target; 0: not all of them are in the window. */
static inline uint64_t serve_access_flat(const struct served_target *t, MPI_Aint disp, uint64_t bytes) {
    uint64_t at;
    if (UNLIKELY(disp < 0 || __builtin_mul_overflow((uint64_t)disp, t->unit, &at) || at > t->bytes ||
                 bytes > t->bytes - at))
        return 0;
    return t->base + at;
}

/* Describes a side. Returns MPI_SUCCESS or an MPI error class: the type is invalid or too complex, or the access
 * leaves the window. Then there is nothing to free. */
int serve_access_origin(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Win win,
                        struct serve_side *side);
int serve_access_there(const struct served_target *t, MPI_Aint disp, MPI_Count count, MPI_Datatype type,
                       MPI_Win win, struct serve_side *side);
/* Whether this rank has attached this memory to the dynamic window: serve_attribute.c. */
bool serve_attached_has(MPI_Win win, uint64_t begin, uint64_t end);
static inline void serve_access_free(struct serve_side *side) {
    layout_free(&side->layout);
}

/* The MPI error class of a code of vm.h. */
int serve_access_class(int status);

/* Calls the window's error handler; returns the code. */
int serve_access_refuse(MPI_Win win, int code);

/* A request that is complete already: one of its own, or one whose handle others may have too, which takes a tenth of the time. */
int serve_access_request(MPI_Request *request);
int serve_access_shared_request(MPI_Request *request);
/* Call before the first window is served. */
void serve_access_open(void);

#endif
