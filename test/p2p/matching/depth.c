/* depth.c: tests queues of thousands of posted receives and of unexpected messages, matched from the front, from the
 * back and from the middle. */
#include "message.h"

#include <stdlib.h>

#include "base/random.h"

enum { DEPTH = 4000 };

static int sent[DEPTH], got[DEPTH];
static MPI_Request sends[DEPTH], receives[DEPTH];

static int value(int rank, int i) {
    return rank * 1000000 + i;
}

static void post_all(void) {
    for (int i = 0; i < DEPTH; i++) {
        got[i] = -1;
        MPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &receives[i]);
    }
}

static void send_one(int i) {
    sent[i] = value(test_rank, i);
    MPI_Isend(&sent[i], 1, MPI_INT, peer(), i, MPI_COMM_WORLD, &sends[i]);
}

static void check_all(void) {
    MPI_Waitall(DEPTH, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < DEPTH; i++)
        expect_eq(got[i], value(previous(), i));
}

/* A permutation, the same on all ranks. */
static void shuffle(int *order, uint64_t seed) {
    struct random r;
    random_seed(&r, seed);
    for (int i = 0; i < DEPTH; i++) {
        int j = (int)random_below(&r, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

CASE(posted_taken_from_the_front) {
    post_all();
    barrier();
    for (int i = 0; i < DEPTH; i++)
        send_one(i);
    check_all();
}

CASE(posted_taken_from_the_back) {
    post_all();
    barrier();
    for (int i = DEPTH - 1; i >= 0; i--)
        send_one(i);
    check_all();
}

CASE(posted_taken_from_anywhere) {
    int order[DEPTH];
    shuffle(order, test_seed);
    post_all();
    barrier();
    for (int i = 0; i < DEPTH; i++)
        send_one(order[i]);
    check_all();
}

static void receive_one(int i) {
    MPI_Status status;
    int one = -1;
    MPI_Recv(&one, 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &status);
    expect_status(&status, previous(), i, sizeof one);
    expect_eq(one, value(previous(), i));
}

static void send_all(void) {
    for (int i = 0; i < DEPTH; i++)
        send_one(i);
    barrier();
}

CASE(unexpected_taken_from_the_front) {
    send_all();
    for (int i = 0; i < DEPTH; i++)
        receive_one(i);
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

CASE(unexpected_taken_from_the_back) {
    send_all();
    for (int i = DEPTH - 1; i >= 0; i--)
        receive_one(i);
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

CASE(unexpected_taken_from_anywhere) {
    int order[DEPTH];
    shuffle(order, test_seed + 1);
    send_all();
    for (int i = 0; i < DEPTH; i++)
        receive_one(order[i]);
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

/* All messages have one tag: each receive gets the next one. */
CASE(one_tag) {
    for (int i = 0; i < DEPTH; i++) {
        got[i] = -1;
        MPI_Irecv(&got[i], 1, MPI_INT, previous(), 3, MPI_COMM_WORLD, &receives[i]);
    }
    for (int i = 0; i < DEPTH; i++) {
        sent[i] = value(test_rank, i);
        MPI_Isend(&sent[i], 1, MPI_INT, peer(), 3, MPI_COMM_WORLD, &sends[i]);
    }
    check_all();
}

/* Probes find the last of many messages, and those that they do not remove stay. */
CASE(probe_the_last) {
    MPI_Status status;
    int flag = 0;
    send_all();
    MPI_Probe(previous(), DEPTH - 1, MPI_COMM_WORLD, &status);
    expect_status(&status, previous(), DEPTH - 1, sizeof(int));
    MPI_Iprobe(MPI_ANY_SOURCE, DEPTH / 2, MPI_COMM_WORLD, &flag, &status);
    expect(flag);
    MPI_Iprobe(previous(), DEPTH, MPI_COMM_WORLD, &flag, &status);
    expect(!flag);
    for (int i = 0; i < DEPTH; i++) {
        MPI_Recv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        expect_status(&status, previous(), i, sizeof(int));
        expect_eq(got[i], value(previous(), i));
    }
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

/* Every second receive is cancelled; the others still get their messages. */
CASE(cancel_every_second) {
    int flag;
    MPI_Status status;
    post_all();
    for (int i = 0; i < DEPTH; i += 2) {
        MPI_Cancel(&receives[i]);
        MPI_Wait(&receives[i], &status);
        MPI_Test_cancelled(&status, &flag);
        expect(flag);
    }
    barrier();
    for (int i = DEPTH - 1; i >= 0; i--)
        send_one(i);
    for (int i = 1; i < DEPTH; i += 2) {
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
        expect_eq(got[i], value(previous(), i));
    }
    for (int i = 0; i < DEPTH; i += 2) {
        expect_eq(got[i], -1);
        receive_one(i);
    }
    MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

/* Both queues grow and shrink repeatedly. */
CASE(waves) {
    static const int depths[] = {1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 10, 700, 2, 1500, 129};
    for (size_t wave = 0; wave < sizeof depths / sizeof *depths; wave++) {
        int depth = depths[wave], half = depth / 2;
        for (int i = 0; i < half; i++)
            MPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &receives[i]);
        barrier();
        for (int i = depth - 1; i >= 0; i--)
            send_one(i);
        barrier();
        for (int i = half; i < depth; i++)
            MPI_Irecv(&got[i], 1, MPI_INT, i % 3 ? previous() : MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                      &receives[i]);
        MPI_Waitall(depth, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(depth, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < depth; i++)
            expect_eq(got[i], value(previous(), i));
    }
}
