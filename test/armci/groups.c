/* groups.c: tests the members of groups, their ranks, and communication within a group. */
/* configs: node real */
#include "test.h"

#include <armcix.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* ARMCI-MPI frees what it finds in the group of a process that is not a member, so the group must be empty. */
static ARMCI_Group no_group(void) {
    ARMCI_Group g;
    memset(&g, 0, sizeof g);
    return g;
}

/* A random list of ranks below `count`, in random order, the same on all ranks; returns its length. */
static int random_list(int count, int version, int *list) {
    int chosen = 1 + (int)(test_number(0, 0, version) % (uint64_t)count);
    for (int i = 0; i < count; i++)
        list[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(test_number(0, (size_t)i, version) % (uint64_t)(i + 1)), t = list[i];
        list[i] = list[j];
        list[j] = t;
    }
    return chosen;
}

static int position(int rank, const int *list, int count) {
    for (int i = 0; i < count; i++)
        if (list[i] == rank)
            return i;
    return -1;
}

static void expect_ranks(ARMCI_Group *g, const int *absolute, int count) {
    int rank, size, of_comm;
    expect_eq(ARMCI_Group_rank(g, &rank), 0);
    ARMCI_Group_size(g, &size);
    expect_eq(rank, position(test_rank, absolute, count));
    expect_eq(size, count);
    MPI_Comm_rank(g->comm, &of_comm);
    expect_eq(of_comm, rank);
    MPI_Comm_size(g->comm, &of_comm);
    expect_eq(of_comm, count);
    for (int i = 0; i < count; i++) {
        expect_eq(ARMCI_Absolute_id(g, i), absolute[i]);
        expect_eq(g->grp_to_abs[i], absolute[i]);
    }
    for (int i = 0; i < test_size; i++) {
        int p = position(i, absolute, count);
        expect_eq(g->abs_to_grp[i], p < 0 ? MPI_UNDEFINED : p);
    }
}

static void expect_communication(ARMCI_Group *g, const int *absolute, int count) {
    long sum = test_rank + 1, want = 0;
    for (int i = 0; i < count; i++)
        want += absolute[i] + 1;
    armci_msg_group_lgop(&sum, 1, "+", g);
    expect_eq(sum, want);
    for (int i = 0; i < count; i++) {
        int value = test_rank == absolute[i] ? 100 + i : -1;
        armci_msg_group_bcast_scope(SCOPE_ALL, &value, sizeof value, absolute[i], g);
        expect_eq(value, 100 + i);
    }
    armci_msg_group_barrier(g);
}

/* Checks the group of these processes on its members and on the others. */
static void expect_group(ARMCI_Group *g, const int *absolute, int count) {
    if (position(test_rank, absolute, count) >= 0) {
        expect_ranks(g, absolute, count);
        expect_communication(g, absolute, count);
        return;
    }
    int rank = 77, size = 77;
    expect(ARMCI_Group_rank(g, &rank) != 0);
    ARMCI_Group_size(g, &size);
    expect_eq(rank, -1);
    expect_eq(size, 0);
    expect(g->comm == MPI_COMM_NULL);
}

static void expect_freed(ARMCI_Group *g) {
    int rank, size;
    ARMCI_Group_free(g);
    expect(ARMCI_Group_rank(g, &rank) != 0);
    ARMCI_Group_size(g, &size);
    expect_eq(rank, -1);
    expect_eq(size, 0);
    expect(g->comm == MPI_COMM_NULL);
}

CASE(all_processes) {
    int all[MOST];
    ARMCI_Group world, same;
    for (int i = 0; i < test_size; i++)
        all[i] = i;
    ARMCI_Group_get_world(&world);
    ARMCI_Group_get_default(&same);
    expect_group(&world, all, test_size);
    expect(same.comm == world.comm);
    expect(world.comm != MPI_COMM_WORLD);
}

