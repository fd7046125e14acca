/* unit_mpi_node_set.c: tests sets of nodes: their members are visited in ascending order, whatever their number, and none else. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/windows/serving/remote/node_set.h"

enum { MOST = 300 };

/* Visits the set and compares it with the members. */
static void check(int count, const bool *members) {
    uint64_t *set = calloc(1, node_set_bytes(count));
    for (int i = 0; i < count; i++)
        if (members[i])
            node_set_add(set, i);
    int node = node_set_next(set, count, 0);
    for (int i = 0; i < count; i++)
        if (members[i]) {
            expect_eq(node, i);
            node = node_set_next(set, count, node + 1);
        }
    expect_eq(node, count);
    free(set);
}

TEST(empty_and_full_sets)
{
    bool members[MOST] = {false};
    for (int count = 0; count <= MOST; count++)
        check(count, members);
    memset(members, true, sizeof members);
    for (int count = 0; count <= MOST; count++)
        check(count, members);
}

TEST(one_member)
{
    for (int i = 0; i < MOST; i++) {
        bool members[MOST] = {false};
        members[i] = true;
        check(MOST, members);
        check(i + 1, members);
    }
}

TEST(regular_sets)
{
    for (int step = 2; step < 2 * 64 + 2; step++) {
        bool members[MOST] = {false};
        for (int i = step - 1; i < MOST; i += step)
            members[i] = true;
        check(MOST, members);
    }
}

TEST(a_bit_for_each_node)
{
    expect_eq(node_set_bytes(1), 8);
    expect_eq(node_set_bytes(64), 8);
    expect_eq(node_set_bytes(65), 16);
    expect_eq(node_set_bytes(125000), 15632);
}
