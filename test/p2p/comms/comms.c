/* comms.c: tests communicators made in every way. A message on one is never received on another, ranks are those of
 * the communicator, and pending operations survive its MPI_Comm_free. */
#include "message.h"

#include <stdlib.h>

enum { LARGE = 100000 };

static int size_in(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

static int rank_in(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/* Sends around the ring of this communicator, small and large messages, with exact and wildcard receives. */
static void use(MPI_Comm comm) {
    int size = size_in(comm), me = rank_in(comm), to = (me + 1) % size, from = (me + size - 1) % size;
    static const size_t sizes[] = {4, 3000, LARGE};
    for (int s = 0; s < 3; s++) {
        unsigned char *out = aligned_bytes(LARGE), *in = aligned_bytes(LARGE);
        MPI_Request request;
        MPI_Status status;
        fill_pattern(out, sizes[s], me, 0, s + size);
        MPI_Isend(out, (int)sizes[s], MPI_BYTE, to, s, comm, &request);
        MPI_Recv(in, LARGE, MPI_BYTE, s % 2 ? MPI_ANY_SOURCE : from, s % 2 ? MPI_ANY_TAG : s, comm, &status);
        expect_status(&status, from, s, sizes[s]);
        expect_pattern(in, sizes[s], from, 0, s + size);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(in);
        free(out);
    }
}

static void use_and_free(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL)
        return;
    use(comm);
    MPI_Comm_free(&comm);
    expect(comm == MPI_COMM_NULL);
}

CASE(dup) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use_and_free(comm);
}

CASE(dup_of_dup) {
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(first, &second);
    use(first);
    use_and_free(second);
    use_and_free(first);
}

CASE(idup) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    use(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(comm);
}

CASE(dup_with_info) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a_key_of_nobody", "yes");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    use_and_free(comm);
}

/* In reverse order, in two halves, and without one rank. */
CASE(split) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, test_size - test_rank, &comm);
    expect_eq(rank_in(comm), test_size - 1 - test_rank);
    use_and_free(comm);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &comm);
    use_and_free(comm);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 0 ? MPI_UNDEFINED : 3, 0, &comm);
    expect_eq(comm == MPI_COMM_NULL, test_rank == 0);
    use_and_free(comm);
}

CASE(split_type) {
    MPI_Comm comm;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(comm);
}

static MPI_Group reversed(void) {
    MPI_Group all, group;
    int *ranks = malloc((size_t)test_size * sizeof *ranks);
    for (int i = 0; i < test_size; i++)
        ranks[i] = test_size - 1 - i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, test_size, ranks, &group);
    MPI_Group_free(&all);
    free(ranks);
    return group;
}

CASE(create) {
    MPI_Group group = reversed();
    MPI_Comm comm;
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    expect_eq(rank_in(comm), test_size - 1 - test_rank);
    use_and_free(comm);
    MPI_Group_free(&group);
}

/* Only members call it; the other ranks do something else meanwhile. */
CASE(create_group) {
    MPI_Group group = reversed(), some;
    MPI_Comm comm;
    int out = test_rank % test_size;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &comm);
    use_and_free(comm);
    MPI_Group_excl(group, 1, &out, &some); /* each rank leaves out another one; no call is made with it */
    MPI_Group_free(&some);
    out = 0; /* the last rank of the world is left out */
    MPI_Group_excl(group, 1, &out, &some);
    if (test_rank != test_size - 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 18, &comm);
        use_and_free(comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&group);
}

CASE(cart) {
    int dims[2] = {test_size / (test_size % 2 ? 1 : 2), test_size % 2 ? 1 : 2}, periodic[2] = {1, 1},
        keep[2] = {1, 0}, from, to, in = -1;
    MPI_Comm grid, column;
    MPI_Status status;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    use(grid);
    MPI_Barrier(grid); /* otherwise a wildcard receive in `use` could match a message of the loop below */
    for (int d = 0; d < 2; d++) {
        int me = rank_in(grid);
        MPI_Cart_shift(grid, d, 1, &from, &to);
        MPI_Sendrecv(&me, 1, MPI_INT, to, d, &in, 1, MPI_INT, from, d, grid, &status);
        expect_eq(in, from);
        expect_eq(status.MPI_SOURCE, from);
    }
    MPI_Cart_sub(grid, keep, &column);
    use_and_free(column);
    MPI_Comm_free(&grid);
}

