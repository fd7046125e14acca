/* fail_mpi.c: MPI calls that fail. A collective call is made first, and then reported as failed: the other ranks, for which
 * it succeeded, must not wait for this one forever. A call of one process is not made. */
#include <mpi.h>

#include "fail.h"

/* Both names: libhearth-mpi calls those that begin with PMPI. */
#define MPI_CALL(kind, is_made, name, parameters, arguments)                                                 \
    static int next_##name parameters {                                                                      \
        NEXT_AS(__typeof__(&MPI_##name), "PMPI_" #name);                                                     \
        return next arguments;                                                                               \
    }                                                                                                        \
    SHOWN int MPI_##name parameters {                                                                        \
        bool fails = FAILS(kind);                                                                            \
        int code = !fails || is_made ? next_##name arguments : MPI_SUCCESS;                                  \
        return fails ? MPI_ERR_INTERN : code;                                                                \
    }                                                                                                        \
    SHOWN int PMPI_##name parameters {                                                                       \
        bool fails = FAILS(kind);                                                                            \
        int code = !fails || is_made ? next_##name arguments : MPI_SUCCESS;                                  \
        return fails ? MPI_ERR_INTERN : code;                                                                \
    }
#define COLLECTIVE(name, parameters, arguments) MPI_CALL(FAIL_MPI, true, name, parameters, arguments)
#define LOCAL(name, parameters, arguments)      MPI_CALL(FAIL_MPI, false, name, parameters, arguments)
#define WINDOW(name, parameters, arguments)     MPI_CALL(FAIL_WINDOWS, true, name, parameters, arguments)
#define POLL(name, parameters, arguments)       MPI_CALL(FAIL_POLLS, false, name, parameters, arguments)

/* ---- collective calls ---- */

COLLECTIVE(Barrier, (MPI_Comm comm), (comm))
COLLECTIVE(Allgather,
           (const void *from, int count, MPI_Datatype type, void *to, int counts, MPI_Datatype types,
            MPI_Comm comm),
           (from, count, type, to, counts, types, comm))
COLLECTIVE(Allreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (from, to, count, type, op, comm))
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
LOCAL(Group_translate_ranks, (MPI_Group a, int count, const int *ranks, MPI_Group b, int *others),
      (a, count, ranks, b, others))
LOCAL(Isend,
      (const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
      (from, count, type, to, tag, comm, request))
LOCAL(Comm_create_keyval,
      (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *remove, int *key, void *extra),
      (copy, remove, key, extra))
LOCAL(Type_commit, (MPI_Datatype * type), (type))

/* ---- polling ---- */

POLL(Improbe, (int from, int tag, MPI_Comm comm, int *there, MPI_Message *message, MPI_Status *status),
     (from, tag, comm, there, message, status))
POLL(Testsome, (int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses),
     (count, requests, done, indices, statuses))
