/* below.c: a mock MPI with behaviour that the standard allows and the real MPIs do not show. It is preloaded behind
 * the library under test, which takes it for the MPI; it calls the real MPI. below_cases.c configures it. */
#include "below.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct below below;

#define REAL(name)                                                                                           \
    static __typeof__(&MPI_##name) real;                                                                     \
    if (!real)                                                                                               \
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name)

__attribute__((constructor)) static void prepare(void) {
    sem_init(&below.held, 0, 0);
    sem_init(&below.go_on, 0, 0);
}

/* The call was made, only its return is delayed. */
static void hold(volatile bool *wanted) {
    if (!*wanted)
        return;
    *wanted = false;
    sem_post(&below.held);
    sem_wait(&below.go_on);
}

/* ---- memory of which the system has little ---- */

void *mmap(void *at, size_t length, int access, int flags, int file, off_t offset) {
    if (below.map_us)
        usleep(below.map_us);
    return (void *)syscall(SYS_mmap, at, length, access, flags, file, offset);
}

/* ---- an atomic that the next flush executes, once the value at the target has changed ---- */

static struct {
    bool is_due;
    void *result;
    MPI_Datatype type;
    int target;
    MPI_Aint disp;
    MPI_Win win;
} late;

static int fetch(void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win) {
    REAL(Fetch_and_op);
    return real(NULL, result, type, target, disp, MPI_NO_OP, win);
}

int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp,
                      MPI_Op op, MPI_Win win) {
    REAL(Fetch_and_op);
    if (!below.fetches_late || op != MPI_NO_OP)
        return real(origin, result, type, target, disp, op, win);
    late.result = result, late.type = type, late.target = target, late.disp = disp, late.win = win;
    late.is_due = true;
    return MPI_SUCCESS;
}

static int flush(int target, MPI_Win win) {
    REAL(Win_flush);
    return real(target, win);
}

static int fetch_due(MPI_Win win) {
    int rc = MPI_SUCCESS;
    if (!late.is_due || late.win != win)
        return rc;
    late.is_due = false;
    for (*(int *)late.result = 0; rc == MPI_SUCCESS && !*(int *)late.result;) {
        fetch(late.result, late.type, late.target, late.disp, win);
        rc = flush(late.target, win);
    }
    return rc;
}

/* ---- a put that the next flush executes ---- */

static struct {
    bool is_due;
    const void *origin;
    int ocount, target, tcount;
    MPI_Datatype otype, ttype;
    MPI_Aint disp;
    MPI_Win win;
} late_put;

static int put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
               MPI_Datatype ttype, MPI_Win win) {
    REAL(Put);
    return real(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int PMPI_Put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    if (!below.puts_late)
        return put(origin, ocount, otype, target, disp, tcount, ttype, win);
    late_put.origin = origin, late_put.ocount = ocount, late_put.otype = otype;
    late_put.target = target, late_put.disp = disp, late_put.tcount = tcount, late_put.ttype = ttype;
    late_put.win = win;
    late_put.is_due = true;
    return MPI_SUCCESS;
}

static int put_due(MPI_Win win) {
    if (!late_put.is_due || late_put.win != win)
        return MPI_SUCCESS;
    late_put.is_due = false;
    return put(late_put.origin, late_put.ocount, late_put.otype, late_put.target, late_put.disp,
               late_put.tcount, late_put.ttype, win);
}

/* ---- flushes ---- */

int PMPI_Win_flush(int target, MPI_Win win) {
    int rc = late_put.target == target ? put_due(win) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = flush(target, win);
    if (below.slow_us)
        usleep(below.slow_us);
    if (rc == MPI_SUCCESS && late.target == target)
        rc = fetch_due(win);
    hold(&below.holds_flush);
    return rc;
}

int PMPI_Win_flush_all(MPI_Win win) {
    REAL(Win_flush_all);
    int rc = put_due(win);
    if (rc == MPI_SUCCESS)
        rc = real(win);
    if (rc == MPI_SUCCESS)
        rc = fetch_due(win);
    hold(&below.holds_flush);
    return rc;
}

/* ---- collectives ---- */

/* The call is complete, only its return is delayed. */
static int hold_exchange(int rc) {
    if (below.holds_exchanges && pthread_equal(pthread_self(), below.thread)) {
        sem_post(&below.held);
        sem_wait(&below.go_on);
    }
    return rc;
}

int PMPI_Allgather(const void *mine, int count, MPI_Datatype type, void *all, int each, MPI_Datatype of,
                   MPI_Comm comm) {
    REAL(Allgather);
    return below.fails_gather ? MPI_ERR_OTHER : hold_exchange(real(mine, count, type, all, each, of, comm));
}

int PMPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    REAL(Allreduce);
    return hold_exchange(real(mine, all, count, type, op, comm));
}

/* Open MPI lets one thread at a time choose the number of a new communicator, and a thread that waits there for another rank
 * stops the others. A rank that is held must not be waited for there. */
