/* serve_update.c: accumulates and atomics on served windows.
 *
 * Every element is changed under the lock of its block in the lock table of its memory (data/atomic.h). All atomic
 * operations take this lock, so an element is atomic across all windows, types and calls. The caller changes the
 * elements in ascending order, one call after the other, which satisfies every `accumulate_ordering`. */
#include <stdlib.h>

#include "base/compiler.h"
#include "data/data.h"
#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/serve_access.h"
#include "mpi/windows/serving/state/vm.h"
#include "tables/shape.h"

enum { FEW = 4096 }; /* bytes of operands or results that need no allocation */

/* A packed copy of a side, or the side itself if it is contiguous. */
struct packed {
    char *bytes;
    char few[FEW];
};

static bool packed_open(struct packed *p, const struct serve_side *side) {
    uint64_t bytes = side->layout.shape.bytes;
    if (shape_is_contiguous(&side->layout.shape))
        p->bytes = side->first;
    else
        p->bytes = bytes <= FEW ? p->few : malloc(bytes);
    return p->bytes != NULL;
}

static void packed_close(struct packed *p, const struct serve_side *side) {
    if (p->bytes && p->bytes != p->few && p->bytes != side->first)
        free(p->bytes);
}

struct update {
    const struct serve_args *a;
    bool fetches; /* the old values are wanted; their address may be MPI_BOTTOM */
    const void *result;
    MPI_Count rcount;
    MPI_Datatype rtype;
    MPI_Op op;
};

static int update_elements(const struct served_target *t, const struct data_update *u) {
    if (UNLIKELY(!t->mapped))
        return serve_access_class(t->remote ? serve_remote_update(t, u)
                                            : serve_vm_update(t->pid, t->locks, u));
    data_update_wait(t->locks, u);
    return MPI_SUCCESS;
}

/* The elements of all sides are known to be of one type. The old values go to a packed copy first, unless the result is
 * contiguous; if the update fails, the copy has none. */
static int update_apply(const struct served_target *t, struct data_update *u, const struct serve_side *from,
                        const struct serve_side *result) {
    struct packed operands, old; /* not initialised: zeroing them takes longer than a small update */
    int rc = MPI_ERR_NO_MEM;
    operands.bytes = old.bytes = NULL;
    if ((!from || packed_open(&operands, from)) && (!result || packed_open(&old, result))) {
        if (from && operands.bytes != from->first)
            shape_gather(operands.bytes, from->first, &from->layout.shape, u->bytes);
        u->packed = operands.bytes;
        u->old = old.bytes;
        rc = update_elements(t, u);
        if (rc == MPI_SUCCESS && result && old.bytes != result->first)
            shape_scatter(result->first, &result->layout.shape, old.bytes, u->bytes);
    }
    if (from)
        packed_close(&operands, from);
    if (result)
        packed_close(&old, result);
    return rc;
}

/* The bytes that all sides have. */
static uint64_t bytes_of(const struct serve_side *there, const struct serve_side *from,
                         const struct serve_side *result) {
    uint64_t bytes = there->layout.shape.bytes;
    if (from && from->layout.shape.bytes < bytes)
        bytes = from->layout.shape.bytes;
    if (result && result->layout.shape.bytes < bytes)
        bytes = result->layout.shape.bytes;
    return bytes;
}

static int update_sides(const struct update *u, const struct served_target *t, int op, int type,
                        const struct serve_side *from, const struct serve_side *result) {
    struct serve_side there;
    int rc = serve_access_there(t, u->a->disp, u->a->tcount, u->a->ttype, u->a->win, &there);
    if (rc != MPI_SUCCESS)
        return rc;
    uint64_t bytes = bytes_of(&there, from, result);
    struct data_update d = {.op = (enum data_op)op,
                            .type = (enum data_type)type,
                            .to = there.first,
                            .shape = &there.layout.shape,
                            .bytes = bytes - bytes % data_element_bytes((unsigned)type)};
    if (d.bytes)
        rc = update_apply(t, &d, from, result);
    serve_access_free(&there);
    return rc == MPI_SUCCESS ? rc : serve_access_refuse(u->a->win, rc);
}