/* Beyond the edges of a non-periodic grid the neighbour is MPI_PROC_NULL. */
CASE(cart_edges) {
    int dims[1] = {test_size}, periodic[1] = {0}, from, to, in = -1, me;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &line);
    me = rank_in(line);
    MPI_Cart_shift(line, 0, 1, &from, &to);
    MPI_Sendrecv(&me, 1, MPI_INT, to, 3, &in, 1, MPI_INT, from, 3, line, MPI_STATUS_IGNORE);
    expect_eq(in, me == 0 ? -1 : me - 1);
    MPI_Comm_free(&line);
}

CASE(graphs) {
    int *index = malloc((size_t)test_size * sizeof *index),
        *edges = malloc((size_t)test_size * sizeof *edges);
    int from = previous(), to = peer(), weight = 1;
    MPI_Comm graph;
    for (int i = 0; i < test_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % test_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &graph);
    use_and_free(graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0,
                                   &graph);
    use_and_free(graph);
    free(index);
    free(edges);
}

/* Makes more duplicates of one communicator than it reserves context numbers at a time, and other communicators in between.
 * Each must have its own number, so that none receives what was sent on another. */
CASE(many_duplicates_at_once) {
    enum { COMMS = 80 };
    MPI_Comm comms[COMMS], half;
    int in[COMMS];
    MPI_Request receives[COMMS];
    for (int c = 0; c < COMMS; c++) {
        if (c % 7 == 3) {
            MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half);
            MPI_Comm_free(&half);
        }
        MPI_Comm_dup(c % 5 == 4 ? comms[c / 2] : MPI_COMM_WORLD, &comms[c]);
    }
    for (int c = 0; c < COMMS; c++)
        MPI_Irecv(&in[c], 1, MPI_INT, previous(), 5, comms[c], &receives[c]);
    for (int c = COMMS - 1; c >= 0; c--) {
        int out = 1000 * test_rank + c;
        MPI_Send(&out, 1, MPI_INT, peer(), 5, comms[c]);
    }
    MPI_Waitall(COMMS, receives, MPI_STATUSES_IGNORE);
    for (int c = 0; c < COMMS; c++) {
        expect_eq(in[c], 1000 * previous() + c);
        MPI_Comm_free(&comms[c]);
    }
}

/* The same source, tag and size on several communicators: each receive gets the message of its own communicator, in
 * any order. */
