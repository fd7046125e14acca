/* fail_mpi.c: MPI calls that fail. A collective call is made first, and then reported as failed: the other ranks, for which
 * it succeeded, must not wait for this one forever. A call of one process is not made.
 *
 * With TEST_FAIL_HANDLER the error handler of the communicator is called first, as MPI does: for the communicators of a
 * program that has set none, that ends the job. */
#include <mpi.h>

#include "fail.h"

#include <stdlib.h>

static int report_error(MPI_Comm comm) {
    NEXT_AS(__typeof__(&MPI_Comm_call_errhandler), "PMPI_Comm_call_errhandler");
    if (getenv("TEST_FAIL_HANDLER"))
        next(comm, MPI_ERR_INTERN);
    return MPI_ERR_INTERN;
}

/* ---- windows that nobody frees ---- */

/* A window that is made and then reported as failed stays: its rank has no handle, so the others cannot free theirs. MPICH over
 * UCX may crash in MPI_Finalize if a window is left. Therefore all ranks free what is left before, in the order of creation. */
enum { MOST_WINDOWS = 64 };
static MPI_Win windows[MOST_WINDOWS];
static int window_count;

static int window_add(int rc, const MPI_Win *win) {
    if (rc == MPI_SUCCESS && window_count < MOST_WINDOWS)
        windows[window_count++] = *win;
    return rc;
}

static int window_free(MPI_Win *win) {
    NEXT_AS(__typeof__(&MPI_Win_free), "PMPI_Win_free");
    int at = 0;
    while (at < window_count && windows[at] != *win)
        at++;
    for (int i = at + 1; i < window_count; i++)
        windows[i - 1] = windows[i];
    window_count -= at < window_count;
    return next(win);
}

static int finalize(void) {
    NEXT_AS(__typeof__(&MPI_Finalize), "PMPI_Finalize");
    while (window_count > 0) {
        MPI_Win left = windows[0];
        window_free(&left);
    }
    return next();
}

SHOWN int MPI_Win_free(MPI_Win *win) {
    return window_free(win);
}
SHOWN int PMPI_Win_free(MPI_Win *win) {
    return window_free(win);
}
SHOWN int MPI_Finalize(void) {
    return finalize();
}
SHOWN int PMPI_Finalize(void) {
    return finalize();
}

/* ---- kinds of calls ---- */

/* Both names: libhearth-mpi calls those that begin with PMPI. `then` takes the result of a call that is made. */
#define MPI_CALL(kind, is_made, name, parameters, arguments, then, error)                                    \
    static int next_##name parameters {                                                                      \
        NEXT_AS(__typeof__(&MPI_##name), "PMPI_" #name);                                                     \
        return then(next arguments);                                                                         \
    }                                                                                                        \
    static int fail_##name parameters {                                                                      \
        if (is_made)                                                                                         \
            next_##name arguments;                                                                           \
        return error;                                                                                        \
    }                                                                                                        \
    SHOWN int MPI_##name parameters {                                                                        \
        return FAILS_NAMED(kind, #name) ? fail_##name arguments : next_##name arguments;                     \
    }                                                                                                        \
    SHOWN int PMPI_##name parameters {                                                                       \
        return FAILS_NAMED(kind, #name) ? fail_##name arguments : next_##name arguments;                     \
    }
#define AS_IT_IS(rc)   (rc)
#define ADD_WINDOW(rc) window_add(rc, win)
#define COLLECTIVE(name, parameters, arguments)                                                              \
    MPI_CALL(FAIL_MPI, true, name, parameters, arguments, AS_IT_IS, report_error(comm))
#define LOCAL(name, parameters, arguments)                                                                   \
    MPI_CALL(FAIL_MPI, false, name, parameters, arguments, AS_IT_IS, report_error(comm))
#define PLAIN(name, parameters, arguments) /* without a communicator */                                      \
    MPI_CALL(FAIL_MPI, false, name, parameters, arguments, AS_IT_IS, MPI_ERR_INTERN)
#define WINDOW(name, parameters, arguments)                                                                  \
    MPI_CALL(FAIL_WINDOWS, true, name, parameters, arguments, ADD_WINDOW, report_error(comm))

#ifdef OPEN_MPI /* its world is an object, which the command hearth does without */
#pragma weak ompi_mpi_comm_world
#endif
#define POLL(name, parameters, arguments)                                                                    \
    MPI_CALL(FAIL_POLLS, false, name, parameters, arguments, AS_IT_IS, report_error(MPI_COMM_WORLD))

/* ---- collective calls ---- */

COLLECTIVE(Barrier, (MPI_Comm comm), (comm))
COLLECTIVE(Allgather,
           (const void *from, int count, MPI_Datatype type, void *to, int counts, MPI_Datatype types,
            MPI_Comm comm),
           (from, count, type, to, counts, types, comm))
COLLECTIVE(Allreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm))
COLLECTIVE(Iallreduce,
           (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request *request),
           (from, to, count, type, op, comm, request))
COLLECTIVE(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))
COLLECTIVE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
COLLECTIVE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
COLLECTIVE(Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
           (comm, kind, key, info, made))
COLLECTIVE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
           (comm, group, tag, made))
WINDOW(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (base, size, unit, info, comm, win))
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
COLLECTIVE(Win_allocate_shared,
           (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
           (size, unit, info, comm, base, win))

/* ---- calls of one process ---- */

LOCAL(Comm_group, (MPI_Comm comm, MPI_Group *group), (comm, group))
LOCAL(Comm_set_attr, (MPI_Comm comm, int key, void *value), (comm, key, value))
LOCAL(Isend,
      (const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
      (from, count, type, to, tag, comm, request))
LOCAL(Irecv,
      (void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
      (into, count, type, from, tag, comm, request))
LOCAL(Recv_init,
      (void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
      (into, count, type, from, tag, comm, request))
PLAIN(Start, (MPI_Request * request), (request))
PLAIN(Group_translate_ranks, (MPI_Group a, int count, const int *ranks, MPI_Group b, int *others),
      (a, count, ranks, b, others))
PLAIN(Comm_create_keyval,
      (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *remove, int *key, void *extra),
      (copy, remove, key, extra))
PLAIN(Win_set_attr, (MPI_Win win, int key, void *value), (win, key, value))
PLAIN(Type_commit, (MPI_Datatype * type), (type))

/* ---- polling ---- */

POLL(Improbe, (int from, int tag, MPI_Comm comm, int *there, MPI_Message *message, MPI_Status *status),
     (from, tag, comm, there, message, status))
POLL(Test, (MPI_Request * request, int *done, MPI_Status *status), (request, done, status))
POLL(Testsome, (int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses),
     (count, requests, done, indices, statuses))
