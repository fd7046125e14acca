/* sessions.c: tests windows of a program that uses MPI Sessions and never calls MPI_Init: there is no MPI_COMM_WORLD. Each rank gets from
 * and puts to the next one, twice through the cache, and adds to a counter at rank 0.   ranks: 2; configs: bare on acquire serve serve1 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void expect(int holds, const char *what) {
    if (!holds)
        printf("FAIL %s\n", what);
    wrong += !holds;
}

static MPI_Comm all_processes(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hearth.test.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void use_window(MPI_Comm comm) {
    enum { WORDS = 64 };
    int rank, size;
    int64_t *base, got = -1, one = 1, value;
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate(WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
    for (int i = 0; i < WORDS; i++)
        base[i] = i < 2 ? 0 : 100 * rank + i;
    MPI_Barrier(comm);
    int next = (rank + 1) % size;
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 2; round++)
        for (int i = 2; i < WORDS; i++) {
            MPI_Get(&got, 1, MPI_INT64_T, next, i, 1, MPI_INT64_T, win);
            MPI_Win_flush(next, win);
            expect(got == 100 * next + i, "a get from the next rank");
        }
    value = rank + 7;
    MPI_Put(&value, 1, MPI_INT64_T, next, 1, 1, MPI_INT64_T, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock_all(win);
    expect(got == size, "the sum of all ranks");
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    expect(base[1] == (rank + size - 1) % size + 7, "a put by the rank before");
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

int main(void) {
    MPI_Session session;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS)
        return EXIT_FAILURE;
    MPI_Comm comm = all_processes(session);
    use_window(comm);
    use_window(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("%s\n", wrong ? "failed" : "ok");
    return wrong != 0;
}
