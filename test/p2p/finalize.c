/* finalize.c: messages that are still under way when MPI_Finalize is called arrive. No other test can show it: it has a
 * main of its own, and says what it saw by its exit status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 3 << 20, SMALL = 100, BUFFERED = 50000 };

static unsigned char byte_at(size_t i, int rank) {
    return (unsigned char)(i * 7 + i / 251 + (size_t)rank * 31);
}

static void fill(unsigned char *to, size_t bytes, int rank) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = byte_at(i, rank);
}

static int check(const unsigned char *got, size_t bytes, int rank, const char *what) {
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != byte_at(i, rank)) {
            fprintf(stderr, "finalize: byte %zu of %s is wrong\n", i, what);
            return 1;
        }
    return 0;
}

static unsigned char large[LARGE], small[SMALL], buffered[BUFFERED], attached[4 * BUFFERED];

/* Sends, and leaves. The buffers stay until the end of the program. */
static void send_and_leave(int rank, int to) {
    MPI_Request request;
    fill(large, LARGE, rank);
    fill(small, SMALL, rank);
    fill(buffered, BUFFERED, rank);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Bsend(buffered, BUFFERED, MPI_BYTE, to, 3, MPI_COMM_WORLD);
    memset(buffered, 0, BUFFERED);
    MPI_Isend(small, SMALL, MPI_BYTE, to, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Isend(large, LARGE, MPI_BYTE, to, 2, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

static int receive_late(int from) {
    int wrong = 0;
    nanosleep(&(struct timespec){0, 200000000}, NULL); /* the sender is in MPI_Finalize by now */
    MPI_Recv(large, LARGE, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffered, BUFFERED, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(small, SMALL, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += check(large, LARGE, from, "the large message");
    wrong += check(buffered, BUFFERED, from, "the buffered message");
    wrong += check(small, SMALL, from, "the small message");
    return wrong;
}

/* Even ranks send, the odd ones receive. */
int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    alarm(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank % 2 == 0 && rank + 1 < size)
        send_and_leave(rank, rank + 1);
    else if (rank % 2 == 1)
        wrong = receive_late(rank - 1);
    if (rank % 2 == 1)
        printf("%s rank %d: what was sent before the sender's MPI_Finalize\n", wrong ? "FAIL" : "ok", rank);
    MPI_Finalize();
    return wrong != 0;
}
