/* intercomm.c: tests messages between two groups; ranks are those of the remote group. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 100000 };

static MPI_Comm local, inter;
static int side, me, others;

/* Even ranks on one side, odd ones on the other. */
static void make(void) {
    side = test_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, test_rank, &local);
    MPI_Comm_rank(local, &me);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : 1, 9, &inter);
    MPI_Comm_remote_size(inter, &others);
}

static void unmake(void) {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static int world_rank(int other) {
    return 2 * other + !side;
}

/* Each rank sends to each rank of the remote group. */
static void exchange(MPI_Comm comm, int bytes, bool any) {
    unsigned char *out = aligned_bytes((size_t)bytes), *in = aligned_bytes((size_t)bytes);
    MPI_Request *sends = malloc((size_t)others * sizeof *sends);
    fill_pattern(out, (size_t)bytes, test_rank, 0, bytes);
    for (int i = 0; i < others; i++)
        MPI_Isend(out, bytes, MPI_BYTE, i, 4, comm, &sends[i]);
    for (int i = 0; i < others; i++) {
        MPI_Status status;
        MPI_Recv(in, bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : i, any ? MPI_ANY_TAG : 4, comm, &status);
        expect(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < others);
        if (!any)
            expect_eq(status.MPI_SOURCE, i);
        expect_eq(count_of(&status, MPI_BYTE), bytes);
        expect_pattern(in, (size_t)bytes, world_rank(status.MPI_SOURCE), 0, bytes);
    }
    MPI_Waitall(others, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(comm);
    free(sends);
    free(in);
    free(out);
}

CASE(messages) {
    make();
    for (int any = 0; any < 2; any++) {
        exchange(inter, 4, any);
        exchange(inter, 3000, any);
        exchange(inter, LARGE, any);
    }
    unmake();
}

CASE(probes_and_modes) {
    make();
    int out = test_rank, in = -1, mine = me % others;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    if (test_size % 2 == 0) { /* pairs */
        MPI_Issend(&out, 1, MPI_INT, mine, 1, inter, &request);
        MPI_Probe(MPI_ANY_SOURCE, 1, inter, &status);
        expect_status(&status, mine, 1, sizeof in);
        MPI_Mprobe(mine, 1, inter, &message, &status);
        MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
        expect_eq(in, world_rank(mine));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out, 1, MPI_INT, mine, 2, &in, 1, MPI_INT, mine, 2, inter, &status);
        expect_status(&status, mine, 2, sizeof in);
        expect_eq(in, world_rank(mine));
    }
    unmake();
}

CASE(dup) {
    MPI_Comm copy;
    make();
    MPI_Comm_dup(inter, &copy);
    exchange(copy, 100, false);
    exchange(inter, 100, true);
    MPI_Comm_free(&copy);
    unmake();
}

/* The merged communicator is an ordinary one. */
CASE(merge) {
    MPI_Comm both;
    int rank, size, in = -1;
    make();
    MPI_Intercomm_merge(inter, side, &both);
    MPI_Comm_rank(both, &rank);
    MPI_Comm_size(both, &size);
    expect_eq(size, test_size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, both,
                 MPI_STATUS_IGNORE);
    expect_eq(in, (rank + size - 1) % size);
    MPI_Comm_free(&both);
    unmake();
}

/* The same tags on the inter-communicator, the local one and MPI_COMM_WORLD at once. */
CASE(never_mixed) {
    make();
    int size, in[3] = {-1, -1, -1}, out[3] = {100 + test_rank, 200 + test_rank, 300 + test_rank};
    MPI_Request requests[6];
    MPI_Comm_size(local, &size);
    if (test_size % 2 == 0) {
        MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, local, &requests[1]);
        MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&out[2], 1, MPI_INT, peer(), 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Isend(&out[1], 1, MPI_INT, (me + 1) % size, 1, local, &requests[4]);
        MPI_Isend(&out[0], 1, MPI_INT, me, 1, inter, &requests[5]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
        expect_eq(in[0], 100 + world_rank(me));
        expect_eq(in[1], 200 + 2 * ((me + size - 1) % size) + side);
        expect_eq(in[2], 300 + previous());
    }
    unmake();
}

/* Freed while operations are pending. */
CASE(freed_with_requests) {
    make();
    int out = test_rank, in = -1;
    MPI_Request requests[2];
    if (test_size % 2 == 0) {
        MPI_Irecv(&in, 1, MPI_INT, me, 1, inter, &requests[0]);
        MPI_Issend(&out, 1, MPI_INT, me, 1, inter, &requests[1]);
    }
    unmake();
    if (test_size % 2 == 0) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect_eq(in, world_rank(me));
    }
}