static int update_shaped(const struct update *u, const struct served_target *t, int op, int type) {
    const struct serve_args *a = u->a;
    int rc = MPI_SUCCESS;
    struct serve_side from, result;
    bool has_from = op != DATA_NO_OP;
    if (has_from)
        rc = serve_access_origin(a->origin, a->ocount, a->otype, a->win, &from);
    if (rc != MPI_SUCCESS)
        return rc;
    if (u->fetches)
        rc = serve_access_origin(u->result, u->rcount, u->rtype, a->win, &result);
    if (rc == MPI_SUCCESS) {
        rc = update_sides(u, t, op, type, has_from ? &from : NULL, u->fetches ? &result : NULL);
        if (u->fetches)
            serve_access_free(&result);
    }
    if (has_from)
        serve_access_free(&from);
    return rc;
}

/* ---- contiguous ---- */

static int update_flat(const void *origin, void *result, int type, int op, uint64_t there, uint64_t bytes,
                       const struct served_target *t) {
    struct shape range = shape_contiguous(bytes);
    struct data_update u = {.op = (enum data_op)op,
                            .type = (enum data_type)type,
                            .to = (char *)(uintptr_t)there,
                            .shape = &range,
                            .packed = origin,
                            .old = result,
                            .bytes = bytes};
    return update_elements(t, &u);
}

/* The bytes of an update whose sides are all contiguous and of the same size; 0: they are not. */
static inline uint64_t flat_bytes(const struct update *u, int op, int type) {
    const struct serve_args *a = u->a;
    uint64_t there, here;
    if (!layout_is_plain(a->ttype, &there) || there % data_element_bytes((unsigned)type))
        return 0;
    uint64_t bytes = (uint64_t)a->tcount * there;
    if (op != DATA_NO_OP && (!layout_is_plain(a->otype, &here) || (uint64_t)a->ocount * here != bytes))
        return 0;
    if (u->fetches && (!layout_is_plain(u->rtype, &here) || (uint64_t)u->rcount * here != bytes))
        return 0;
    return bytes;
}

static int update(const struct update *u, const struct served_target *t) {
    const struct serve_args *a = u->a;
    int op = serve_element_op(u->op), type = serve_element_type(a->ttype);
    if (type < 0 && (op == DATA_REPLACE || op == DATA_NO_OP))
        type = DATA_BYTE; /* of a type with several kinds of elements */
    int element = serve_element_for(op, type);
    if (UNLIKELY(element < 0))
        return a->tcount ? serve_access_refuse(a->win, op >= 0 && type < 0 ? MPI_ERR_TYPE : MPI_ERR_OP)
                         : MPI_SUCCESS;
    type = element;
    uint64_t bytes = flat_bytes(u, op, type), there = bytes ? serve_access_flat(t, a->disp, bytes) : 0;
    if (UNLIKELY(!there))
        return update_shaped(u, t, op, type);
    int rc = update_flat(a->origin, (void *)(uintptr_t)u->result, type, op, there, bytes, t);
    return LIKELY(rc == MPI_SUCCESS) ? rc : serve_access_refuse(a->win, rc);
}

/* ---- one element ---- */

/* The last datatype and operator of an update of one element of at most 8 bytes. Most programs repeat one pair. They are
 * predefined, so their handles are never reused; the memory of a thread needs no lock. */
struct recent {
    MPI_Datatype type;
    MPI_Op op;
    data_kernel *combine;
    size_t bytes; /* 0: none yet */
    bool replaces;
};
static _Thread_local struct recent recent __attribute__((tls_model("initial-exec")));

static void recent_note(MPI_Datatype type, MPI_Op op) {
    int how = serve_element_op(op), element = serve_element_for(how, serve_element_predefined(type));
    uint64_t size;
    if (element < 0 || !layout_is_plain(type, &size) || size != data_element_bytes((unsigned)element) ||
        size > 8)
        return;
    recent = (struct recent){type, op, data_element_kernel((enum data_op)how, (enum data_type)element),
                             (size_t)size, how == DATA_REPLACE};
}

/* The address of the element, if it can be updated here and now: the last datatype and operator, a target in an open
 * epoch whose memory is mapped or reached through the kernel. 0: take the general path. */
