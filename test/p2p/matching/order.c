/* order.c: tests that messages of one sender on one communicator do not overtake each other, whatever their sizes:
 * small ones are copied at once, large ones wait for the receiver, so that they take different paths. */
#include "message.h"

#include <stdlib.h>

enum { MESSAGES = 120, LARGEST = 300000, TAGS = 4 };

static size_t size_of(int serial) {
    static const size_t sizes[] = {8, 300000, 100, 5000, 70000, 12, 16000, 0, 64, 65536, 1};
    return sizes[(size_t)serial % (sizeof sizes / sizeof *sizes)];
}

static unsigned char *buffers[MESSAGES];
static MPI_Request requests[MESSAGES];

static void start_sends(int to, int tags) {
    for (int i = 0; i < MESSAGES; i++) {
        buffers[i] = aligned_bytes(size_of(i) + 1);
        fill_pattern(buffers[i], size_of(i), test_rank, 0, i);
        MPI_Isend(buffers[i], (int)size_of(i), MPI_BYTE, to, i % tags, MPI_COMM_WORLD, &requests[i]);
    }
}

static void finish_sends(void) {
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        free(buffers[i]);
}

CASE(one_tag) {
    start_sends(peer(), 1);
    for (int i = 0; i < MESSAGES; i++)
        receive_pattern(size_of(i), previous(), 0, i, MPI_COMM_WORLD);
    finish_sends();
}

/* The tags are received one after the other, the last one first. Each tag keeps its own order. */
CASE(tag_by_tag) {
    start_sends(peer(), TAGS);
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (int i = tag; i < MESSAGES; i += TAGS)
            receive_pattern(size_of(i), previous(), tag, i, MPI_COMM_WORLD);
    finish_sends();
}

static void check_next(const unsigned char *got, const MPI_Status *status, int *next) {
    int i = next[status->MPI_SOURCE]++;
    expect_status(status, status->MPI_SOURCE, i % TAGS, size_of(i));
    expect_pattern(got, size_of(i), status->MPI_SOURCE, 0, i);
}

/* All ranks send to rank 0, which receives with wildcards. */
CASE(any_source_any_tag) {
    unsigned char *got = aligned_bytes(LARGEST);
    int *next = calloc((size_t)test_size, sizeof *next);
    start_sends(0, TAGS);
    for (int i = 0; test_rank == 0 && i < MESSAGES * test_size; i++) {
        MPI_Status status;
        memset(got, 0, 8);
        MPI_Recv(got, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        check_next(got, &status, next);
    }
    finish_sends();
    free(next);
    free(got);
}

/* The first half of the receives is posted before the messages are sent, the second half afterwards. */
CASE(half_of_them_posted) {
    unsigned char *got[MESSAGES];
    MPI_Request receives[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        got[i] = aligned_bytes(LARGEST);
    for (int i = 0; i < MESSAGES / 2; i++)
        MPI_Irecv(got[i], LARGEST, MPI_BYTE, previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &receives[i]);
    barrier();
    start_sends(peer(), TAGS);
    for (int i = MESSAGES / 2; i < MESSAGES; i++)
        MPI_Irecv(got[i], LARGEST, MPI_BYTE, previous(), i % TAGS, MPI_COMM_WORLD, &receives[i]);
    for (int i = MESSAGES - 1; i >= 0; i--) {
        MPI_Status status;
        MPI_Wait(&receives[i], &status);
        expect_status(&status, previous(), i % TAGS, size_of(i));
        expect_pattern(got[i], size_of(i), previous(), 0, i);
        free(got[i]);
    }
    finish_sends();
}

/* Blocking sends between Isends: the order is that of the calls, whichever completes first. */
CASE(blocking_between_others) {
    enum { ROUNDS = 40 };
    MPI_Request request;
    unsigned char *large = aligned_bytes(LARGEST);
    for (int i = 0; i < ROUNDS; i++) {
        fill_pattern(large, LARGEST, test_rank, 0, 2 * i);
        MPI_Isend(large, LARGEST, MPI_BYTE, peer(), 5, MPI_COMM_WORLD, &request);
        send_pattern(16, peer(), 5, 2 * i + 1, MPI_COMM_WORLD);
        receive_pattern(LARGEST, previous(), 5, 2 * i, MPI_COMM_WORLD);
        receive_pattern(16, previous(), 5, 2 * i + 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(large);
}

/* A probe finds the message that was sent first, small or large. */
CASE(probes_see_the_order) {
    unsigned char *got = aligned_bytes(LARGEST);
    start_sends(peer(), TAGS);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        MPI_Probe(previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        expect_status(&status, previous(), i % TAGS, size_of(i));
        MPI_Recv(got, LARGEST, MPI_BYTE, previous(), i % TAGS, MPI_COMM_WORLD, &status);
        expect_status(&status, previous(), i % TAGS, size_of(i));
        expect_pattern(got, size_of(i), previous(), 0, i);
    }
    finish_sends();
    free(got);
}
