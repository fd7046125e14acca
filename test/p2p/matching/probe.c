/* probe.c: tests probes, with and without removing the message from the queue. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 200000 };

static const size_t sizes[] = {0, 1, 100, 4096, 20000, 70000, LARGE};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char *out;
static MPI_Request sending;

static void start_send(size_t bytes, int tag, int serial) {
    out = aligned_bytes(bytes + 1);
    fill_pattern(out, bytes, test_rank, 0, serial);
    MPI_Isend(out, (int)bytes, MPI_BYTE, peer(), tag, MPI_COMM_WORLD, &sending);
}

static void finish_send(void) {
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    free(out);
}

static void probe(int from, int tag, MPI_Status *status) {
    MPI_Probe(from, tag, MPI_COMM_WORLD, status);
}

static void iprobe(int from, int tag, MPI_Status *status) {
    for (int flag = 0; !flag;)
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, status);
}

/* The probe returns the size; several probes return the same message. */
CASE(probe_then_receive) {
    void (*const ways[])(int, int, MPI_Status *) = {probe, iprobe};
    for (int s = 0; s < SIZES; s++)
        for (int way = 0; way < 4; way++) {
            MPI_Status status;
            start_send(sizes[s], 20 + s, s);
            for (int again = 0; again < 3; again++) {
                ways[way % 2](way / 2 ? MPI_ANY_SOURCE : previous(), way / 2 ? MPI_ANY_TAG : 20 + s, &status);
                expect_status(&status, previous(), 20 + s, sizes[s]);
            }
            receive_pattern((size_t)count_of(&status, MPI_BYTE), status.MPI_SOURCE, status.MPI_TAG, s,
                            MPI_COMM_WORLD);
            finish_send();
            barrier(); /* so that no wildcard matches a message of the next case */
        }
}

CASE(nothing_there) {
    int flag = 1;
    MPI_Message message = MPI_MESSAGE_NULL;
    for (int i = 0; i < 50; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        expect(!flag);
        MPI_Improbe(previous(), 77, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        expect(!flag);
    }
}

/* A posted receive takes the message, and probes no longer see it. */
CASE(posted_receives_hide) {
    int in = -1, word = test_rank, flag = 1;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, previous(), 4, MPI_COMM_WORLD, &request);
    barrier();
    MPI_Send(&word, 1, MPI_INT, peer(), 4, MPI_COMM_WORLD);
    barrier();
    MPI_Iprobe(previous(), 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(in, previous());
}

static MPI_Message take(int way, int from, int tag, MPI_Status *status) {
    MPI_Message message = MPI_MESSAGE_NULL;
    if (way == 0) {
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, status);
        return message;
    }
    for (int flag = 0; !flag;)
        MPI_Improbe(from, tag, MPI_COMM_WORLD, &flag, &message, status);
    return message;
}

CASE(matched_probe) {
    for (int s = 0; s < SIZES; s++)
        for (int way = 0; way < 4; way++) {
            size_t bytes = sizes[s];
            unsigned char *in = aligned_bytes(bytes + 1);
            MPI_Status status;
            MPI_Message message;
            MPI_Request request;
            start_send(bytes, 30 + s, s);
            message = take(way % 2, MPI_ANY_SOURCE, 30 + s, &status);
            expect_status(&status, previous(), 30 + s, bytes);
            expect(message != MPI_MESSAGE_NULL);
            expect(message != MPI_MESSAGE_NO_PROC);
            memset(&status, 0, sizeof status);
            if (way / 2) {
                MPI_Mrecv(in, (int)bytes, MPI_BYTE, &message, &status);
            } else {
                MPI_Imrecv(in, (int)bytes, MPI_BYTE, &message, &request);
                MPI_Wait(&request, &status);
            }
            expect(message == MPI_MESSAGE_NULL);
            expect_status(&status, previous(), 30 + s, bytes);
            expect_pattern(in, bytes, previous(), 0, s);
            finish_send();
            free(in);
        }
}