static inline uint64_t recent_place(const struct recent *r, MPI_Datatype type, MPI_Op op, int target,
                                    MPI_Aint disp, MPI_Win win, struct served_target **t) {
    struct served *s = serve_find(win);
    if (UNLIKELY(!s || r->type != type || r->op != op || !r->bytes))
        return 0;
    *t = serve_target_peek(s, target);
    bool can = ((*t)->mapped | (*t)->by_kernel) && serve_epoch_is_open(*t);
    return LIKELY(can) ? serve_access_flat(*t, disp, r->bytes) : 0;
}

static inline int recent_update(const struct recent *r, const struct served_target *t, uint64_t there,
                                const void *origin, void *result, MPI_Win win) {
    serve_count(t);
    if (LIKELY(t->mapped)) {
        data_update_element(t->locks, r->combine, (void *)(uintptr_t)there, origin, result, r->bytes);
        return MPI_SUCCESS;
    }
    int status = serve_vm_update_element(t->pid, t->locks, r->combine, there, origin, result, r->bytes,
                                         result || !r->replaces);
    return LIKELY(status == 0) ? MPI_SUCCESS : serve_access_refuse(win, serve_access_class(status));
}

static __attribute__((noinline)) int fetch_slow(const void *origin, void *result, MPI_Datatype type,
                                                int target, MPI_Aint disp, MPI_Op op, MPI_Win win) {
    struct served *s;
    const struct serve_args a = {origin, 1, type, target, disp, 1, type, win};
    const struct served_target *t = serve_access_target(&a, &s);
    if (!t)
        return serve_host.Fetch_and_op(origin, result, type, target, disp, op, win);
    if (recent.type != type || recent.op != op)
        recent_note(type, op);
    const struct update u = {
        .a = &a, .fetches = true, .result = result, .rcount = 1, .rtype = type, .op = op};
    return update(&u, t);
}

int serve_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp,
                       MPI_Op op, MPI_Win win) {
    const struct recent *r = &recent;
    struct served_target *t;
    uint64_t there = recent_place(r, type, op, target, disp, win, &t);
    if (UNLIKELY(!there))
        return fetch_slow(origin, result, type, target, disp, op, win);
    return recent_update(r, t, there, origin, result, win);
}

static uint64_t swap_place(const struct served_target *t, MPI_Aint disp, uint64_t bytes, MPI_Win win) {
    if (LIKELY(!t->is_attached))
        return serve_access_flat(t, disp, bytes);
    return serve_attached_has(win, (uint64_t)disp, (uint64_t)disp + bytes) ? (uint64_t)disp : 0;
}

/* The element type of one element; a derived type may consist of several. */
static int swap_element(MPI_Datatype type) {
    int element = serve_element_predefined(type), bytes = 0;
    if (element >= 0)
        return element;
    element = serve_element_type(type);
    bool is_one = element >= 0 && host_Type_size(type, &bytes) == MPI_SUCCESS &&
                  (size_t)bytes == data_element_bytes((unsigned)element);
    return is_one ? element : -1;
}

int serve_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                           int target, MPI_Aint disp, MPI_Win win) {
    struct served *s;
    const struct serve_args a = {origin, 1, type, target, disp, 1, type, win};
    const struct served_target *t = serve_access_target(&a, &s);
    if (UNLIKELY(!t))
        return serve_host.Compare_and_swap(origin, compare, result, type, target, disp, win);
    int element = swap_element(type);
    if (element < 0 || !data_swap_allows((unsigned)element))
        return serve_access_refuse(win, MPI_ERR_TYPE);
    uint64_t there = swap_place(t, disp, data_element_bytes((unsigned)element), win);
    int rc = MPI_ERR_RMA_RANGE;
    if (there && LIKELY(t->mapped))
        rc = data_swap_if(t->locks, (enum data_type)element, (void *)(uintptr_t)there, compare, origin,
                          result, true)
                 ? MPI_SUCCESS
                 : MPI_ERR_INTERN;
    else if (there)
        rc = serve_access_class(
            t->remote ? serve_remote_swap_if(t, (enum data_type)element, there, compare, origin, result)
                      : serve_vm_swap_if(t->pid, t->locks, (enum data_type)element, there, compare, origin,
                                         result, true));
    return LIKELY(rc == MPI_SUCCESS) ? rc : serve_access_refuse(win, rc);
}

