/* large.c: tests messages of 8 MB, and of 100 MB in long runs, one way and both ways at once. */
#include "message.h"

#include <stdlib.h>

static size_t largest(void) {
    return test_seconds > 1 ? 100u << 20 : 8u << 20; /* more than the quick tier */
}

/* Faster than the pattern for so many bytes: words that depend on position, rank and serial number. */
static void fill_words(uint64_t *words, size_t bytes, int rank, int serial) {
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = i * 0x9e3779b97f4a7c15u + (uint64_t)(1000 * rank + serial);
}

static void expect_words(const uint64_t *words, size_t bytes, int rank, int serial) {
    for (size_t i = 0; i < bytes / 8; i++)
        if (words[i] != i * 0x9e3779b97f4a7c15u + (uint64_t)(1000 * rank + serial)) {
            expect_eq(i, bytes / 8); /* index of the first wrong word */
            return;
        }
}

CASE(one_way) {
    uint64_t *words = aligned_bytes(largest());
    if (test_rank == 0) {
        fill_words(words, largest(), 0, 1);
        MPI_Send(words, (int)largest(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (test_rank == 1) {
        MPI_Status status;
        memset(words, 0, largest());
        MPI_Recv(words, (int)largest(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
        expect_status(&status, 0, 1, largest());
        expect_words(words, largest(), 0, 1);
    }
    free(words);
}

/* All ranks send and receive at once, with the receives posted first, and then last. */
CASE(both_ways) {
    uint64_t *out = aligned_bytes(largest()), *in = aligned_bytes(largest());
    for (int late = 0; late < 2; late++) {
        MPI_Request requests[2];
        fill_words(out, largest(), test_rank, late);
        memset(in, 0, largest());
        for (int step = 0; step < 2; step++)
            if (step == late)
                MPI_Irecv(in, (int)largest(), MPI_BYTE, previous(), 2, MPI_COMM_WORLD, &requests[0]);
            else
                MPI_Isend(out, (int)largest(), MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect_words(in, largest(), previous(), late);
    }
    free(in);
    free(out);
}

/* Bytes between the blocks of the receive's type do not change. */
CASE(into_blocks) {
    enum { INTS = (8 << 20) / sizeof(int) };
    int *out = aligned_bytes(INTS * sizeof *out), *in = aligned_bytes(2 * INTS * sizeof *in);
    MPI_Datatype pairs;
    MPI_Request request;
    MPI_Type_vector(INTS / 2, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < INTS; i++)
        out[i] = i + test_rank;
    memset(in, 0xee, 2 * INTS * sizeof *in);
    MPI_Irecv(in, 1, pairs, previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Send(out, INTS, MPI_INT, peer(), 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < INTS; i++) {
        int at = i / 2 * 4 + i % 2;
        wrong += in[at] != i + previous();
        wrong += i / 2 < INTS / 2 - 1 && in[at + 2] != (int)0xeeeeeeee;
    }
    expect_eq(wrong, 0);
    MPI_Type_free(&pairs);
    free(in);
    free(out);
}

CASE(sendrecv) {
    uint64_t *out = aligned_bytes(largest()), *in = aligned_bytes(largest());
    fill_words(out, largest(), test_rank, 5);
    MPI_Sendrecv(out, (int)largest(), MPI_BYTE, peer(), 2, in, (int)largest(), MPI_BYTE, previous(), 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_words(in, largest(), previous(), 5);
    free(in);
    free(out);
}

/* Several messages at once in both directions, waited for in reverse order, with small ones between. */
CASE(several) {
    enum { MANY = 6 };
    size_t bytes = largest() / 8;
    uint64_t *out[MANY], *in[MANY];
    int small_out[MANY], small_in[MANY];
    MPI_Request requests[4 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = aligned_bytes(bytes);
        in[i] = aligned_bytes(bytes);
        fill_words(out[i], bytes, test_rank, i);
        small_out[i] = 10 * test_rank + i;
        MPI_Isend(out[i], (int)bytes, MPI_BYTE, peer(), 3, MPI_COMM_WORLD, &requests[4 * i]);
        MPI_Isend(&small_out[i], 1, MPI_INT, peer(), 4, MPI_COMM_WORLD, &requests[4 * i + 1]);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&small_in[i], 1, MPI_INT, previous(), 4, MPI_COMM_WORLD, &requests[4 * i + 3]);
        MPI_Irecv(in[i], (int)bytes, MPI_BYTE, previous(), 3, MPI_COMM_WORLD, &requests[4 * i + 2]);
    }
    for (int i = 4 * MANY - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) {
        expect_words(in[i], bytes, previous(), i);
        expect_eq(small_in[i], 10 * previous() + i);
        free(in[i]);
        free(out[i]);
    }
}

/* Into and from pages that were never touched. */
CASE(untouched_memory) {
    size_t bytes = 4u << 20;
    char *out = calloc(bytes, 1), *in = malloc(bytes);
    int wrong = 0;
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, peer(), 2, in, (int)bytes, MPI_BYTE, previous(), 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < bytes; i++)
        wrong += in[i] != 0;
    expect_eq(wrong, 0);
    free(in);
    free(out);
}

/* From read-only memory. */
CASE(constant_memory) {
    static const int constant[100000] = {1, 2, 3};
    int *in = malloc(sizeof constant);
    MPI_Sendrecv(constant, 100000, MPI_INT, peer(), 2, in, 100000, MPI_INT, previous(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect_bytes(in, constant, sizeof constant);
    free(in);
}

/* Sizes around every power of two, where one protocol ends and another begins. */
CASE(every_border) {
    unsigned char *out = aligned_bytes((1u << 20) + 2), *in = aligned_bytes((1u << 20) + 2);
    for (int power = 0; power <= 20; power++)
        for (int more = -1; more <= 1; more++) {
            size_t bytes = (size_t)((1 << power) + more);
            fill_pattern(out, bytes, test_rank, 0, power);
            memset(in, 0xee, bytes + 1);
            MPI_Sendrecv(out, (int)bytes, MPI_BYTE, peer(), power, in, (int)bytes, MPI_BYTE, previous(),
                         power, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_pattern(in, bytes, previous(), 0, power);
            expect_eq(in[bytes], 0xee);
        }
    free(in);
    free(out);
}

/* A large message is delivered although many later ones from other ranks wait for a sender that computes. */
CASE(an_old_one_among_young_ones) {
    enum { MANY = 20, BYTES = 1 << 20 };
    SKIP_IF(test_size < 3, "needs three ranks");
    struct flag came = make_flag();
    MPI_Request old = MPI_REQUEST_NULL, young[MANY];
    unsigned char *buffer = aligned_bytes(BYTES), *all = aligned_bytes((size_t)MANY * BYTES);
    int flag;
    for (int i = 0; i < MANY; i++)
        young[i] = MPI_REQUEST_NULL;
    if (test_rank == 1) {
        fill_pattern(buffer, BYTES, 1, 0, 0);
        MPI_Isend(buffer, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &old);
    }
    memset(all, test_rank, (size_t)MANY * BYTES);
    for (int i = 0; test_rank == 2 && i < MANY; i++)
        MPI_Isend(all + (size_t)i * BYTES, BYTES, MPI_BYTE, 0, 1 + i, MPI_COMM_WORLD, &young[i]);
    barrier();
    if (test_rank == 0) {
        sleep_ms(100); /* the others make no MPI call now */
        MPI_Irecv(buffer, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &old);
        for (int i = 0; i < 1000; i++)
            MPI_Iprobe(2, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; i++)
            MPI_Irecv(all + (size_t)i * BYTES, BYTES, MPI_BYTE, 2, 1 + i, MPI_COMM_WORLD, &young[i]);
        MPI_Wait(&old, MPI_STATUS_IGNORE);
        raise_flag(&came);
        expect_pattern(buffer, BYTES, 1, 0, 0);
    }
    if (test_rank == 1)
        sleep_ms(500);
    if (test_rank == 2)
        expect(wait_for_flag(&came, 10));
    MPI_Wait(&old, MPI_STATUS_IGNORE);
    MPI_Waitall(MANY, young, MPI_STATUSES_IGNORE);
    for (int i = 0; test_rank == 0 && i < MANY; i++)
        expect_eq(all[(size_t)i * BYTES], 2);
    remove_flag(&came);
    free(all);
    free(buffer);
}
