/* self.c: tests messages of a rank to itself, in MPI_COMM_WORLD and in MPI_COMM_SELF. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 400000 };

static const size_t sizes[] = {0, 1, 100, 4096, 20000, 70000, LARGE};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void both(MPI_Comm comm, int me) {
    for (int s = 0; s < SIZES; s++)
        for (int posted = 0; posted < 2; posted++) {
            unsigned char *out = aligned_bytes(sizes[s] + 1), *in = aligned_bytes(sizes[s] + 1);
            MPI_Request requests[2];
            MPI_Status statuses[2];
            fill_pattern(out, sizes[s], test_rank, 0, s);
            for (int i = 0; i < 2; i++)
                if (i == posted)
                    MPI_Isend(out, (int)sizes[s], MPI_BYTE, me, s, comm, &requests[1]);
                else
                    MPI_Irecv(in, (int)sizes[s], MPI_BYTE, i ? MPI_ANY_SOURCE : me, s, comm, &requests[0]);
            MPI_Waitall(2, requests, statuses);
            expect_status(&statuses[0], me, s, sizes[s]);
            expect_pattern(in, sizes[s], test_rank, 0, s);
            free(in);
            free(out);
        }
}

CASE(in_the_world) {
    both(MPI_COMM_WORLD, test_rank);
}

CASE(in_comm_self) {
    both(MPI_COMM_SELF, 0);
}

CASE(in_a_copy_of_comm_self) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    both(comm, 0);
    MPI_Comm_free(&comm);
}

/* A synchronous send to the rank itself completes when it is received. */
CASE(synchronous) {
    int out = 5, in = -1, done = 0;
    MPI_Request request;
    MPI_Issend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    for (int i = 0; i < 100; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    expect(!done);
    MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(in, 5);
}

/* Many unexpected messages. Non-blocking sends: MPICH's blocking sends to the rank itself wait for a receive. */
CASE(unexpected) {
    enum { MANY = 100 };
    int out[MANY + 1], in = -1, flag = 0;
    MPI_Request sends[MANY + 1];
    MPI_Status status;
    for (int i = 0; i <= MANY; i++) {
        out[i] = i;
        MPI_Isend(&out[i], 1, MPI_INT, 0, i == MANY ? 2 : 1, MPI_COMM_SELF, &sends[i]);
    }
    MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, &status);
    expect(flag);
    expect_status(&status, 0, 2, sizeof(int));
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        expect_eq(in, i);
    }
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect_eq(in, MANY);
    MPI_Waitall(MANY + 1, sends, MPI_STATUSES_IGNORE);
}

/* Messages to itself and to others, with wildcards: each message is received once, those of each sender in order. */
CASE(beside_others) {
    enum { EACH = 100 };
    int out[EACH], last[2] = {0}, in;
    MPI_Request sends[2 * EACH];
    MPI_Status status;
    for (int i = 0; i < EACH; i++) {
        out[i] = i;
        MPI_Isend(&out[i], 1, MPI_INT, test_rank, 4, MPI_COMM_WORLD, &sends[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, peer(), 4, MPI_COMM_WORLD, &sends[2 * i + 1]);
    }
    for (int i = 0; i < 2 * EACH; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        expect(status.MPI_SOURCE == test_rank || status.MPI_SOURCE == previous());
        expect_eq(in, last[status.MPI_SOURCE == test_rank]++);
    }
    expect_eq(last[0], EACH);
    MPI_Waitall(2 * EACH, sends, MPI_STATUSES_IGNORE);
}

/* The types on both sides differ, and the two buffers are adjacent. */
CASE(strided) {
    enum { INTS = 20000 };
    int *memory = malloc(3 * INTS * sizeof *memory), wrong = 0;
    MPI_Datatype every_second;
    MPI_Request request;
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 3 * INTS; i++)
        memory[i] = i;
    MPI_Isend(memory, 1, every_second, 0, 1, MPI_COMM_SELF, &request);
    MPI_Recv(memory + 2 * INTS, INTS, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; i++)
        wrong += memory[2 * INTS + i] != 2 * i;
    expect_eq(wrong, 0);
    MPI_Type_free(&every_second);
    free(memory);
}
