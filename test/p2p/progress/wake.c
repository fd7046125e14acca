/* wake.c: tests that a rank which waits in an MPI call is woken soon when others need it: when they wait or test,
 * while another rank keeps them busy, or when the rank itself still has data to send.   ranks: 4 */
#include "message.h"

#include <unistd.h>

/* A rank that tests instead of waiting wakes its peer as well. */
CASE(tests_of_a_send) {
    int word = test_rank, in = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (test_rank % 2 == 1)
        MPI_Irecv(&in, 1, MPI_INT, test_rank - 1, 1, MPI_COMM_WORLD, &request);
    barrier();
    if (test_rank % 2 == 0 && test_rank + 1 < test_size) {
        double begin = now();
        sleep_ms(20); /* the peer is in its barrier by now */
        MPI_Issend(&word, 1, MPI_INT, test_rank + 1, 1, MPI_COMM_WORLD, &request);
        for (int flag = 0; !flag;)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        expect(now() - begin < 5); /* not at the helper's next periodic check, ten seconds later */
    }
    barrier();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (test_rank % 2 == 1)
        expect_eq(in, test_rank - 1);
}

/* Rank 0 waits for rank 1, which is in a barrier. Meanwhile rank 2 keeps rank 0 busy until rank 0 is done. Where
 * there are more ranks than CPUs, the scheduler may suspend any of them, so one success in several attempts is
 * enough. */
CASE(a_stream_from_elsewhere) {
    enum { MOST = 300000, ROUNDS = 3, BETWEEN = 256 };
    SKIP_IF(test_size < 3, "needs three ranks");
    int least = MOST;
    for (int round = 0; round < ROUNDS; round++) {
        struct flag through = make_flag();
        int sent = 0, word = round;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        if (test_rank == 1)
            MPI_Irecv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        barrier();
        if (test_rank == 0) {
            MPI_Ssend(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
            raise_flag(&through);
            do
                MPI_Recv(&word, 1, MPI_INT, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            while (status.MPI_TAG == 1);
        }
        if (test_rank == 2) {
            for (; sent < MOST && (sent % BETWEEN || access(through.path, F_OK) != 0); sent++)
                MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            least = sent < least ? sent : least;
        }
        barrier();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        remove_flag(&through);
    }
    expect(test_rank != 2 || least < MOST);
}

/* More data is queued than fits when the sender enters a call. The peer sends on only when all of it has arrived. The
 * queued data must leave at once, not at the helper's next periodic check, ten seconds later. */
CASE(what_waits_goes_on) {
    enum { MANY = 600, BYTES = 1024 };
    SKIP_IF(test_size < 3, "needs three ranks");
    static char bytes[BYTES];
    static MPI_Request requests[MANY];
    double worst = 0;
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 1, test_rank, &others);
    for (int i = 0; i < 60 && worst < 5; i++) {
        double begin = now();
        if (test_rank == 0)
            for (int n = 0; n < MANY; n++)
                MPI_Isend(bytes, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[n]);
        if (test_rank == 1) {
            sleep_ms(5);
            for (int n = 0; n < MANY; n++)
                MPI_Recv(bytes, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(bytes, 1, MPI_BYTE, 2, 1, MPI_COMM_WORLD);
        }
        if (test_rank == 2)
            MPI_Recv(bytes, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(others);
        if (test_rank == 0)
            MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        double took = now() - begin;
        MPI_Allreduce(&took, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        worst = begin > worst ? begin : worst;
    }
    expect(worst < 5);
    MPI_Comm_free(&others);
}
