/* finalize.c: tests that messages which are pending when MPI_Finalize is called still arrive, and that callbacks
 * which it calls may send, receive and wait. The program has its own main and reports by its exit status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 3 << 20, SMALL = 100, BUFFERED = 50000 };

static unsigned char byte_at(size_t i, int from) {
    return (unsigned char)(i * 7 + i / 251 + (size_t)from * 31);
}

static void fill(unsigned char *to, size_t bytes, int from) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = byte_at(i, from);
}

static int check(const unsigned char *got, size_t bytes, int from, const char *what) {
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != byte_at(i, from)) {
            fprintf(stderr, "finalize: byte %zu of %s is wrong\n", i, what);
            return 1;
        }
    return 0;
}

static unsigned char large[LARGE], small[SMALL], buffered[BUFFERED], attached[4 * BUFFERED];

/* Sends, and enters MPI_Finalize. The buffers live until the end of the program. */
static void send_and_leave(int from, int to) {
    MPI_Request request;
    fill(large, LARGE, from);
    fill(small, SMALL, from);
    fill(buffered, BUFFERED, from);
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

/* ---- attributes of MPI_COMM_SELF: MPI_Finalize deletes them first ---- */

static int rank, size, calls, word, out;
static MPI_Request late = MPI_REQUEST_NULL; /* posted before MPI_Finalize */

static int on_delete(MPI_Comm comm, int key, void *value, void *state) {
    int other = rank ^ 1;
    calls++;
    if (other >= size)
        return MPI_SUCCESS;
    if (rank % 2 == 0) {
        MPI_Send(&out, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
        MPI_Wait(&late, MPI_STATUS_IGNORE);
    } else {
        for (int flag = 0; !flag;)
            MPI_Test(&late, &flag, MPI_STATUS_IGNORE);
        MPI_Ssend(&out, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
}

static void set_attribute(void) {
    int key;
    out = 100 + rank;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
    if ((rank ^ 1) < size)
        MPI_Irecv(&word, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD, &late);
}

static int attribute_was_deleted(void) {
    int want = (rank ^ 1) < size ? 100 + (rank ^ 1) : 0;
    if (calls == 1 && word == want && late == MPI_REQUEST_NULL)
        return 0;
    fprintf(stderr, "finalize: rank %d: %d callbacks, received %d, not %d\n", rank, calls, word, want);
    return 1;
}

/* Even ranks send, odd ranks receive. */
int main(int argc, char **argv) {
    int wrong = 0;
    alarm(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    set_attribute();
    if (rank % 2 == 0 && rank + 1 < size)
        send_and_leave(rank, rank + 1);
    else if (rank % 2 == 1)
        wrong = receive_late(rank - 1);
    if (rank % 2 == 1)
        printf("%s rank %d: what was sent before the sender's MPI_Finalize\n", wrong ? "FAIL" : "ok", rank);
    MPI_Finalize();
    wrong += attribute_was_deleted();
    return wrong != 0;
}
