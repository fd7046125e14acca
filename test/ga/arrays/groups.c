/* groups.c: tests process groups, their arrays, and operations inside a group while other ranks do something else. */
#include <ga-mpi.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

/* Lists the ranks of one parity; there is one group per parity. */
static int list_parity(int parity, int list[]) {
    int count = 0;
    for (int rank = parity; rank < ranks; rank += 2)
        list[count++] = rank;
    return count;
}

/* All ranks make both groups; each rank is in one of them. */
static int make_group(int *count, int list[]) {
    int groups[2] = {0, 0}, halves = ranks > 1 ? 2 : 1;
    for (int parity = 0; parity < halves; parity++) {
        *count = list_parity(parity, list);
        groups[parity] = turn() ? GA_Pgroup_create(list, *count) : NGA_Pgroup_create(list, *count);
    }
    *count = list_parity(me % 2, list);
    return groups[me % 2];
}

static void drop_group(int group) {
    GA_Pgroup_sync(group);
    expect(turn() ? GA_Pgroup_destroy(group) : NGA_Pgroup_destroy(group));
}

static int create_on(int group, int type, int ndim, int dims[], int how) {
    int array, block[] = {1, 1, 1}, map[] = {0, 0, 0};
    struct wide wd = widen(dims, ndim), wb = widen(block, ndim), wm = widen(map, ndim);
    switch (how) {
    case 0:
        return NGA_Create_config(type, ndim, dims, "group", NULL, group);
    case 1:
        return NGA_Create_config64(type, ndim, wd.at, "group", NULL, group);
    case 2:
        return NGA_Create_irreg_config(type, ndim, dims, "group", block, map, group);
    case 3:
        return NGA_Create_irreg_config64(type, ndim, wd.at, "group", wb.at, wm.at, group);
    }
    array = GA_Create_handle();
    GA_Set_data(array, ndim, dims, type);
    if (how == 4)
        GA_Set_pgroup(array, group);
    else
        NGA_Set_pgroup(array, group);
    GA_Allocate(array);
    return array;
}

CASE(who_is_in) {
    int list[64], count, group = make_group(&count, list);
    expect_eq(GA_Pgroup_nnodes(group), count);
    expect_eq(NGA_Pgroup_nnodes(group), count);
    expect_eq(GA_Get_pgroup_size(group), count);
    expect_eq(NGA_Get_pgroup_size(group), count);
    expect_eq(GA_Pgroup_nodeid(group), me / 2);
    expect_eq(NGA_Pgroup_nodeid(group), me / 2);
    for (int i = 0; i < count; i++) {
        expect_eq(GA_Pgroup_absolute_id(group, i), list[i]);
        expect_eq(NGA_Pgroup_absolute_id(group, i), list[i]);
    }
    expect_eq(GA_Pgroup_get_world(), NGA_Pgroup_get_world());
    expect_eq(GA_Pgroup_get_default(), NGA_Pgroup_get_default());
    expect_eq(GA_Pgroup_nnodes(GA_Pgroup_get_world()), ranks);
    drop_group(group);
}

/* The groups have different arrays at the same time. */
CASE(arrays_of_groups) {
    int list[64], count, group = make_group(&count, list), dims[] = {11, 6, 5};
    uint64_t state = test_seed + (uint64_t)(me % 2);
    for (int how = 0; how < 6; how++) {
        struct grid grid = grid_new(C_DBL, 3, dims);
        int array = create_on(group, C_DBL, 3, dims, how);
        if (!expect(array != 0))
            continue;
        expect_eq(turn() ? GA_Get_pgroup(array) : NGA_Get_pgroup(array), group);
        grid_fill(&grid, &state);
        struct box all = whole(&grid);
        struct piece piece = piece_new(&grid, &all, &state);
        grid_acc(&grid, &all, &piece, 0);
        for (int i = 0; i < grid.count; i++) /* gets the group's elements one by one, in row-major order */
            if (i % count == me / 2) {
                int at[] = {i / 30, i / 5 % 6, i % 5};
                double value = creal(grid.at[i]);
                NGA_Put(array, at, at, &value, (int[]){1, 1});
            }
        if (turn())
            GA_Pgroup_sync(group);
        else
            NGA_Pgroup_sync(group);
        expect_array(array, &grid);
        GA_Pgroup_sync(group);
        GA_Destroy(array);
        piece_free(&piece);
        grid_free(&grid);
    }
    drop_group(group);
}

