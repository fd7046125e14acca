/* sendrecv.c: tests MPI_Sendrecv and MPI_Sendrecv_replace: around a ring, to the rank itself, with MPI_PROC_NULL,
 * with different sizes and types on the two sides. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 500000 };

static const size_t sizes[] = {0, 1, 100, 4096, 20000, 70000, LARGE};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void exchange(size_t bytes, int to, int from, int serial) {
    unsigned char *out = aligned_bytes(bytes + 1), *in = aligned_bytes(bytes + 1);
    MPI_Status status;
    fill_pattern(out, bytes, test_rank, 0, serial);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, 10 + test_rank, in, (int)bytes, MPI_BYTE, from, 10 + from,
                 MPI_COMM_WORLD, &status);
    expect_status(&status, from, 10 + from, bytes);
    expect_pattern(in, bytes, from, 0, serial);
    free(in);
    free(out);
}

CASE(ring) {
    for (int round = 0; round < 4; round++)
        for (int s = 0; s < SIZES; s++)
            exchange(sizes[s], round % 2 ? previous() : peer(), round % 2 ? peer() : previous(), s);
}

CASE(with_oneself) {
    for (int s = 0; s < SIZES; s++)
        exchange(sizes[s], test_rank, test_rank, s);
}

static void replace(size_t bytes, int to, int from, int serial) {
    unsigned char *both = aligned_bytes(bytes + 1);
    MPI_Status status;
    fill_pattern(both, bytes, test_rank, 0, serial);
    MPI_Sendrecv_replace(both, (int)bytes, MPI_BYTE, to, 3, from, 3, MPI_COMM_WORLD, &status);
    expect_status(&status, from, 3, bytes);
    expect_pattern(both, bytes, from, 0, serial);
    free(both);
}

CASE(replace_in_a_ring) {
    for (int s = 0; s < SIZES; s++)
        replace(sizes[s], peer(), previous(), s);
}

CASE(replace_with_oneself) {
    for (int s = 0; s < SIZES; s++)
        replace(sizes[s], test_rank, test_rank, s);
}

/* Bytes that are not part of the type do not change. */
CASE(replace_strided) {
    enum { INTS = 3000 };
    int *both = malloc(2 * INTS * sizeof *both);
    MPI_Datatype every_second;
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 2 * INTS; i++)
        both[i] = 100000 * test_rank + i;
    MPI_Sendrecv_replace(both, 1, every_second, peer(), 3, previous(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * INTS; i++)
        expect_eq(both[i], 100000 * (i % 2 ? test_rank : previous()) + i);
    MPI_Type_free(&every_second);
    free(both);
}

/* One side is MPI_PROC_NULL: the other proceeds. */
CASE(proc_null) {
    int out = test_rank, in = -1;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                 &status);
    expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    expect_eq(in, -1);
    /* a chain: the ends have MPI_PROC_NULL on one side */
    MPI_Sendrecv(&out, 1, MPI_INT, test_rank + 1 < test_size ? test_rank + 1 : MPI_PROC_NULL, 1, &in, 1,
                 MPI_INT, test_rank ? test_rank - 1 : MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    expect_eq(in, test_rank - 1);
    expect_eq(status.MPI_SOURCE, test_rank ? test_rank - 1 : MPI_PROC_NULL);
    MPI_Sendrecv_replace(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    expect_eq(out, test_rank);
}

/* Different counts and types on the two sides, and a wildcard source. */
CASE(unlike_sides) {
    double out[10], in[50] = {0};
    MPI_Status status;
    MPI_Datatype ten;
    MPI_Type_contiguous(10, MPI_DOUBLE, &ten);
    MPI_Type_commit(&ten);
    for (int i = 0; i < 10; i++)
        out[i] = test_rank + 0.5 * i;
    MPI_Sendrecv(out, 1, ten, peer(), 8, in, 50, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    expect_status(&status, previous(), 8, 80);
    for (int i = 0; i < 10; i++)
        expect(in[i] == previous() + 0.5 * i);
    MPI_Type_free(&ten);
    barrier(); /* so that the wildcard does not match a message of the next case */
}

/* A blocking send on one side and a Sendrecv on the other: both use ordinary messages. */
CASE(with_plain_calls) {
    int out = test_rank, in = -1;
    if (test_rank == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, 1, 5, &in, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_eq(in, 1);
    } else if (test_rank == 1) {
        MPI_Ssend(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_eq(in, 0);
    }
}
