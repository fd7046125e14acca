/* collectives.c: tests that blocking collectives give the results that MPI defines, also where Hearth replaces them
 * by other calls, in the corner cases in which MPI libraries differ: a neighbour that occurs twice, types without
 * bytes, in-place results, other kinds of communicators. */
#include "message.h"

#include <stdlib.h>

enum { MOST = 64 };

/* A different value for each pair and block. */
static int word(int from, int to, int block) {
    return 10000 * from + 100 * to + block;
}

/* ---- neighbours ---- */

/* Checks what this rank gets from below and from above on a ring. With two ranks both are the same process. */
static void expect_ring(const int got[2], bool same_to_all) {
    int below = previous(), above = peer();
    expect_eq(got[0], same_to_all ? word(below, 0, 0) : word(below, test_rank, 1));
    expect_eq(got[1], same_to_all ? word(above, 0, 0) : word(above, test_rank, 0));
}

static void exchange_pairs(const int out[2], int got[2], MPI_Comm ring) {
    int one[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Neighbor_alltoallv(out, one, places, MPI_INT, got, one, places, MPI_INT, ring);
    expect_ring(got, false);
    got[0] = got[1] = -1;
    MPI_Neighbor_alltoallw(out, one, bytes, types, got, one, bytes, types, ring);
    expect_ring(got, false);
    got[0] = got[1] = -1;
}

CASE(neighbours_on_a_ring) {
    int one[2] = {1, 1}, places[2] = {0, 1}, periodic = 1, got[2] = {-1, -1};
    int out[2] = {word(test_rank, previous(), 0), word(test_rank, peer(), 1)}, all = word(test_rank, 0, 0);
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, ring);
    expect_ring(got, false);
    got[0] = got[1] = -1;
    if (test_open_mpi()) /* MPICH 4.0 swaps the two on a ring of two processes */
        exchange_pairs(out, got, ring);
    MPI_Neighbor_allgather(&all, 1, MPI_INT, got, 1, MPI_INT, ring);
    expect_ring(got, true);
    got[0] = got[1] = -1;
    MPI_Neighbor_allgatherv(&all, 1, MPI_INT, got, one, places, MPI_INT, ring);
    expect_ring(got, true);
    MPI_Comm_free(&ring);
}

/* ---- types without bytes: one element matches zero elements of another type; only cases that both MPIs support ---- */

struct nothing {
    MPI_Datatype type;
    int one[MOST], none[MOST], places[MOST];
    MPI_Datatype empty[MOST], ints[MOST];
};

static struct nothing make_nothing(void) {
    struct nothing n = {.type = MPI_DATATYPE_NULL};
    MPI_Type_contiguous(0, MPI_INT, &n.type);
    MPI_Type_commit(&n.type);
    for (int i = 0; i < MOST; i++) {
        n.one[i] = 1;
        n.empty[i] = n.type;
        n.ints[i] = MPI_INT;
    }
    return n;
}

