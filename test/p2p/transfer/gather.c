/* gather.c: tests many ranks that send to one, and one that sends to many, all at once. ranks: 4 */
#include "message.h"

#include <stdlib.h>

enum { EACH = 150, LARGEST = 100000 };

static size_t size_of(int rank, int i) {
    return i % 23 == rank ? LARGEST : i % 7 == 3 ? 9000 : (size_t)(i % 60);
}

static void send_stream(int to) {
    for (int i = 0; i < EACH; i++)
        send_pattern(size_of(test_rank, i), to, i % 3, i, MPI_COMM_WORLD);
}

/* Blocking sends to a rank that receives with wildcards. */
CASE(to_one_that_takes_anything) {
    if (test_rank != 0) {
        send_stream(0);
        return;
    }
    unsigned char *in = aligned_bytes(LARGEST);
    int *next = calloc((size_t)test_size, sizeof *next);
    for (int n = 0; n < EACH * (test_size - 1); n++) {
        MPI_Status status;
        MPI_Recv(in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int i = next[status.MPI_SOURCE]++;
        expect_status(&status, status.MPI_SOURCE, i % 3, size_of(status.MPI_SOURCE, i));
        expect_pattern(in, size_of(status.MPI_SOURCE, i), status.MPI_SOURCE, 0, i);
    }
    free(next);
    free(in);
}

/* To a rank that receives rank by rank, the last first: the others must wait. */
CASE(to_one_that_takes_turns) {
    if (test_rank != 0) {
        send_stream(0);
        return;
    }
    for (int rank = test_size - 1; rank > 0; rank--)
        for (int i = 0; i < EACH; i++)
            receive_pattern(size_of(rank, i), rank, i % 3, i, MPI_COMM_WORLD);
}

/* All to all, every message different. */
CASE(all_to_all) {
    enum { MESSAGES = 40 };
    int total = MESSAGES * test_size;
    unsigned char **out = malloc((size_t)total * sizeof *out), **in = malloc((size_t)total * sizeof *in);
    MPI_Request *requests = malloc(2 * (size_t)total * sizeof *requests);
    for (int n = 0; n < total; n++) {
        int other = n % test_size, i = n / test_size;
        in[n] = aligned_bytes(LARGEST);
        out[n] = aligned_bytes(LARGEST);
        MPI_Irecv(in[n], LARGEST, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[n]);
    }
    for (int n = total - 1; n >= 0; n--) {
        int other = n % test_size, i = n / test_size;
        size_t bytes = size_of(test_rank, i + other);
        fill_pattern(out[n], bytes, test_rank, 0, 1000 * other + i);
        MPI_Isend(out[n], (int)bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[total + n]);
    }
    MPI_Waitall(2 * total, requests, MPI_STATUSES_IGNORE);
    for (int n = 0; n < total; n++) {
        int other = n % test_size, i = n / test_size;
        expect_pattern(in[n], size_of(other, i + test_rank), other, 0, 1000 * test_rank + i);
        free(in[n]);
        free(out[n]);
    }
    free(requests);
    free(in);
    free(out);
}

/* A task farm: each rank that asks gets the next task, until there is none. */
CASE(farm) {
    enum { PIECES = 300, ASK = 1, PIECE = 2 };
    int piece, result = 0, active = test_size - 1, none = -1;
    MPI_Status status;
    if (test_rank == 0) {
        int sum = 0, last = 0;
        while (active > 0) {
            MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
            sum += result;
            MPI_Send(last < PIECES ? &last : &none, 1, MPI_INT, status.MPI_SOURCE, PIECE, MPI_COMM_WORLD);
            active -= last >= PIECES;
            last += last < PIECES;
        }
        expect_eq(sum, PIECES * (PIECES + 1) / 2);
        return;
    }
    do {
        MPI_Send(&result, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(&piece, 1, MPI_INT, 0, PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        result = piece + 1;
    } while (piece >= 0);
}
