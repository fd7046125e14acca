/* messages.c: tests messages, barriers, broadcasts and trees. */
/* configs: node real */
#include "test.h"

#include <message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ARMCI-MPI only declares these. */
#pragma weak armci_exchange_address
#pragma weak armci_exchange_address_grp
#pragma weak armci_msg_clus_brdcst
#pragma weak armci_grp_clus_brdcst

enum { MOST = 64, LARGEST = 1 << 20 };

static int next(void) {
    return (test_rank + 1) % test_size;
}

static int previous(void) {
    return (test_rank + test_size - 1) % test_size;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

CASE(who_and_how_many) {
    expect_eq(armci_msg_me(), test_rank);
    expect_eq(armci_msg_nproc(), test_size);
}

CASE(time_goes_on) {
    double start = armci_timer(), own = now();
    usleep(20000);
    double took = armci_timer() - start, really = now() - own;
    expect(took >= 0.019);
    expect(took <= really + 0.001);
}

/* ---- messages ---- */

/* A rank that sends to itself may wait forever. */
#define NEEDS_TWO() SKIP_IF(test_size < 2, "needs two processes")

static void send_to(int to, int tag, size_t bytes, int version) {
    char *data = malloc(bytes + 1);
    test_fill(data, bytes, test_rank, version);
    armci_msg_snd(tag, data, (int)bytes, to);
    free(data);
}

static void receive_from(int from, int tag, size_t bytes, int version, size_t room) {
    char *got = calloc(room + 1, 1), *want = malloc(bytes + 1);
    int length = -1;
    test_fill(want, bytes, from, version);
    armci_msg_rcv(tag, got, (int)room, &length, from);
    expect_eq(length, bytes);
    expect_bytes(got, want, bytes);
    free(want);
    free(got);
}

/* Around the ring: a large message waits for its receiver. */
CASE(sizes) {
    static const size_t sizes[] = {0, 1, 7, 8, 100, 4096, 70001, LARGEST};
    NEEDS_TWO();
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        if (test_rank == 0)
            send_to(next(), i, sizes[i], i);
        receive_from(previous(), i, sizes[i], i, sizes[i]);
        if (test_rank != 0)
            send_to(next(), i, sizes[i], i);
    }
}

CASE(a_buffer_may_be_longer) {
    NEEDS_TWO();
    send_to(next(), 3, 10, 1);
    receive_from(previous(), 3, 10, 1, 1000);
}

CASE(length_need_not_be_asked) {
    NEEDS_TWO();
    int value = test_rank, got = -1;
    armci_msg_snd(4, &value, sizeof value, next());
    armci_msg_rcv(4, &got, sizeof got, NULL, previous());
    expect_eq(got, previous());
}

CASE(tags_are_apart) {
    NEEDS_TWO();
    for (int tag = 10; tag < 20; tag++)
        send_to(next(), tag, (size_t)tag, tag);
    for (int tag = 19; tag >= 10; tag--)
        receive_from(previous(), tag, (size_t)tag, tag, 100);
}

CASE(one_tag_keeps_its_order) {
    NEEDS_TWO();
    for (int i = 0; i < 50; i++)
        send_to(next(), 7, (size_t)i, i);
    for (int i = 0; i < 50; i++)
        receive_from(previous(), 7, (size_t)i, i, 100);
}

CASE(from_anyone) {
    int seen[MOST] = {0}, value = 100 + test_rank, length;
    for (int i = 0; i < test_size; i++)
        if (i != test_rank)
            armci_msg_snd(8, &value, sizeof value, i);
    for (int i = 1; i < test_size; i++) {
        int got = -1, from = armci_msg_rcvany(8, &got, sizeof got, &length);
        expect_eq(got, 100 + from);
        expect_eq(length, sizeof got);
        if (expect(from >= 0 && from < test_size))
            seen[from]++;
    }
    for (int i = 0; i < test_size; i++)
        expect_eq(seen[i], i != test_rank);
}

