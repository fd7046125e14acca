/* queued.c: long message queues, for tests of the report's estimate.
 *
 *      queued unexpected|posted [ROUNDS]
 *
 * unexpected: rank 1 sends COUNT messages, which rank 0 receives in reverse order when all have arrived: MPI_Irecv walks all of them.
 * posted: rank 0 posts the receives first, and rank 1 sends in reverse order: MPI walks the receives where a message arrives. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1500 };

static MPI_Request requests[COUNT];
static int values[COUNT];

static void post(int is_reverse) {
    for (int i = 0; i < COUNT; i++) {
        int tag = is_reverse ? COUNT - 1 - i : i;
        MPI_Irecv(&values[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[i]);
    }
}

static void send_all(int is_reverse) {
    for (int i = 0; i < COUNT; i++) {
        int tag = is_reverse ? COUNT - 1 - i : i;
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int rank, is_posted = argc > 1 && !strcmp(argv[1], "posted"), rounds = argc > 2 ? atoi(argv[2]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; round++) {
        if (rank == 0 && is_posted)
            post(0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            send_all(is_posted);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && !is_posted)
            post(1);
        if (rank == 0)
            MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; rank == 0 && i < COUNT; i++)
            if (values[i] != i)
                MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
