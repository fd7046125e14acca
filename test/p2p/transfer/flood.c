/* flood.c: tests a rank that is sent far more than it receives, so that all buffers fill up. No started send may be
 * lost, and the messages are received later, in another order. */
#include "message.h"

#include <stdlib.h>

/* More messages than in the quick tier, which passes --seconds 1. */
static int many(int messages) {
    return test_seconds > 1 ? 5 * messages : messages;
}

static void flood(int messages, size_t bytes) {
    unsigned char *out = aligned_bytes((size_t)messages * bytes), *in = aligned_bytes(bytes);
    MPI_Request *sends = malloc((size_t)messages * sizeof *sends);
    for (int i = 0; i < messages; i++) {
        fill_pattern(out + (size_t)i * bytes, bytes, test_rank, 0, i);
        MPI_Isend(out + (size_t)i * bytes, (int)bytes, MPI_BYTE, peer(), i % 100, MPI_COMM_WORLD, &sends[i]);
    }
    barrier();
    for (int tag = 99; tag >= 0; tag--)
        for (int i = tag; i < messages; i += 100) {
            MPI_Status status;
            MPI_Recv(in, (int)bytes, MPI_BYTE, previous(), tag, MPI_COMM_WORLD, &status);
            expect_status(&status, previous(), tag, bytes);
            expect_pattern(in, bytes, previous(), 0, i);
        }
    MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(in);
    free(out);
}

CASE(one_byte) {
    flood(many(5000), 1);
}

CASE(four_kilobytes) {
    flood(many(1500), 4096);
}

CASE(large_ones) {
    flood(many(60), 300000);
}

/* Rank 0 sends with blocking calls. Rank 1 receives the last message first, which is synchronous, and then the others in
 * order, so that all of them are unexpected. */
static void flood_blocking(int messages, int bytes) {
    unsigned char *buffer = aligned_bytes((size_t)bytes);
    if (test_rank == 0) {
        for (int i = 0; i < messages; i++) {
            fill_pattern(buffer, (size_t)bytes, 0, 0, i);
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Ssend(buffer, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    } else if (test_rank == 1) {
        MPI_Recv(buffer, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < messages; i++) {
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_pattern(buffer, (size_t)bytes, 0, 0, i);
        }
    }
    free(buffer);
}

CASE(blocking_one_byte) {
    flood_blocking(many(6000), 1);
}

CASE(blocking_some_bytes) {
    /* In some configurations a larger message may wait for its receive. */
    flood_blocking(many(2000), 400);
}

/* The flooded rank also sends to the rank that floods it: neither may wait for the other. */
CASE(both_ways) {
    enum { MESSAGES = 3000, BYTES = 1500 };
    static unsigned char in[BYTES];
    unsigned char *out = aligned_bytes((size_t)MESSAGES * BYTES);
    MPI_Request *sends = malloc(MESSAGES * sizeof *sends);
    for (int i = 0; i < MESSAGES; i++) {
        fill_pattern(out + i * BYTES, BYTES, test_rank, 0, i);
        MPI_Isend(out + i * BYTES, BYTES, MPI_BYTE, peer(), 3, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(in, BYTES, MPI_BYTE, previous(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_pattern(in, BYTES, previous(), 0, i);
    }
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(out);
}

/* The buffers that a flood used are freed: floods that would not fit together fit one after the other. */
CASE(again_and_again) {
    for (int i = 0; i < 4; i++)
        flood(300, 8000);
}

/* A send that has returned needs no further call of its sender: rank 0 makes none until rank 1, which comes late, has
 * received everything. */
CASE(what_was_sent_leaves) {
    enum { MESSAGES = 600, BYTES = 16000 };
    struct flag all_here = make_flag();
    unsigned char *bytes = aligned_bytes(BYTES);
    barrier();
    if (test_rank == 0) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Send(bytes, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Request request;
            MPI_Isend(bytes, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        expect(wait_for_flag(&all_here, 10));
    } else if (test_rank == 1) {
        sleep_ms(100);
        for (int i = 0; i < 2 * MESSAGES; i++)
            MPI_Recv(bytes, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise_flag(&all_here);
    }
    free(bytes);
    remove_flag(&all_here);
}