/* A message removed by a matched probe is not found again, and later messages can be received first. */
CASE(taken_is_gone) {
    int first = 1000 + test_rank, second = 2000 + test_rank, in = -1, flag = 1;
    MPI_Message message;
    MPI_Status status;
    MPI_Send(&first, 1, MPI_INT, peer(), 6, MPI_COMM_WORLD);
    MPI_Mprobe(previous(), 6, MPI_COMM_WORLD, &message, &status);
    MPI_Iprobe(previous(), 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag);
    barrier();
    MPI_Send(&second, 1, MPI_INT, peer(), 6, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, previous(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_eq(in, 2000 + previous());
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    expect_eq(in, 1000 + previous());
    expect_status(&status, previous(), 6, sizeof in);
}

/* Many matched messages are held at once, and received in another order, beside other requests. */
CASE(many_taken) {
    enum { MANY = 300 };
    int sent[MANY], in[MANY];
    MPI_Request sends[MANY], receives[MANY];
    MPI_Message messages[MANY];
    for (int i = 0; i < MANY; i++) {
        sent[i] = 1000 * test_rank + i;
        MPI_Isend(&sent[i], 1, MPI_INT, peer(), i % 7, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Mprobe(previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Imrecv(&in[i], 1, MPI_INT, &messages[i], &receives[i]);
    MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        expect_eq(in[i], 1000 * previous() + i);
}

CASE(proc_null) {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    int flag = 0, value = 5;
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    expect(flag);
    expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    for (int way = 0; way < 4; way++) {
        if (way % 2)
            MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status);
        else
            MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
        expect(flag);
        expect(message == MPI_MESSAGE_NO_PROC);
        expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        memset(&status, 0, sizeof status);
        if (way / 2) {
            MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
            MPI_Wait(&request, &status);
        } else {
            MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        }
        expect(message == MPI_MESSAGE_NULL);
        expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    expect_eq(value, 5);
}

/* A rank that only probes makes progress: messages that it sent arrive, and so do messages to it, of any size. */
CASE(probing_serves_others) {
    unsigned char *large = aligned_bytes(LARGE), *in = aligned_bytes(LARGE);
    MPI_Request requests[2];
    int flag = 0, word = 0;
    fill_pattern(large, LARGE, test_rank, 0, 0);
    MPI_Irecv(in, LARGE, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(large, LARGE, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &requests[1]);
    if (test_rank % 2 == 0) { /* waits for its own message, then notifies the ranks that only probe */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (peer() % 2)
            MPI_Send(&word, 1, MPI_INT, peer(), 2, MPI_COMM_WORLD);
    } else {
        while (!flag)
            MPI_Iprobe(previous(), 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    expect_pattern(in, LARGE, previous(), 0, 0);
    free(in);
    free(large);
}

/* The same by probes on a communicator whose messages MPI itself carries. */
static void iprobe_until(MPI_Comm comm, bool take) {
    MPI_Message message;
    int flag = 0, word;
    while (!flag && take)
        MPI_Improbe(previous(), 2, comm, &flag, &message, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Iprobe(previous(), 2, comm, &flag, MPI_STATUS_IGNORE);
    if (take)
        MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    else
        MPI_Recv(&word, 1, MPI_INT, previous(), 2, comm, MPI_STATUS_IGNORE);
}

CASE(probing_elsewhere_serves_others) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int take = 0; take < 2; take++) {
        int in = 0, word = 7;
        if (test_rank % 2) {
            MPI_Irecv(&in, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &request);
            barrier();
            iprobe_until(comm, take);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect_eq(in, 7);
        } else {
            barrier();
            if (peer() % 2) {
                MPI_Ssend(&word, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD);
                MPI_Send(&word, 1, MPI_INT, peer(), 2, comm);
            }
        }
    }
    MPI_Comm_free(&comm);
}
