/* spawn.c: tests spawned processes. MPI carries messages between parents and children, and Hearth matches those
 * within each program; a rank that waits in a call for the other program still makes progress for its own. The
 * children run this program too.   timeout: 100 */
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHILDREN = 2, LARGE = 1 << 20 };

static char program[4096];
static int good = 1; /* no failure on this side; sent to the other side at the end */

/* The same on both sides: each rank exchanges with each rank of the other side. */
static void exchange(MPI_Comm inter, size_t bytes, int version) {
    int others, me;
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &me);
    unsigned char *out = aligned_bytes(bytes), *in = aligned_bytes((size_t)others * bytes);
    MPI_Request *requests = malloc(2 * (size_t)others * sizeof *requests);
    fill_pattern(out, bytes, me, 0, version);
    for (int i = 0; i < others; i++) {
        MPI_Irecv(in + (size_t)i * bytes, (int)bytes, MPI_BYTE, i, 1, inter, &requests[i]);
        MPI_Isend(out, (int)bytes, MPI_BYTE, i, 1, inter, &requests[others + i]);
    }
    MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < others; i++)
        good &= expect_pattern(in + (size_t)i * bytes, bytes, i, 0, version);
    free(requests);
    free(in);
    free(out);
}

/* Sends around the ring of all ranks, by blocking calls. */
static void ring(MPI_Comm all) {
    int me, size, in = -1;
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &size);
    int to = (me + 1) % size, from = (me + size - 1) % size;
    MPI_Sendrecv(&me, 1, MPI_INT, to, 2, &in, 1, MPI_INT, from, 2, all, MPI_STATUS_IGNORE);
    good &= expect_eq(in, from);
    if (me == 0)
        MPI_Ssend(&me, 1, MPI_INT, to, 3, all);
    MPI_Recv(&in, 1, MPI_INT, from, 3, all, MPI_STATUS_IGNORE);
    good &= expect_eq(in, from);
    if (me)
        MPI_Send(&me, 1, MPI_INT, to, 3, all);
    MPI_Allreduce(&me, &in, 1, MPI_INT, MPI_SUM, all);
    good &= expect_eq(in, size * (size - 1) / 2);
}

static void talk(MPI_Comm inter, int high) {
    MPI_Comm all;
    MPI_Request request;
    int word = test_rank, in = -1;
    MPI_Irecv(&in, 1, MPI_INT, previous(), 4, MPI_COMM_WORLD, &request);
    exchange(inter, 4, 1);
    exchange(inter, LARGE, 2);
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, high, &all);
    ring(all);
    if (test_rank % 2 == 0)
        MPI_Ssend(&word, 1, MPI_INT, peer(), 4, MPI_COMM_WORLD);
    /* The odd ranks wait in the barrier. Through MPI they would answer only when the barrier ends. */
    if (strcmp(test_config(), "host") != 0)
        MPI_Barrier(inter);
    if (test_rank % 2 == 1)
        MPI_Ssend(&word, 1, MPI_INT, peer(), 4, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good &= expect_eq(in, previous());
    MPI_Comm_free(&all);
}

static bool is_child(MPI_Comm *parents) {
    MPI_Comm_get_parent(parents);
    return *parents != MPI_COMM_NULL;
}

CASE(spawned) {
    MPI_Comm inter;
    bool child = is_child(&inter);
    int codes[CHILDREN], all_good = 0;
    SKIP_IF(!child && test_size % 2, "needs an even number of ranks");
    if (!child) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int rc =
            MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        SKIP_IF(rc != MPI_SUCCESS, "this MPI cannot spawn processes here");
    }
    talk(inter, child);
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, inter);
    expect(all_good);
    MPI_Comm_disconnect(&inter);
}

__attribute__((constructor)) static void find_program(void) {
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
}
