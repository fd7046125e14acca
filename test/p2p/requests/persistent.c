/* persistent.c: tests persistent requests, which are made once and started many times. */
#include "message.h"

#include <stdlib.h>

enum { ROUNDS = 30, LARGE = 150000 };

typedef int maker(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void run(maker *make, int bytes, int from, int tag) {
    unsigned char *out = aligned_bytes((size_t)bytes), *in = aligned_bytes((size_t)bytes);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    make(out, bytes, MPI_BYTE, peer(), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        fill_pattern(out, (size_t)bytes, test_rank, 0, i);
        memset(in, 0, (size_t)bytes);
        MPI_Start(&requests[1]);
        barrier(); /* a ready send requires a posted receive */
        MPI_Start(&requests[0]);
        MPI_Waitall(2, requests, statuses);
        expect(requests[0] != MPI_REQUEST_NULL);
        expect(requests[1] != MPI_REQUEST_NULL);
        expect_status(&statuses[1], previous(), 4, bytes);
        expect_pattern(in, (size_t)bytes, previous(), 0, i);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&requests[i]);
        expect(requests[i] == MPI_REQUEST_NULL);
    }
    free(in);
    free(out);
}

CASE(every_mode) {
    maker *makers[] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    void *buffer = malloc(8 * LARGE);
    int size;
    MPI_Buffer_attach(buffer, 8 * LARGE);
    for (int i = 0; i < 4; i++) {
        run(makers[i], 8, previous(), 4);
        run(makers[i], 1000, MPI_ANY_SOURCE, 4);
        if (makers[i] != MPI_Bsend_init) /* Open MPI 4.1 sends nothing when a large one is restarted */
            run(makers[i], LARGE, previous(), MPI_ANY_TAG);
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

/* Many requests at once, started and completed in different ways. */
CASE(startall) {
    enum { MANY = 100 };
    int out[MANY], in[MANY], index, count, indices[2 * MANY], done;
    MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Send_init(&out[i], 1, MPI_INT, peer(), i, MPI_COMM_WORLD, &requests[i]);
        MPI_Recv_init(&in[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < MANY; i++)
            out[i] = 1000 * test_rank + i + 7 * round;
        memset(in, 0, sizeof in);
        MPI_Startall(2 * MANY, requests);
        switch (round % 4) {
        case 0:
            MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
            break;
        case 1:
            for (int i = 0; i < 2 * MANY; i++)
                MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
            MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
            expect_eq(index, MPI_UNDEFINED);
            break;
        case 2:
            for (int i = 0; i < 2 * MANY; i += count)
                MPI_Waitsome(2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
            MPI_Waitsome(2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
            expect_eq(count, MPI_UNDEFINED);
            break;
        default:
            for (done = 0; !done;)
                MPI_Testall(2 * MANY, requests, &done, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < MANY; i++)
            expect_eq(in[i], 1000 * previous() + i + 7 * round);
    }
    for (int i = 0; i < 2 * MANY; i++)
        MPI_Request_free(&requests[i]);
}

/* Requests that were never started, or are complete: waiting returns at once with an empty status. */
CASE(inactive) {
    int value = -1, done = 0, index = 0, count = 0, indices[2];
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    MPI_Recv_init(&value, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    expect_empty_status(&status);
    MPI_Test(&requests[1], &done, &status);
    expect(done);
    expect_empty_status(&status);
    MPI_Waitall(2, requests, statuses);
    expect_empty_status(&statuses[0]);
    MPI_Waitany(2, requests, &index, &status);
    expect_eq(index, MPI_UNDEFINED);
    expect_empty_status(&status);
    MPI_Testany(2, requests, &index, &done, &status);
    expect_eq(index, MPI_UNDEFINED);
    expect(done);
    MPI_Testsome(2, requests, &count, indices, statuses);
    expect_eq(count, MPI_UNDEFINED);
    expect(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Cancelled while pending, and started again. */
CASE(cancel_and_start_again) {
    int in = -1, out = test_rank, flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&in, 1, MPI_INT, previous(), 9, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 5; i++) {
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        expect(flag);
        expect(request != MPI_REQUEST_NULL);
        barrier();
        MPI_Start(&request);
        MPI_Send(&out, 1, MPI_INT, peer(), 9, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        expect(!flag);
        expect_eq(in, previous());
        in = -1;
        barrier();
    }
    MPI_Request_free(&request);
}

/* Freed while active: the message still arrives. */
CASE(free_while_active) {
    static int out;
    int in = -1;
    MPI_Request request;
    out = 50 + test_rank;
    MPI_Send_init(&out, 1, MPI_INT, peer(), 3, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    MPI_Recv(&in, 1, MPI_INT, previous(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_eq(in, 50 + previous());
}

/* To and from MPI_PROC_NULL. */
CASE(proc_null) {
    int value = 17;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        expect_eq(statuses[1].MPI_TAG, MPI_ANY_TAG); /* MPICH 4.0 returns a wrong source, MPI_ANY_SOURCE */
        expect_eq(count_of(&statuses[1], MPI_INT), 0);
    }
    expect_eq(value, 17);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
