/* parts.c: tests messages that MPI packs and unpacks. test_parts.sh runs it with a library in which parts are so small that there
 * are several, as there are of more than 2 GB where MPI counts in ints. */
#include "message.h"

#include <stdlib.h>

/* A message of so many records has more blocks than Hearth lists: MPI packs it. */
enum { RECORDS = 600000, RECORD = 12, DATA = 6 };

static MPI_Datatype record_type(void) {
    MPI_Datatype blocks, type;
    int lengths[2] = {1, DATA - 1}, places[2] = {0, 4};
    MPI_Type_indexed(2, lengths, places, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, RECORD, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&blocks);
    return type;
}

/* The place of the n-th byte of the data. */
static size_t place(size_t n) {
    return n / DATA * RECORD + (n % DATA ? n % DATA + 3 : 0);
}

static unsigned char *filled(size_t bytes, int rank) {
    unsigned char *memory = aligned_bytes(bytes);
    fill_pattern(memory, bytes, rank, 0, 1);
    return memory;
}

CASE(packed) {
    MPI_Datatype type = record_type();
    unsigned char *out = filled(RECORDS * RECORD, test_rank), *in = aligned_bytes(RECORDS * DATA);
    MPI_Request request;
    int wrong = 0;
    MPI_Isend(out, RECORDS, type, peer(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in, RECORDS * DATA, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < RECORDS * DATA; i++)
        wrong += in[i] != pattern(previous(), place(i), 1);
    expect_eq(wrong, 0);
    MPI_Type_free(&type);
    free(in);
    free(out);
}

/* Receives so many bytes; those between the data and those behind them do not change. */
static void unpack(size_t bytes) {
    MPI_Datatype type = record_type();
    unsigned char *out = filled(bytes, test_rank), *in = aligned_bytes(RECORDS * RECORD),
                  *want = aligned_bytes(RECORDS * RECORD);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    memset(in, 0xee, RECORDS * RECORD);
    memset(want, 0xee, RECORDS * RECORD);
    for (size_t i = 0; i < bytes; i++)
        want[place(i)] = pattern(previous(), i, 1);
    MPI_Irecv(in, RECORDS, type, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    expect_status(&statuses[0], previous(), 1, bytes);
    expect_bytes(in, want, RECORDS * RECORD);
    MPI_Type_free(&type);
    free(want);
    free(in);
    free(out);
}

CASE(unpacked) {
    unpack(RECORDS * DATA);
}

/* The message ends inside a part. */
CASE(ends_inside_a_record) {
    unpack((RECORDS - 100) * DATA + 4);
}
