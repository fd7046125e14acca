/* targets.c: three ranks use windows and communicators whose ranks are in another order than those of MPI_COMM_WORLD, as input
 * for the matrix of a report. Rank r of MPI_COMM_WORLD, with next = (r + 1) % 3:
 *      10 (r + 1) gets of 8 bytes from next, through two windows
 *      5 gets of 3 elements of a strided type, 24 bytes, from itself
 *      4 puts of 16 bytes, 2 accumulates of 8 bytes, 1 fetch-and-op of 8 bytes, to next
 *      4 messages to next, of 24 bytes (MPI_Isend, strided), 32 bytes (MPI_Sendrecv), 40 bytes (MPI_Send) and, by
 *      MPI_Sendrecv_replace through another communicator, 8 bytes
 *      1 message of 16 bytes to the rank before it, through a communicator whose handle MPI may have used before */
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 4096 };

static MPI_Win open_window(MPI_Comm comm, void **memory) {
    MPI_Win win;
    if (posix_memalign(memory, 4096, BYTES))
        abort();
    MPI_Win_create(*memory, BYTES, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_lock_all(0, win);
    return win;
}

static void read_and_write(MPI_Win a, MPI_Win b, int next, int own, int rank) {
    static double data[64];
    MPI_Datatype strided;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < 10 * (rank + 1); i++) {
        MPI_Get(data, 1, MPI_DOUBLE, next, 8 * i, 1, MPI_DOUBLE, i % 2 ? a : b);
        MPI_Win_flush(next, i % 2 ? a : b);
    }
    for (int i = 0; i < 5; i++)
        MPI_Get(data, 3, MPI_DOUBLE, own, 0, 1, strided, a);
    MPI_Win_flush(own, a);
    for (int i = 0; i < 4; i++)
        MPI_Put(data, 2, MPI_DOUBLE, next, 1024, 2, MPI_DOUBLE, a);
    MPI_Win_flush(next, a);
    for (int i = 0; i < 2; i++)
        MPI_Accumulate(data, 1, MPI_DOUBLE, next, 2048, 1, MPI_DOUBLE, MPI_SUM, a);
    MPI_Win_flush(next, a);
    MPI_Fetch_and_op(data, data + 8, MPI_DOUBLE, next, 2048, MPI_SUM, a);
    MPI_Win_flush(next, a);
    MPI_Type_free(&strided);
}

/* comm: ranks are reversed; next, before: in comm. */
static void send_messages(MPI_Comm comm, int next, int before) {
    static double from[64], to[64];
    MPI_Datatype strided;
    MPI_Request request;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    MPI_Isend(from, 1, strided, next, 1, comm, &request);
    MPI_Recv(to, 3, MPI_DOUBLE, before, 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(from, 4, MPI_DOUBLE, next, 2, to, 4, MPI_DOUBLE, before, 2, comm, MPI_STATUS_IGNORE);
    MPI_Send(from, 5, MPI_DOUBLE, next, 3, comm);
    MPI_Recv(to, 5, MPI_DOUBLE, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
    MPI_Send(from, 1, MPI_DOUBLE, MPI_PROC_NULL, 4, comm);
    MPI_Type_free(&strided);
}

/* The same handle may stand for two communicators, one after the other. */
static void send_after_free(int rank) {
    double data[2] = {0};
    for (int round = 0; round < 2; round++) {
        MPI_Comm comm; /* in the order of MPI_COMM_WORLD, then reversed */
        MPI_Comm_split(MPI_COMM_WORLD, 0, round ? -rank : rank, &comm);
        int own, next = (rank + 1) % 3, before = (rank + 2) % 3;
        MPI_Comm_rank(comm, &own);
        if (!round)
            MPI_Sendrecv_replace(data, 1, MPI_DOUBLE, next, 0, before, 0, comm, MPI_STATUS_IGNORE);
        else
            MPI_Sendrecv_replace(data, 2, MPI_DOUBLE, 2 - before, 0, 2 - next, 0, comm, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv) {
    int rank, next, there;
    MPI_Comm reversed;
    MPI_Group world, group;
    void *memory[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(reversed, &group);
    next = (rank + 1) % 3;
    MPI_Group_translate_ranks(world, 1, &next, group, &there);
    int own;
    MPI_Comm_rank(reversed, &own);
    MPI_Win a = open_window(reversed, &memory[0]), b = open_window(reversed, &memory[1]);
    read_and_write(a, b, there, own, rank);
    send_messages(reversed, there, 2 - (rank + 2) % 3);
    send_after_free(rank);
    MPI_Barrier(reversed);
    MPI_Win_unlock_all(a);
    MPI_Win_unlock_all(b);
    MPI_Win_free(&a);
    MPI_Win_free(&b);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    MPI_Comm_free(&reversed);
    free(memory[0]);
    free(memory[1]);
    MPI_Finalize();
    return 0;
}
