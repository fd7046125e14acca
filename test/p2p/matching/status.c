/* status.c: tests the fields of a status: source, tag, and the number of elements received, counted in any type. */
#include "message.h"

#include <stdlib.h>

static void transfer(int bytes, MPI_Status *status) {
    static char out[4000], in[4000];
    MPI_Request request;
    MPI_Isend(out, bytes, MPI_BYTE, peer(), 7, MPI_COMM_WORLD, &request);
    MPI_Recv(in, sizeof in, MPI_BYTE, previous(), 7, MPI_COMM_WORLD, status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* 13 bytes are 13 chars, but not a whole number of ints. */
CASE(counts_of_plain_types) {
    static const int bytes[] = {0, 1, 4, 8, 13, 24, 1000, 4000};
    MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_INT64_T, MPI_C_DOUBLE_COMPLEX};
    for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
        MPI_Status status;
        transfer(bytes[b], &status);
        expect_status(&status, previous(), 7, bytes[b]);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            int size, want;
            MPI_Type_size(types[t], &size);
            want = bytes[b] % size ? MPI_UNDEFINED : bytes[b] / size;
            expect_eq(count_of(&status, types[t]), want);
        }
    }
}

/* MPI_Get_elements counts parts of a derived type. */
CASE(elements_of_derived_types) {
    MPI_Datatype pair, record;
    int lengths[] = {1, 2}, count, elements;
    MPI_Aint at[] = {0, 8};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    double in[30];
    MPI_Status status;
    MPI_Count large;
    MPI_Type_contiguous(3, MPI_INT, &pair);
    MPI_Type_create_struct(2, lengths, at, parts, &record); /* an int and two doubles: 20 bytes of data */
    MPI_Type_commit(&pair);
    MPI_Type_commit(&record);
    for (int ints = 0; ints <= 9; ints++) {
        int out[9] = {0};
        MPI_Sendrecv(out, ints, MPI_INT, peer(), 3, in, 3, pair, previous(), 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, pair, &count);
        expect_eq(count, ints % 3 ? MPI_UNDEFINED : ints / 3);
        MPI_Get_elements(&status, pair, &elements);
        expect_eq(elements, ints);
        TEST_LARGE(Get_elements)(&status, pair, &large);
        expect_eq(large, ints);
    }
    for (int records = 0; records <= 3; records++) {
        double out[9] = {0};
        MPI_Sendrecv(out, records, record, peer(), 4, in, 3, record, previous(), 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, record, &count);
        expect_eq(count, records);
        MPI_Get_elements(&status, record, &elements);
        expect_eq(elements, 3 * records);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&record);
}

/* The status holds the actual source and tag of a wildcard receive, with several senders that each have their own
 * tag. */
CASE(wildcards_are_filled_in) {
    int out = test_rank, in = -1, seen = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(&out, 1, MPI_INT, 0, 100 + test_rank, MPI_COMM_WORLD, &request);
    for (int i = 0; test_rank == 0 && i < test_size; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        expect_status(&status, in, 100 + in, sizeof in);
        seen |= 1 << in;
    }
    if (test_rank == 0)
        expect_eq(seen, (1 << test_size) - 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Calls that complete one request leave MPI_ERROR unchanged. */
CASE(error_field_is_left_alone) {
    int out = 1, in = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    status.MPI_ERROR = 4711;
    MPI_Sendrecv(&out, 1, MPI_INT, peer(), 1, &in, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &status);
    MPI_Isend(&out, 1, MPI_INT, peer(), 2, MPI_COMM_WORLD, &request);
    status.MPI_ERROR = 4712;
    MPI_Recv(&in, 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, &status);
    expect_eq(status.MPI_ERROR, 4712);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&in, 1, MPI_INT, previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, peer(), 3, MPI_COMM_WORLD);
    status.MPI_ERROR = 4713;
    while (!flag)
        MPI_Test(&request, &flag, &status);
    expect_eq(status.MPI_ERROR, 4713);
}

/* The status of a send has no source, but is not cancelled. */
CASE(of_sends) {
    int out = 1, in = -1, cancelled = 1;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(&out, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(!cancelled);
    MPI_Irecv(&in, 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, peer(), 2, MPI_COMM_WORLD);
    memset(&status, 0xff, sizeof status);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(!cancelled);
    expect_status(&status, previous(), 2, sizeof in);
}

/* The largest and the smallest tag. */
CASE(tags_at_the_limits) {
    int *upper, flag, out = test_rank, in = -1;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    expect(flag);
    int tags[] = {0, 1, 32767, *upper / 2, *upper - 1, *upper};
    MPI_Request requests[6];
    for (int i = 5; i >= 0; i--)
        MPI_Isend(&out, 1, MPI_INT, peer(), tags[i], MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 6; i++) {
        MPI_Status status;
        MPI_Recv(&in, 1, MPI_INT, previous(), tags[i], MPI_COMM_WORLD, &status);
        expect_status(&status, previous(), tags[i], sizeof in);
    }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}