/* The same tag and the same partner, on MPI_COMM_WORLD and here. */
CASE(messages_of_the_program_are_apart) {
    NEEDS_TWO();
    int ours = test_rank, theirs = 500 + test_rank, got = -1, got_theirs = -1;
    MPI_Request request;
    MPI_Isend(&theirs, 1, MPI_INT, next(), 9, MPI_COMM_WORLD, &request);
    armci_msg_snd(9, &ours, sizeof ours, next());
    armci_msg_rcv(9, &got, sizeof got, NULL, previous());
    MPI_Recv(&got_theirs, 1, MPI_INT, previous(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(got, previous());
    expect_eq(got_theirs, 500 + previous());
}

/* ---- barriers ---- */

/* All ranks are on one machine and have one clock: no rank leaves before the last has entered. */
static void expect_barrier(void (*meet)(ARMCI_Group *), ARMCI_Group *group, int late) {
    double came, left, last;
    if (test_rank == late)
        usleep((useconds_t)test_times(100000));
    came = now();
    meet(group);
    left = now();
    MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    expect(left >= last);
}

static void meet_all(ARMCI_Group *unused) {
    (void)unused;
    armci_msg_barrier();
}

static void meet_all_by_profiler(ARMCI_Group *unused) {
    (void)unused;
    parmci_msg_barrier();
}

CASE(nobody_leaves_a_barrier_early) {
    ARMCI_Group world;
    ARMCI_Group_get_world(&world);
    for (int late = 0; late < test_size; late++) {
        expect_barrier(meet_all, NULL, late);
        expect_barrier(meet_all_by_profiler, NULL, late);
        expect_barrier(armci_msg_group_barrier, &world, late);
        expect_barrier(parmci_msg_group_barrier, &world, late);
    }
}

/* ---- broadcasts ---- */

typedef void broadcast(void *buffer, int len, int root);

static void by_scope(void *buffer, int len, int root) {
    armci_msg_bcast_scope(SCOPE_ALL, buffer, len, root);
}

static void expect_broadcast(broadcast *send, size_t bytes, int root, int version) {
    char *data = malloc(bytes + 1), *want = malloc(bytes + 1);
    test_fill(data, bytes, test_rank, version);
    test_fill(want, bytes, root, version);
    send(data, (int)bytes, root);
    expect_bytes(data, want, bytes);
    free(want);
    free(data);
}

CASE(broadcasts_from_every_root) {
    static const size_t sizes[] = {0, 1, 13, 4096, LARGEST};
    for (int root = 0; root < test_size; root++)
        for (int i = 0; i < 5; i++) {
            expect_broadcast(armci_msg_bcast, sizes[i], root, i);
            expect_broadcast(armci_msg_brdcst, sizes[i], root, i);
            expect_broadcast(by_scope, sizes[i], root, i);
        }
}

CASE(broadcasts_inside_nodes_and_between_masters) {
    int node = test_node(test_rank), master = test_master(node), value = test_rank;
    armci_msg_bcast_scope(SCOPE_NODE, &value, sizeof value, master);
    expect_eq(value, master);
    value = test_rank;
    armci_msg_bcast_scope(SCOPE_MASTERS, &value, sizeof value, test_master(test_nodes() - 1));
    expect_eq(value, test_rank == master ? test_master(test_nodes() - 1) : test_rank);
}

/* In a group in reverse order, whose masters differ from those of the world group. */
CASE(broadcasts_inside_nodes_of_a_group) {
    int list[MOST], node = test_node(test_rank), master = -1, value = test_rank;
    ARMCI_Group g;
    for (int i = 0; i < test_size; i++) {
        list[i] = test_size - 1 - i;
        if (test_node(i) == node)
            master = i;
    }
    ARMCI_Group_create(test_size, list, &g);
    armci_msg_group_bcast_scope(SCOPE_NODE, &value, sizeof value, master, &g);
    expect_eq(value, master);
    value = test_rank;
    armci_msg_group_bcast_scope(SCOPE_MASTERS, &value, sizeof value, test_size - 1, &g);
    expect_eq(value, test_rank == master ? test_size - 1 : test_rank);
    ARMCI_Group_free(&g);
}

CASE(broadcast_to_the_own_node) {
    SKIP_IF(!armci_msg_clus_brdcst && !test_ours, "ARMCI-MPI only declares it");
    int value = test_rank;
    armci_msg_clus_brdcst(&value, sizeof value);
    expect_eq(value, test_master(test_node(test_rank)));
}

CASE(broadcast_to_a_range_of_a_group) {
    SKIP_IF(!armci_grp_clus_brdcst && !test_ours, "ARMCI-MPI only declares it");
    ARMCI_Group world;
    ARMCI_Group_get_world(&world);
    for (int length = 1; length <= test_size; length++) {
        int first = test_rank / length * length, value = test_rank;
        int count = first + length <= test_size ? length : test_size - first;
        armci_grp_clus_brdcst(&value, sizeof value, first, count, &world);
        expect_eq(value, first);
    }
}

/* ---- addresses ---- */

static void *address_of(int rank) {
    return (void *)(uintptr_t)test_number(rank, 0, 42);
}

CASE(addresses_of_all) {
    SKIP_IF(!armci_exchange_address && !test_ours, "ARMCI-MPI only declares it");
    void *addresses[MOST] = {NULL};
    addresses[test_rank] = address_of(test_rank);
    armci_exchange_address(addresses, test_size);
    for (int i = 0; i < test_size; i++)
        expect(addresses[i] == address_of(i));
}

CASE(addresses_of_a_group) {
    SKIP_IF(!armci_exchange_address_grp && !test_ours, "ARMCI-MPI only declares it");
    void *addresses[MOST] = {NULL};
    int list[MOST], count = (test_size + 1) / 2;
    ARMCI_Group g;
    for (int i = 0; i < count; i++)
        list[i] = test_size - 1 - i;
    ARMCI_Group_create(count, list, &g);
    if (g.rank < 0)
        return;
    addresses[g.rank] = address_of(test_rank);
    armci_exchange_address_grp(addresses, count, &g);
    for (int i = 0; i < count; i++)
        expect(addresses[i] == address_of(list[i]));
    ARMCI_Group_free(&g);
}

/* ---- trees ---- */

struct place {
    int root, up, left, right;
};

static void expect_tree(const struct place *all, int with_parent) {
    int reached = 0;
    for (int i = 0; i < test_size; i++) {
        const struct place *p = &all[i];
        if (p->left >= 0)
            expect_eq(all[p->left].up, i);
        if (p->right >= 0)
            expect_eq(all[p->right].up, i);
        if (p->up >= 0)
            expect(all[p->up].left == i || all[p->up].right == i);
        reached += p->up >= 0;
    }
    expect_eq(reached, with_parent);
}

static void gather_places(int scope, struct place *all) {
    struct place mine = {-9, -9, -9, -9};
    armci_msg_bintree(scope, &mine.root, &mine.up, &mine.left, &mine.right);
    MPI_Allgather(&mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
}

CASE(trees) {
    struct place all[MOST];
    gather_places(SCOPE_ALL, all);
    expect_tree(all, test_size - 1); /* all ranks but the root have a parent */
    expect_eq(all[test_rank].root, 0);
    gather_places(SCOPE_MASTERS, all);
    expect_tree(all, test_nodes() - 1);
    expect_eq(all[test_rank].root, 0);
    for (int i = 0; i < test_size; i++)
        if (test_master(test_node(i)) != i)
            expect(all[i].up == -1 && all[i].left == -1 && all[i].right == -1);
}

CASE(trees_inside_nodes) {
    SKIP_IF_STOCK(); /* it leaves *Up unchanged, and returns 0 as the root of all nodes */
    struct place all[MOST];
    gather_places(SCOPE_NODE, all);
    expect_tree(all, test_size - test_nodes());
    for (int i = 0; i < test_size; i++) {
        expect_eq(all[i].root, test_master(test_node(i)));
        if (all[i].up >= 0)
            expect_eq(test_node(all[i].up), test_node(i));
    }
}

/* ---- the end of the job ---- */

ON_CALL(error_ends_the_job) {
    ARMCI_Cleanup();
    if (test_rank == 0)
        ARMCI_Error("the program says so", 0);
    armci_msg_barrier();
}

ON_CALL(abort_ends_the_job) {
    if (test_rank == test_size - 1)
        armci_msg_abort(7);
    armci_msg_barrier();
}

ON_CALL(no_such_root) {
    int value = 0;
    armci_msg_bcast(&value, sizeof value, test_size);
}