/* The same program on half of the ranks: all that it creates belongs to the group. */
CASE(default_group) {
    int list[64], count, group = make_group(&count, list), dims[] = {40}, before = GA_Pgroup_get_default();
    if (turn())
        GA_Pgroup_set_default(group);
    else
        NGA_Pgroup_set_default(group);
    expect_eq(GA_Pgroup_get_default(), group);
    expect_eq(GA_Nnodes(), count);
    expect_eq(GA_Nodeid(), me / 2);
    int array = NGA_Create(C_LONG, 1, dims, "default", NULL), zero[] = {0};
    expect_eq(GA_Get_pgroup(array), group);
    GA_Zero(array);
    for (int i = 0; i < 20; i++)
        NGA_Read_inc(array, zero, 1);
    GA_Sync(); /* of the group */
    expect_eq(NGA_Read_inc(array, zero, 0), 20 * count);
    long sum = 1, filled = 3;
    GA_Lgop(&sum, 1, "+");
    expect_eq(sum, count);
    GA_Fill(array, &filled);
    expect_eq(GA_Ldot(array, array), 9 * 40);
    GA_Destroy(array);
    GA_Pgroup_set_default(before);
    expect_eq(GA_Nnodes(), ranks);
    GA_Sync();
    drop_group(group);
}

CASE(sums_in_groups) {
    int list[64], count, group = make_group(&count, list), total = 0;
    for (int i = 0; i < count; i++)
        total += list[i];
    for (int names = 0; names < 2; names++) {
        int i[2] = {me, 1};
        long l[2] = {me, 1};
        long long ll[2] = {me, 1};
        float f[2] = {(float)me, 1};
        double d[2] = {me, 1};
        DoubleComplex z[1] = {{me, 1}};
        SingleComplex c[1] = {{(float)me, 1}};
        if (names == 0) {
            GA_Pgroup_igop(group, i, 2, "+");
            GA_Pgroup_lgop(group, l, 2, "+");
            GA_Pgroup_llgop(group, ll, 2, "+");
            GA_Pgroup_fgop(group, f, 2, "+");
            GA_Pgroup_dgop(group, d, 2, "+");
            GA_Pgroup_zgop(group, z, 1, "+");
        } else {
            NGA_Pgroup_igop(group, i, 2, "+");
            NGA_Pgroup_lgop(group, l, 2, "+");
            NGA_Pgroup_llgop(group, ll, 2, "+");
            NGA_Pgroup_fgop(group, f, 2, "+");
            NGA_Pgroup_dgop(group, d, 2, "+");
            NGA_Pgroup_zgop(group, z, 1, "+");
        }
        GA_Pgroup_cgop(group, c, 1, "+");
        expect(i[0] == total && l[0] == total && ll[0] == total);
        expect(f[0] == (float)total && d[0] == total && z[0].real == total && c[0].real == (float)total);
        expect(i[1] == count && l[1] == count && ll[1] == count);
        expect(f[1] == (float)count && d[1] == count && z[0].imag == count && c[0].imag == (float)count);
    }
    double largest = me;
    GA_Pgroup_dgop(group, &largest, 1, "max");
    expect(largest == list[count - 1]);
    drop_group(group);
}

CASE(broadcasts_in_groups) {
    int list[64], count, group = make_group(&count, list);
    for (int root = 0; root < count; root++) {
        double data[100];
        for (int i = 0; i < 100; i++)
            data[i] = me * 100 + i;
        GA_Pgroup_brdcst(group, data, sizeof data, root);
        for (int i = 0; i < 100; i++)
            expect(data[i] == list[root] * 100 + i);
    }
    drop_group(group);
}

