/* mpi4.c: tests the additions of MPI 4: large-count calls, MPI_Isendrecv, and partitioned messages beside others.
 * Sizes are small: the tests show that the calls are interposed and match the older ones. */
#include "message.h"

#include <stdlib.h>

#include "mpi/host/standard.h"

#if HEARTH_MPI_4_0
enum { BYTES = 70000 };

static unsigned char out[BYTES], in[BYTES];

static void prepare(int serial) {
    fill_pattern(out, BYTES, test_rank, 0, serial);
    memset(in, 0, BYTES);
}

#if HEARTH_MPI_COUNTS
static void send_by(int way, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
        MPI_Isend_c(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, request);
        break;
    case 1:
        MPI_Issend_c(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, request);
        break;
    case 2:
        MPI_Ibsend_c(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, request);
        break;
    case 3:
        MPI_Bsend_c(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD);
        break;
    default:
        MPI_Isend(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, request);
    }
}

static void receive_by(int way, MPI_Status *status) {
    MPI_Request request;
    MPI_Message message;
    switch (way) {
    case 0:
        MPI_Recv_c(in, BYTES, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, status);
        break;
    case 1:
        MPI_Irecv_c(in, BYTES, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, status);
        break;
    case 2:
        MPI_Mprobe(previous(), 1, MPI_COMM_WORLD, &message, status);
        MPI_Mrecv_c(in, BYTES, MPI_BYTE, &message, status);
        break;
    case 3:
        MPI_Mprobe(previous(), 1, MPI_COMM_WORLD, &message, status);
        MPI_Imrecv_c(in, BYTES, MPI_BYTE, &message, &request);
        MPI_Wait(&request, status);
        break;
    default:
        MPI_Recv(in, BYTES, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, status);
    }
}

CASE(large_count_calls) {
    void *buffer = malloc(4 * BYTES);
    int size;
    MPI_Buffer_attach(buffer, 4 * BYTES);
    for (int s = 0; s < 5; s++)
        for (int r = 0; r < 5; r++) {
            MPI_Request request;
            MPI_Status status;
            MPI_Count count;
            prepare(5 * s + r);
            send_by(s, &request);
            receive_by(r, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect_status(&status, previous(), 1, BYTES);
            MPI_Get_count_c(&status, MPI_BYTE, &count);
            expect_eq(count, BYTES);
            expect_pattern(in, BYTES, previous(), 0, 5 * s + r);
            barrier();
        }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

CASE(blocking_pairs) {
    for (int way = 0; way < 3; way++) {
        MPI_Request request;
        prepare(way);
        MPI_Irecv(in, BYTES, MPI_BYTE, previous(), 2, MPI_COMM_WORLD, &request);
        barrier();
        if (way == 0)
            MPI_Send_c(out, BYTES, MPI_BYTE, peer(), 2, MPI_COMM_WORLD);
        else if (way == 1)
            MPI_Ssend_c(out, BYTES, MPI_BYTE, peer(), 2, MPI_COMM_WORLD);
        else
            MPI_Rsend_c(out, BYTES, MPI_BYTE, peer(), 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_pattern(in, BYTES, previous(), 0, way);
    }
}

CASE(sendrecv_c) {
    MPI_Status status;
    prepare(1);
    MPI_Sendrecv_c(out, BYTES, MPI_BYTE, peer(), 3, in, BYTES, MPI_BYTE, previous(), 3, MPI_COMM_WORLD,
                   &status);
    expect_status(&status, previous(), 3, BYTES);
    expect_pattern(in, BYTES, previous(), 0, 1);
    MPI_Sendrecv_replace_c(out, BYTES, MPI_BYTE, peer(), 4, previous(), 4, MPI_COMM_WORLD, &status);
    expect_pattern(out, BYTES, previous(), 0, 1);
}

CASE(persistent_c) {
    MPI_Request requests[2];
    MPI_Send_init_c(out, BYTES, MPI_BYTE, peer(), 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init_c(in, BYTES, MPI_BYTE, previous(), 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 5; i++) {
        prepare(i);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect_pattern(in, BYTES, previous(), 0, i);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

#endif

/* Both halves as one request, beside an ordinary receive. The status is not checked: MPICH 4.0 does not set it. */
CASE(isendrecv) {
    int word = test_rank, got = -1;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    prepare(7);
    MPI_Irecv(&got, 1, MPI_INT, previous(), 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv(out, BYTES, MPI_BYTE, peer(), 8, in, BYTES, MPI_BYTE, previous(), 8, MPI_COMM_WORLD,
                  &requests[1]);
    MPI_Isend(&word, 1, MPI_INT, peer(), 9, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, statuses);
    expect_eq(got, previous());
    expect_status(&statuses[0], previous(), 9, sizeof got);
    expect_pattern(in, BYTES, previous(), 0, 7);
}

CASE(isendrecv_meets_plain_calls) {
    MPI_Request request;
    prepare(8);
    MPI_Isendrecv(out, BYTES, MPI_BYTE, peer(), 8, in, BYTES, MPI_BYTE, peer(), 10, MPI_COMM_WORLD, &request);
    receive_pattern(BYTES, previous(), 8, 8, MPI_COMM_WORLD);
    send_pattern(BYTES, previous(), 10, 9, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(in, BYTES, peer(), 0, 9);
}

CASE(isendrecv_replace) {
    MPI_Request request;
    prepare(9);
    MPI_Isendrecv_replace(out, BYTES, MPI_BYTE, peer(), 8, previous(), 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(out, BYTES, previous(), 0, 9);
}

/* Partitioned messages are matched apart from others, so that the same tag does no harm. */
CASE(partitioned) {
    enum { PARTS = 4, PART = 1000 };
    MPI_Request requests[4];
    int word = test_rank, got = -1;
    MPI_Precv_init(in, PARTS, PART, MPI_BYTE, previous(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, PARTS, PART, MPI_BYTE, peer(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; round++) {
        prepare(round);
        MPI_Startall(2, requests);
        MPI_Irecv(&got, 1, MPI_INT, previous(), 3, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&word, 1, MPI_INT, peer(), 3, MPI_COMM_WORLD, &requests[3]);
        for (int i = PARTS - 1; i >= 0; i--)
            MPI_Pready(i, requests[1]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        expect_pattern(in, PARTS * PART, previous(), 0, round);
        expect_eq(got, previous());
        got = -1;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#else
CASE(mpi4) {
    SKIP_IF(true, "this MPI is older than MPI 4");
}
#endif