CASE(never_mixed) {
    enum { COMMS = 6, EACH = 50 };
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    int out[COMMS][EACH], in[COMMS][EACH];
    MPI_Request sends[COMMS * EACH], receives[COMMS * EACH];
    for (int c = 1; c < COMMS; c++)
        MPI_Comm_dup(comms[c - 1], &comms[c]);
    for (int posted_first = 0; posted_first < 2; posted_first++) {
        for (int step = 0; step < 2; step++) {
            for (int i = 0; step != posted_first && i < EACH; i++)
                for (int c = COMMS - 1; c >= 0; c--)
                    MPI_Irecv(&in[c][i], 1, MPI_INT, c % 2 ? MPI_ANY_SOURCE : previous(),
                              c % 3 ? MPI_ANY_TAG : 5, comms[c], &receives[c * EACH + i]);
            for (int c = 0; step == posted_first && c < COMMS; c++)
                for (int i = 0; i < EACH; i++) {
                    out[c][i] = 10000 * test_rank + 100 * c + i;
                    MPI_Isend(&out[c][i], 1, MPI_INT, peer(), 5, comms[c], &sends[c * EACH + i]);
                }
            if (step == 0)
                barrier();
        }
        MPI_Waitall(COMMS * EACH, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(COMMS * EACH, sends, MPI_STATUSES_IGNORE);
        for (int c = 0; c < COMMS; c++)
            for (int i = 0; i < EACH; i++)
                expect_eq(in[c][i], 10000 * previous() + 100 * c + i);
    }
    for (int c = 1; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
}

/* A probe does not see messages of another communicator. */
CASE(probes_do_not_mix) {
    MPI_Comm comm;
    int flag, word = test_rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Send(&word, 1, MPI_INT, peer(), 5, comm);
    MPI_Probe(previous(), 5, comm, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag);
    MPI_Recv(&word, 1, MPI_INT, previous(), 5, comm, MPI_STATUS_IGNORE);
    expect_eq(word, previous());
    MPI_Comm_free(&comm);
}

/* Freed while two receives, a large synchronous send and a small send may be pending. */
CASE(freed_with_requests) {
    for (int round = 0; round < 10; round++) {
        MPI_Comm comm;
        unsigned char *out = aligned_bytes(LARGE), *in = aligned_bytes(LARGE);
        int small_out = test_rank + round, small_in = -1;
        MPI_Request requests[4];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        fill_pattern(out, LARGE, test_rank, 0, round);
        MPI_Irecv(in, LARGE, MPI_BYTE, previous(), 1, comm, &requests[0]);
        MPI_Irecv(&small_in, 1, MPI_INT, previous(), 2, comm, &requests[1]);
        MPI_Issend(out, LARGE, MPI_BYTE, peer(), 1, comm, &requests[2]);
        MPI_Isend(&small_out, 1, MPI_INT, peer(), 2, comm, &requests[3]);
        MPI_Comm_free(&comm);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        expect_pattern(in, LARGE, previous(), 0, round);
        expect_eq(small_in, previous() + round);
        free(in);
        free(out);
    }
}

/* Made and freed repeatedly: handles are reused, and must not match messages of the earlier communicator. */
CASE(many_times) {
    for (int i = 0; i < 40; i++) {
        MPI_Comm comm;
        int out = 1000 * test_rank + i, in = -1;
        if (i % 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &comm);
        MPI_Sendrecv(&out, 1, MPI_INT, peer(), 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                     MPI_STATUS_IGNORE);
        expect_eq(in, 1000 * previous() + i);
        MPI_Comm_free(&comm);
    }
}

/* Two halves that run at the same time and make different numbers of communicators. */
CASE(unlike_histories) {
    MPI_Comm half, all, more[5];
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half);
    for (int i = 0; i < (test_rank % 2 ? 5 : 2); i++) {
        MPI_Comm_dup(half, &more[i]);
        use(more[i]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    use(all);
    use(half);
    for (int i = 0; i < (test_rank % 2 ? 5 : 2); i++)
        use_and_free(more[i]);
    use_and_free(half);
    use_and_free(all);
}

/* MPI_Comm_disconnect waits for pending operations, not for the program to collect completed ones. */
CASE(disconnect_with_requests) {
    MPI_Comm comm;
    MPI_Request requests[2];
    int in = 0, out = test_rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&in, 1, MPI_INT, previous(), 0, comm, &requests[0]);
    barrier();
    MPI_Isend(&out, 1, MPI_INT, peer(), 0, comm, &requests[1]);
    MPI_Comm_disconnect(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_eq(in, previous());
}

CASE(disconnect_with_an_inactive_request) {
    SKIP_IF(!own_messages(), "MPICH waits for the inactive request");
    MPI_Comm comm;
    MPI_Request request;
    int in;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(&in, 1, MPI_INT, previous(), 0, comm, &request);
    MPI_Comm_disconnect(&comm);
    MPI_Request_free(&request);
}

/* MPI_Comm_free does not block: handles may be freed in any order, and while a receive is pending. */
CASE(freed_in_any_order) {
    MPI_Comm a, b;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    MPI_Comm_free(test_rank % 2 ? &a : &b);
    MPI_Comm_free(test_rank % 2 ? &b : &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    if (test_rank % 2) {
        MPI_Irecv(NULL, 0, MPI_INT, previous(), 0, a, &request);
        MPI_Comm_free(&a);
        barrier();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        barrier();
        if (test_rank + 1 < test_size)
            MPI_Ssend(NULL, 0, MPI_INT, peer(), 0, a);
        MPI_Comm_free(&a);
    }
}

static int copies;

static int count_copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag) {
    copies++;
    *flag = 1;
    *(void **)out = in;
    return MPI_SUCCESS;
}

/* Both MPIs duplicate the communicator of a window or a file once. Hearth does not duplicate it. */
CASE(windows_and_files_copy_attributes_once) {
    struct flag name = make_flag();
    MPI_Comm comm;
    MPI_File file;
    MPI_Win win;
    int key;
    static int word;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    copies = 0;
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    expect_eq(copies, 1);
    MPI_File_open(comm, name.path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    expect_eq(copies, 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
    remove_flag(&name);
}