/* ---- any number of elements: for each call, what it does if the window is served, and what the host does if not ---- */

#define ARGS                                                                                                 \
    struct served *s;                                                                                        \
    const struct serve_args a = {origin, ocount, otype, target, disp, tcount, ttype, win};                   \
    const struct served_target *t = serve_access_target(&a, &s)

#define REQUEST(rc) (rc == MPI_SUCCESS ? serve_access_request(request) : rc)

static __attribute__((noinline)) int accumulate_slow(const void *origin, int ocount, MPI_Datatype otype,
                                                     int target, MPI_Aint disp, int tcount,
                                                     MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    ARGS;
    if (!t)
        return serve_host.Accumulate(origin, ocount, otype, target, disp, tcount, ttype, op, win);
    if (tcount == 1 && (recent.type != ttype || recent.op != op))
        recent_note(ttype, op);
    return update(&(struct update){.a = &a, .op = op}, t);
}

int serve_Accumulate(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    const struct recent *r = &recent;
    struct served_target *t;
    bool one = (ocount == 1) & (tcount == 1) & (otype == ttype);
    uint64_t there = LIKELY(one) ? recent_place(r, ttype, op, target, disp, win, &t) : 0;
    if (!there)
        return accumulate_slow(origin, ocount, otype, target, disp, tcount, ttype, op, win);
    return recent_update(r, t, there, origin, NULL, win);
}

int serve_Raccumulate(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                      int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Raccumulate(origin, ocount, otype, target, disp, tcount, ttype, op, win, request);
    int rc = update(&(struct update){.a = &a, .op = op}, t);
    return REQUEST(rc);
}

/* A negative count of results is refused here, because Open MPI does not check it and crashes. */
static int update_and_fetch(const struct update *u, const struct served_target *t) {
    return u->rcount >= 0 ? update(u, t) : serve_access_refuse(u->a->win, MPI_ERR_COUNT);
}

int serve_Get_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                         MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                         MPI_Op op, MPI_Win win) {
    ARGS;
    return t ? update_and_fetch(&(struct update){&a, true, result, rcount, rtype, op}, t)
             : serve_host.Get_accumulate(origin, ocount, otype, result, rcount, rtype, target, disp, tcount,
                                         ttype, op, win);
}

int serve_Rget_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                          MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                          MPI_Op op, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rget_accumulate(origin, ocount, otype, result, rcount, rtype, target, disp, tcount,
                                          ttype, op, win, request);
    int rc = update_and_fetch(&(struct update){&a, true, result, rcount, rtype, op}, t);
    return REQUEST(rc);
}

#if HEARTH_MPI_COUNTS
int serve_Accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                       MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    ARGS;
    return t ? update(&(struct update){.a = &a, .op = op}, t)
             : serve_host.Accumulate_c(origin, ocount, otype, target, disp, tcount, ttype, op, win);
}

int serve_Raccumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                        MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Raccumulate_c(origin, ocount, otype, target, disp, tcount, ttype, op, win, request);
    int rc = update(&(struct update){.a = &a, .op = op}, t);
    return REQUEST(rc);
}

int serve_Get_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                           MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp, MPI_Count tcount,
                           MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    ARGS;
    return t ? update_and_fetch(&(struct update){&a, true, result, rcount, rtype, op}, t)
             : serve_host.Get_accumulate_c(origin, ocount, otype, result, rcount, rtype, target, disp, tcount,
                                           ttype, op, win);
}

int serve_Rget_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                            MPI_Count rcount, MPI_Datatype rtype, int target, MPI_Aint disp, MPI_Count tcount,
                            MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    ARGS;
    if (!t)
        return serve_host.Rget_accumulate_c(origin, ocount, otype, result, rcount, rtype, target, disp,
                                            tcount, ttype, op, win, request);
    int rc = update_and_fetch(&(struct update){&a, true, result, rcount, rtype, op}, t);
    return REQUEST(rc);
}
#endif