CASE(random_groups) {
    int list[MOST];
    for (int round = 0; round < 40; round++) {
        ARMCI_Group g = no_group();
        int count = random_list(test_size, round, list);
        ARMCI_Group_create(count, list, &g);
        expect_group(&g, list, count);
        expect_freed(&g);
    }
}

CASE(groups_inside_groups) {
    int list[MOST], inner[MOST], absolute[MOST];
    for (int round = 0; round < 20; round++) {
        ARMCI_Group parent = no_group(), child = no_group();
        int count = random_list(test_size, 1000 + round, list),
            below = random_list(count, 2000 + round, inner);
        for (int i = 0; i < below; i++)
            absolute[i] = list[inner[i]];
        ARMCI_Group_create(count, list, &parent);
        if (parent.rank >= 0) {
            ARMCI_Group_create_child(below, inner, &child, &parent);
            expect_group(&child, absolute, below);
            expect_freed(&child);
        }
        expect_freed(&parent);
    }
}

/* The default group is the parent of ARMCI_Group_create, and of no other call. */
CASE(default_group) {
    int list[MOST], reversed[MOST], absolute[MOST], count = (test_size + 1) / 2, sum = 1;
    ARMCI_Group world, half = no_group(), child = no_group(), now;
    ARMCI_Group_get_world(&world);
    for (int i = 0; i < count; i++) {
        list[i] = test_size - 1 - i;
        reversed[i] = count - 1 - i;
        absolute[i] = test_size - 1 - reversed[i];
    }
    ARMCI_Group_create(count, list, &half);
    if (half.rank >= 0) {
        ARMCI_Group_set_default(&half);
        ARMCI_Group_get_default(&now);
        expect(now.comm == half.comm);
        ARMCI_Group_create(count, reversed, &child);
        expect_group(&child, absolute, count);
        expect_freed(&child);
    }
    armci_msg_igop(&sum, 1, "+");
    expect_eq(sum, test_size);
    expect_eq(armci_msg_me(), test_rank);
    ARMCI_Group_set_default(&world);
    expect_freed(&half);
}

CASE(a_freed_group_is_no_longer_the_default) {
    SKIP_IF_STOCK();
    int self = test_rank;
    ARMCI_Group mine, now, world;
    ARMCI_Group_get_world(&world);
    ARMCI_Group_create(1, &self, &mine);
    ARMCI_Group_set_default(&mine);
    expect_freed(&mine);
    ARMCI_Group_get_default(&now);
    expect(now.comm == world.comm);
    expect_freed(&mine); /* again: the group no longer exists */
}

/* Only the members call; the others are busy elsewhere. */
CASE(members_alone_make_a_group) {
    SKIP_IF_STOCK();
    int list[MOST];
    for (int round = 0; round < 20; round++) {
        ARMCI_Group g;
        int count = random_list(test_size, 3000 + round, list);
        if (position(test_rank, list, count) < 0)
            continue;
        ARMCI_Group_create(count, list, &g);
        expect_group(&g, list, count);
        expect_freed(&g);
    }
}

/* Every two processes have a group. Each process makes its groups in its own order: lower partners first. */
CASE(pairs_in_any_order) {
    SKIP_IF_STOCK();
    ARMCI_Group pairs[MOST];
    for (int other = 0; other < test_size; other++) {
        int list[2] = {test_rank < other ? test_rank : other, test_rank < other ? other : test_rank};
        if (other != test_rank)
            ARMCI_Group_create(2, list, &pairs[other]);
    }
    for (int other = 0; other < test_size; other++) {
        int list[2] = {test_rank < other ? test_rank : other, test_rank < other ? other : test_rank};
        if (other == test_rank)
            continue;
        expect_group(&pairs[other], list, 2);
        expect_freed(&pairs[other]);
    }
}