static void meet(MPI_Comm comm) {
    REAL(Barrier);
    if (below.meets && pthread_equal(pthread_self(), below.thread))
        real(comm);
}

int PMPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    REAL(Win_create);
    meet(comm);
    return real(base, size, unit, info, comm, win);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    REAL(Comm_split);
    meet(comm);
    return real(comm, color, key, made);
}

/* ---- gets, which fail above a size ---- */

int PMPI_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win) {
    REAL(Get);
    if (!below.most_bytes || ttype != MPI_BYTE || tcount <= below.most_bytes) {
        int rc = real(origin, ocount, otype, target, disp, tcount, ttype, win);
        hold(&below.holds_get);
        return rc;
    }
    int (*call)(MPI_Win, int);
    *(void **)&call = dlsym(RTLD_NEXT, "PMPI_Win_call_errhandler");
    call(win, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

/* ---- an MPI without shared memory: every process is alone ---- */

int PMPI_Comm_split_type(MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made) {
    REAL(Comm_split_type);
    meet(comm);
    int (*split)(MPI_Comm, int, int, MPI_Comm *), (*find_rank)(MPI_Comm, int *), rank = 0;
    if (!getenv("BELOW_ALONE") || kind != MPI_COMM_TYPE_SHARED)
        return real(comm, kind, key, info, made);
    *(void **)&split = dlsym(RTLD_NEXT, "PMPI_Comm_split");
    *(void **)&find_rank = dlsym(RTLD_NEXT, "PMPI_Comm_rank");
    find_rank(comm, &rank);
    return split(comm, rank, key, made);
}

/* ---- epochs that begin later: MPI_Win_start, and a fence that ends no epoch, return before the targets are ready ---- */

static struct {
    bool is_due;
    MPI_Group group;
    int assertion;
} start;

static bool defers(void) {
    return getenv("BELOW_DEFERS");
}

int PMPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
    REAL(Win_start);
    if (!defers())
        return real(group, assertion, win);
    start.is_due = true, start.group = group, start.assertion = assertion;
    return MPI_SUCCESS;
}

int PMPI_Win_complete(MPI_Win win) {
    REAL(Win_complete);
    int (*begin)(MPI_Group, int, MPI_Win);
    *(void **)&begin = dlsym(RTLD_NEXT, "PMPI_Win_start");
    int rc = start.is_due ? begin(start.group, start.assertion, win) : MPI_SUCCESS;
    start.is_due = false;
    return rc == MPI_SUCCESS ? real(win) : rc;
}

int PMPI_Win_fence(int assertion, MPI_Win win) {
    REAL(Win_fence);
    return defers() && assertion & MPI_MODE_NOPRECEDE ? MPI_SUCCESS : real(assertion, win);
}

/* MPICH's device ch4 does not do so, but ch3 does. */
int PMPI_Get_library_version(char *version, int *length) {
    REAL(Get_library_version);
    int rc = real(version, length);
    for (char *device = version; defers() && (device = strstr(device, "ch4"));)
        device[2] = '3';
    return rc;
}

/* ---- processes of several MPI_COMM_WORLDs ---- */

int PMPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to, int there[]) {
    REAL(Group_translate_ranks);
    int rc = real(from, count, ranks, to, there);
    for (int i = 0; below.two_worlds && i < count; i++)
        there[i] = MPI_UNDEFINED;
    return rc;
}

/* Defined under the MPI names too: otherwise the library would take these functions for those of a tool. */
int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp,
                     MPI_Op op, MPI_Win win) {
    return PMPI_Fetch_and_op(origin, result, type, target, disp, op, win);
}

int MPI_Put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
            MPI_Datatype ttype, MPI_Win win) {
    return PMPI_Put(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int MPI_Win_flush(int target, MPI_Win win) {
    return PMPI_Win_flush(target, win);
}

int MPI_Win_flush_all(MPI_Win win) {
    return PMPI_Win_flush_all(win);
}

int MPI_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
            MPI_Datatype ttype, MPI_Win win) {
    return PMPI_Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int MPI_Allgather(const void *mine, int count, MPI_Datatype type, void *all, int each, MPI_Datatype of,
                  MPI_Comm comm) {
    return PMPI_Allgather(mine, count, type, all, each, of, comm);
}

int MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce(mine, all, count, type, op, comm);
}

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return PMPI_Win_create(base, size, unit, info, comm, win);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made) {
    return PMPI_Comm_split_type(comm, kind, key, info, made);
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
    return PMPI_Win_start(group, assertion, win);
}

int MPI_Win_complete(MPI_Win win) {
    return PMPI_Win_complete(win);
}

int MPI_Win_fence(int assertion, MPI_Win win) {
    return PMPI_Win_fence(assertion, win);
}

int MPI_Get_library_version(char *version, int *length) {
    return PMPI_Get_library_version(version, length);
}

int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to, int there[]) {
    return PMPI_Group_translate_ranks(from, count, ranks, to, there);
}
