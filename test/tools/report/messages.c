/* messages.c: rank 1 receives from rank 0 in every way, with a known number of receives waiting at each post, as input for a report. Argument:
 * the number of receives that are posted first. */
#include <mpi.h>
#include <stdlib.h>

enum { MOST = 4096, FEW = 3, UNEXPECTED = 600 };

static int data[MOST], rank;
static MPI_Request requests[MOST];

static void post(int count) {
    for (int i = 0; rank == 1 && i < count; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
}

static void send(int count) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < count; i++)
        MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
}

static void complete_in_turn(void) {
    for (int left = FEW, index; rank == 1 && left; left--)
        MPI_Waitany(FEW, requests, &index, MPI_STATUS_IGNORE);
}

static void test_all(void) {
    int is_done = rank != 1;
    while (!is_done)
        MPI_Testall(FEW, requests, &is_done, MPI_STATUSES_IGNORE);
}

static void complete_some(void) {
    int done, indices[FEW];
    for (int left = rank == 1 ? FEW : 0; left; left -= done)
        MPI_Waitsome(FEW, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void test_each(void) {
    for (int i = 0, is_done = 0; rank == 1 && i < FEW; i++, is_done = 0)
        while (!is_done)
            MPI_Test(&requests[i], &is_done, MPI_STATUS_IGNORE);
}

static void persist(void) {
    for (int i = 0; rank == 1 && i < FEW; i++)
        MPI_Recv_init(&data[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    for (int round = 0; round < 2; round++) {
        if (rank == 1)
            MPI_Startall(FEW, requests);
        send(FEW);
        if (rank == 1)
            MPI_Waitall(FEW, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; rank == 1 && i < FEW; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    static void (*const ways[])(void) = {complete_in_turn, test_all, complete_some, test_each};
    int count = atoi(argv[1]), provided, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&level);
    if (level != provided) /* observing must not change it */
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    post(count);
    send(count);
    if (rank == 1)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        post(FEW);
        send(FEW);
        ways[i]();
    }
    persist();
    send(UNEXPECTED);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = UNEXPECTED; rank == 1 && i--;)
        MPI_Recv(&data[0], 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