CASE(types_without_bytes) {
    struct nothing n = make_nothing();
    int out = 1, in = 7;
    MPI_Alltoallv(&out, n.one, n.places, n.type, &in, n.none, n.places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(&out, n.none, n.places, MPI_INT, &in, n.one, n.places, n.type, MPI_COMM_WORLD);
    MPI_Alltoallw(&out, n.one, n.places, n.empty, &in, n.none, n.places, n.ints, MPI_COMM_WORLD);
    MPI_Alltoallw(&out, n.none, n.places, n.ints, &in, n.one, n.places, n.empty, MPI_COMM_WORLD);
    MPI_Allgatherv(&out, 1, n.type, &in, n.none, n.places, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&out, 1, n.type, &in, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(&out, 0, MPI_INT, &in, 1, n.type, MPI_COMM_WORLD);
    MPI_Allreduce(&out, &in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(in, 7);
    barrier();
    MPI_Type_free(&n.type);
}

/* ---- all with data, on communicators of several kinds ---- */

struct where {
    MPI_Comm comm;
    int rank, size, *out, *in, *counts, *places;
};

static void gather_and_scatter(struct where *w) {
    for (int root = 0; root < w->size; root++) {
        int mine = word(w->rank, root, 0), got = -1;
        MPI_Gather(&mine, 1, MPI_INT, w->in, 1, MPI_INT, root, w->comm);
        for (int i = 0; w->rank == root && i < w->size; i++)
            expect_eq(w->in[i], word(i, root, 0));
        MPI_Gatherv(&mine, 1, MPI_INT, w->in, w->counts, w->places, MPI_INT, root, w->comm);
        for (int i = 0; w->rank == root && i < w->size; i++)
            expect_eq(w->in[2 * i], word(i, root, 0));
        for (int i = 0; i < w->size; i++)
            w->out[i] = word(root, i, 1);
        MPI_Scatter(w->out, 1, MPI_INT, &got, 1, MPI_INT, root, w->comm);
        expect_eq(got, word(root, w->rank, 1));
        for (int i = 0; i < w->size; i++)
            w->out[2 * i] = word(root, i, 2);
        MPI_Scatterv(w->out, w->counts, w->places, MPI_INT, &got, 1, MPI_INT, root, w->comm);
        expect_eq(got, word(root, w->rank, 2));
        got = w->rank == root ? root + 5 : -1;
        MPI_Bcast(&got, 1, MPI_INT, root, w->comm);
        expect_eq(got, root + 5);
    }
}

static void all_to_all(struct where *w) {
    int mine = word(w->rank, 0, 0);
    MPI_Datatype *types = malloc((size_t)w->size * sizeof *types);
    int *bytes = malloc((size_t)w->size * sizeof *bytes);
    MPI_Allgather(&mine, 1, MPI_INT, w->in, 1, MPI_INT, w->comm);
    for (int i = 0; i < w->size; i++)
        expect_eq(w->in[i], word(i, 0, 0));
    MPI_Allgatherv(&mine, 1, MPI_INT, w->in, w->counts, w->places, MPI_INT, w->comm);
    for (int i = 0; i < w->size; i++) {
        expect_eq(w->in[2 * i], word(i, 0, 0));
        w->out[i] = w->out[2 * w->size + 2 * i] = word(w->rank, i, 3);
        types[i] = MPI_INT;
        bytes[i] = w->places[i] * (int)sizeof(int);
    }
    MPI_Alltoall(w->out, 1, MPI_INT, w->in, 1, MPI_INT, w->comm);
    for (int i = 0; i < w->size; i++)
        expect_eq(w->in[i], word(i, w->rank, 3));
    int *out = w->out + 2 * w->size;
    MPI_Alltoallv(out, w->counts, w->places, MPI_INT, w->in, w->counts, w->places, MPI_INT, w->comm);
    for (int i = 0; i < w->size; i++)
        expect_eq(w->in[2 * i], word(i, w->rank, 3));
    memset(w->in, 0, 2 * (size_t)w->size * sizeof *w->in);
    MPI_Alltoallw(out, w->counts, bytes, types, w->in, w->counts, bytes, types, w->comm);
    for (int i = 0; i < w->size; i++)
        expect_eq(w->in[2 * i], word(i, w->rank, 3));
    free(types);
    free(bytes);
}

static void reduce(struct where *w) {
    int mine = w->rank + 1, sum = -1, all = w->size * (w->size + 1) / 2;
    for (int root = 0; root < w->size; root++) {
        MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, w->comm);
        if (w->rank == root)
            expect_eq(sum, all);
        sum = mine;
        MPI_Reduce(w->rank == root ? MPI_IN_PLACE : &mine, &sum, 1, MPI_INT, MPI_SUM, root, w->comm);
        if (w->rank == root)
            expect_eq(sum, all);
    }
    sum = mine;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    expect_eq(sum, all);
    for (int i = 0; i < w->size; i++)
        w->out[i] = mine + i;
    MPI_Reduce_scatter_block(w->out, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    expect_eq(sum, all + w->size * w->rank);
    MPI_Reduce_scatter(w->out, &sum, w->counts, MPI_INT, MPI_SUM, w->comm);
    expect_eq(sum, all + w->size * w->rank);
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    expect_eq(sum, mine * (mine + 1) / 2);
    MPI_Exscan(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    if (w->rank)
        expect_eq(sum, w->rank * mine / 2);
}

static void try_all(MPI_Comm comm) {
    struct where w = {.comm = comm};
    MPI_Comm_rank(comm, &w.rank);
    MPI_Comm_size(comm, &w.size);
    size_t words = 4 * (size_t)w.size;
    w.out = calloc(words, sizeof *w.out);
    w.in = calloc(words, sizeof *w.in);
    w.counts = calloc(words, sizeof *w.counts);
    w.places = calloc(words, sizeof *w.places);
    for (int i = 0; i < w.size; i++) {
        w.counts[i] = 1;
        w.places[i] = 2 * i;
    }
    gather_and_scatter(&w);
    all_to_all(&w);
    reduce(&w);
    MPI_Barrier(comm);
    free(w.out);
    free(w.in);
    free(w.counts);
    free(w.places);
}

CASE(contents) {
    MPI_Comm copy, reversed, alone;
    MPI_Request request;
    try_all(MPI_COMM_WORLD);
    try_all(MPI_COMM_SELF);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    try_all(reversed);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank, 0, &alone);
    try_all(alone);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    try_all(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&alone);
    MPI_Comm_free(&reversed);
}

/* Between two groups: each rank of one group gets the data of the other. */
CASE(between_groups) {
    MPI_Comm half, inter;
    int side = test_rank % 2, others = 0, sum = -1, one = side + 1;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : 1, 6, &inter);
    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    expect_eq(sum, others * (2 - side));
    int *got = malloc((size_t)others * sizeof *got);
    MPI_Allgather(&test_rank, 1, MPI_INT, got, 1, MPI_INT, inter);
    for (int i = 0; i < others; i++)
        expect_eq(got[i], 2 * i + !side);
    MPI_Barrier(inter);
    free(got);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