/* MPI has a few thousand communicators: they must be freed. With more ranks than cores this takes too long. */
CASE(many_groups_one_after_another) {
    int list[MOST], rounds = test_size > 2 ? 150 : 2500;
    for (int i = 0; i < test_size; i++)
        list[i] = i;
    for (int round = 0; round < rounds; round++) {
        ARMCI_Group g = no_group();
        int sum = 1;
        ARMCI_Group_create(test_size, list, &g);
        if (round % 100 == 0) {
            armci_msg_group_gop_scope(SCOPE_NODE, &sum, 1, "+", ARMCI_INT, &g);
            armci_msg_group_gop_scope(SCOPE_MASTERS, &sum, 1, "+", ARMCI_INT, &g);
        }
        ARMCI_Group_free(&g);
    }
}

/* Copies are equivalent to the original: Global Arrays keeps groups by value. */
CASE(copies_of_a_group) {
    int list[MOST];
    ARMCI_Group original = no_group(), copy;
    for (int i = 0; i < test_size; i++)
        list[i] = test_size - 1 - i;
    ARMCI_Group_create(test_size, list, &original);
    memcpy(&copy, &original, sizeof copy);
    memset(&original, 0x55, sizeof original);
    for (int scope = SCOPE_ALL; scope <= SCOPE_MASTERS; scope++) {
        int sum = 1;
        armci_msg_group_gop_scope(scope, &sum, 1, "+", ARMCI_INT, &copy);
    }
    expect_group(&copy, list, test_size);
    expect_freed(&copy);
}

CASE(split_and_dup) {
    int odd[MOST], all[MOST], count = 0;
    ARMCI_Group world, split = no_group(), same = no_group();
    for (int i = test_size - 1; i >= 0; i--) {
        all[i] = i;
        if (i % 2 == test_rank % 2)
            odd[count++] = i;
    }
    ARMCI_Group_get_world(&world);
    expect_eq(ARMCIX_Group_split(&world, test_rank % 2, -test_rank, &split), 0);
    expect_group(&split, odd, count);
    expect_freed(&split);
    expect_eq(ARMCIX_Group_dup(&world, &same), 0);
    expect_group(&same, all, test_size);
    expect(same.comm != world.comm);
    expect_freed(&same);
}

CASE(split_without_a_color) {
    int rest[MOST], count = 0;
    ARMCI_Group world, split = no_group();
    for (int i = 1; i < test_size; i++)
        rest[count++] = i;
    ARMCI_Group_get_world(&world);
    expect_eq(ARMCIX_Group_split(&world, test_rank ? 1 : MPI_UNDEFINED, test_rank, &split), 0);
    expect_group(&split, rest, count);
    expect_freed(&split);
}

/* A group's communicator belongs to the program: ARMCI's messages are not on it. */
CASE(the_communicator_is_the_programs) {
    SKIP_IF_STOCK();
    SKIP_IF(test_size < 2, "needs two processes");
    ARMCI_Group world;
    int mine = test_rank, armcis = -1, programs = -1, next = (test_rank + 1) % test_size;
    int before = (test_rank + test_size - 1) % test_size, other = 1000 + test_rank;
    ARMCI_Group_get_world(&world);
    MPI_Request request;
    MPI_Isend(&other, 1, MPI_INT, next, 5, world.comm, &request);
    if (test_rank % 2 == 0)
        armci_msg_snd(5, &mine, sizeof mine, next);
    armci_msg_rcv(5, &armcis, sizeof armcis, NULL, before);
    if (test_rank % 2)
        armci_msg_snd(5, &mine, sizeof mine, next);
    MPI_Recv(&programs, 1, MPI_INT, before, 5, world.comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(armcis, before);
    expect_eq(programs, 1000 + before);
}

ON_CALL(list_names_a_stranger) {
    int list[2] = {0, test_size};
    ARMCI_Group g;
    ARMCI_Group_create(2, list, &g);
}

ON_CALL(list_names_one_twice) {
    int list[2] = {0, 0};
    ARMCI_Group g;
    ARMCI_Group_create(2, list, &g);
}
