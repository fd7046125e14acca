/* serve_access.c: checks and describes both sides of an operation. */
#include "mpi/windows/serving/serve_access.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "tables/shape.h"

int serve_access_refuse(MPI_Win win, int code) {
    serve_host.Win_call_errhandler(win, code);
    return code;
}

int serve_access_class(int status) {
    if (LIKELY(status == 0))
        return MPI_SUCCESS;
    if (status == -EFAULT)
        return MPI_ERR_RMA_RANGE;
    log_error("windows: the kernel denies access to the memory of a target: %s; has its process ended? Set "
              "HEARTH_WINDOWS=host",
              strerror(-status));
    return MPI_ERR_OTHER;
}

/* Passes a type to the host once, in an operation without effect, so that the host reports a type that is not
 * committed. */
static int show_type(MPI_Datatype type, MPI_Win win) {
    if (layout_is_trusted(type))
        return MPI_SUCCESS;
    int rc = serve_host.Get(NULL, 0, type, MPI_PROC_NULL, 0, 0, type, win);
    if (rc == MPI_SUCCESS)
        layout_trust(type);
    return rc;
}

static int describe(MPI_Count count, MPI_Datatype type, MPI_Win win, struct layout *l) {
    int rc = show_type(type, win);
    if (rc != MPI_SUCCESS)
        return rc;
    int err = layout_make_long(count, type, l);
    return err == 0 ? MPI_SUCCESS : serve_access_refuse(win, err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_TYPE);
}

int serve_access_origin(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Win win,
                        struct serve_side *side) {
    int rc = describe(count, type, win, &side->layout);
    if (rc == MPI_SUCCESS)
        side->first = (char *)(uintptr_t)buffer + side->layout.offset;
    return rc;
}

/* Whether the access lies in the window. */
static bool is_inside(const struct served_target *t, MPI_Aint disp, const struct layout *l, MPI_Win win) {
    int64_t lo, hi, at;
    shape_hull(&l->shape, &lo, &hi);
    if (l->shape.bytes == 0)
        return true;
    if (__builtin_mul_overflow((int64_t)disp, (int64_t)t->unit, &at) ||
        __builtin_add_overflow(at, l->offset, &at) || __builtin_add_overflow(at, lo, &lo) ||
        __builtin_add_overflow(at, hi, &hi) || lo < 0)
        return false;
    return t->is_attached ? serve_attached_has(win, (uint64_t)lo, (uint64_t)hi) : (uint64_t)hi <= t->bytes;
}

int serve_access_there(const struct served_target *t, MPI_Aint disp, MPI_Count count, MPI_Datatype type,
                       MPI_Win win, struct serve_side *side) {
    int rc = describe(count, type, win, &side->layout);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!is_inside(t, disp, &side->layout, win)) {
        layout_free(&side->layout);
        return serve_access_refuse(win, MPI_ERR_RMA_RANGE);
    }
    side->first = (char *)(uintptr_t)(t->base + (uint64_t)disp * t->unit + (uint64_t)side->layout.offset);
    return MPI_SUCCESS;
}

/* ---- requests ---- */

static int request_query(void *state, MPI_Status *status) {
    (void)state;
    host_Status_set_cancelled(status, 0);
    return host_Status_set_elements(status, MPI_BYTE, 0);
}

static int request_free(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int request_cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static bool has_self; /* MPI_COMM_SELF exists */

void serve_access_open(void) {
    has_self = host_has_world();
}

/* Inside a node the operation was made of plain loads and stores. The fence orders its loads before the accesses that follow the request's
 * completion, as that of a flush does: MPI's own calls need not. */
static void request_begin(void) {
    atomic_thread_fence(memory_order_acquire);
    serve_progress_poll();
}

int serve_access_request(MPI_Request *request) {
    request_begin();
    int rc = host_Grequest_start(request_query, request_free, request_cancel, NULL, request);
    return rc == MPI_SUCCESS ? host_Grequest_complete(*request) : rc;
}

/* That of a send to MPI_PROC_NULL, which costs an MPI nothing. In a session there may be no MPI_COMM_SELF. */
int serve_access_shared_request(MPI_Request *request) {
    if (UNLIKELY(!has_self))
        return serve_access_request(request);
    request_begin();
    return host_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}