/* Groups made by splitting others. */
CASE(splits) {
    int parts = ranks > 1 ? 2 : 1;
    for (int names = 0; names < 2; names++) {
        int world = GA_Pgroup_get_world();
        int part = names ? NGA_Pgroup_split(world, parts) : GA_Pgroup_split(world, parts);
        int sum = 1;
        GA_Pgroup_igop(part, &sum, 1, "+");
        expect_eq(sum, GA_Pgroup_nnodes(part));
        expect(GA_Pgroup_absolute_id(part, GA_Pgroup_nodeid(part)) == me);
        drop_group(part);
        int colour = names ? NGA_Pgroup_split_irreg(world, me % 2) : GA_Pgroup_split_irreg(world, me % 2);
        sum = me % 2;
        GA_Pgroup_igop(colour, &sum, 1, "+");
        expect_eq(sum, me % 2 ? GA_Pgroup_nnodes(colour) : 0);
        drop_group(colour);
        GA_Sync();
    }
}

/* There is no case for GA_Pgroup_duplicate: in libga 5.8.2 it makes a group of ranks other than the original's members. */
CASE(alone) {
    for (int names = 0; names < 2; names++) {
        int self = names ? NGA_Pgroup_self() : GA_Pgroup_self(), sum = 1;
        expect_eq(GA_Pgroup_nnodes(self), 1);
        GA_Pgroup_igop(self, &sum, 1, "+");
        expect_eq(sum, 1);
    }
}

/* The communicator of a group is an MPI communicator. */
CASE(communicators) {
    int list[64], count, group = make_group(&count, list), size, rank, sum = 1;
    MPI_Comm comm = GA_MPI_Comm_pgroup(group);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    expect(size == count && rank == me / 2);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect_eq(sum, count);
    MPI_Comm_size(GA_MPI_Comm(), &size);
    expect_eq(size, ranks);
    MPI_Comm_size(GA_MPI_Comm_pgroup_default(), &size);
    expect_eq(size, ranks);
    drop_group(group);
}

/* One group works and syncs while the other does not take part. */
CASE(groups_do_not_wait_for_each_other) {
    int list[64], count, group = make_group(&count, list), dims[] = {64}, zero[] = {0};
    int world = NGA_Create(C_LONG, 1, dims, "world", NULL);
    GA_Zero(world);
    for (int i = 0; i < (me % 2 ? 3 : 30); i++) {
        NGA_Read_inc(world, zero, 1); /* an array of all ranks, used inside the group */
        GA_Pgroup_sync(group);
    }
    GA_Sync();
    int even = (ranks + 1) / 2, odd = ranks / 2;
    expect_eq(NGA_Read_inc(world, zero, 0), 30 * even + 3 * odd);
    GA_Sync();
    GA_Destroy(world);
    drop_group(group);
}

/* Copies between an array of a group and an array of all ranks. */
CASE(copies_between_groups) {
    int list[64], count, group = make_group(&count, list), dims[] = {12, 9}, lo[] = {0, 0}, hi[] = {11, 8};
    struct grid grid = grid_new(C_DBL, 2, dims);
    uint64_t state = test_seed;
    grid_fill(&grid, &state);
    int world = array_of(&grid), array = create_on(group, C_DBL, 2, dims, 0);
    double values[12 * 9];
    int ld[] = {9};
    NGA_Get(world, lo, hi, values, ld);
    if (me / 2 == 0)
        NGA_Put(array, lo, hi, values, ld);
    GA_Pgroup_sync(group);
    expect_array(array, &grid);
    GA_Pgroup_sync(group);
    GA_Destroy(array);
    GA_Sync();
    GA_Destroy(world);
    grid_free(&grid);
    drop_group(group);
}
