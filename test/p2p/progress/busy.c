/* busy.c: tests messages to a rank that computes and makes no MPI call. Small messages to it are sent all the same,
 * and the sender's other operations proceed. Large messages wait, and nothing is written to wrong places meanwhile. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 300000, COMPUTE_MS = 100 };

/* A few small blocking sends return while the target makes no MPI call: it resumes only on a signal without MPI. */
CASE(small_sends_return) {
    struct flag sent = make_flag();
    for (int i = 0; test_rank == 0 && i < 8; i++)
        send_pattern(64, 1, i, i, MPI_COMM_WORLD);
    if (test_rank == 0)
        raise_flag(&sent);
    if (test_rank == 1) {
        expect(wait_for_flag(&sent, 20));
        for (int i = 7; i >= 0; i--)
            receive_pattern(64, 0, i, i, MPI_COMM_WORLD);
    }
    remove_flag(&sent);
}

static double compute(int milliseconds, unsigned char *memory, size_t bytes) {
    double end = now() + 1e-3 * milliseconds, sum = 0;
    while (now() < end)
        for (size_t i = 0; i < bytes; i += 64)
            sum += memory[i];
    return sum;
}

/* Both sides post all operations, then compute, and then wait. */
CASE(posted_then_computing) {
    static const size_t sizes[] = {8, 4096, LARGE};
    unsigned char *out[3], *in[3], *scratch = aligned_bytes(65536);
    MPI_Request requests[6];
    memset(scratch, 1, 65536);
    for (int s = 0; s < 3; s++) {
        out[s] = aligned_bytes(sizes[s]);
        in[s] = aligned_bytes(sizes[s]);
        fill_pattern(out[s], sizes[s], test_rank, 0, s);
        MPI_Irecv(in[s], (int)sizes[s], MPI_BYTE, previous(), s, MPI_COMM_WORLD, &requests[s]);
        MPI_Isend(out[s], (int)sizes[s], MPI_BYTE, peer(), s, MPI_COMM_WORLD, &requests[3 + s]);
    }
    expect(compute(test_rank % 2 ? COMPUTE_MS : COMPUTE_MS / 4, scratch, 65536) > 0);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int s = 0; s < 3; s++) {
        expect_pattern(in[s], sizes[s], previous(), 0, s);
        free(in[s]);
        free(out[s]);
    }
    free(scratch);
}

/* The receiver computes in the memory that it will later receive into. Nothing may write there before the receive is
 * posted. */
CASE(memory_is_not_touched_early) {
    unsigned char *memory = aligned_bytes(LARGE), *out = aligned_bytes(LARGE);
    MPI_Request request;
    double end;
    fill_pattern(out, LARGE, test_rank, 0, 1);
    memset(memory, 0x11, LARGE);
    MPI_Isend(out, LARGE, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &request);
    for (end = now() + 0.02; now() < end;)
        for (size_t i = 0; i < LARGE; i += 4096)
            expect_eq(memory[i], 0x11);
    MPI_Recv(memory, LARGE, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_pattern(memory, LARGE, previous(), 0, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 0, LARGE); /* the buffer is free again: these zeros must not reach the receiver */
    barrier();
    expect_pattern(memory, LARGE, previous(), 0, 1);
    free(out);
    free(memory);
}

/* While the target computes, the sender exchanges with a third rank (or itself), and both messages arrive. */
CASE(others_are_not_held_up) {
    struct flag done = make_flag();
    int third = test_size > 2 ? 2 : 0;
    unsigned char *large = aligned_bytes(LARGE);
    MPI_Request request;
    if (test_rank == 0) {
        fill_pattern(large, LARGE, 0, 0, 3);
        MPI_Isend(large, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 20; i++) {
            int in = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, third, 4, &in, 1, MPI_INT, third, 4, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            expect_eq(in, i);
        }
        raise_flag(&done);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (test_rank == 1) {
        expect(wait_for_flag(&done, 20));
        receive_pattern(LARGE, 0, 3, 3, MPI_COMM_WORLD);
    } else if (test_rank == 2) {
        for (int i = 0; i < 20; i++) {
            int word;
            MPI_Recv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        }
    }
    free(large);
    remove_flag(&done);
}
