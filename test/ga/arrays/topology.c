/* topology.c: tests which ranks share a node, and arrays that are mirrored on each node.
 *
 * An ARMCI may report the real nodes, or each rank as a node of its own. Both are correct here if all answers are
 * consistent. */
#include <stdlib.h>

#include "grid.h"

CASE(nodes_add_up) {
    int nodes = GA_Cluster_nnodes(), mine = GA_Cluster_nodeid(), total = 0;
    int *seen = need((size_t)ranks * sizeof *seen);
    expect(nodes >= 1 && nodes <= ranks && mine >= 0 && mine < nodes);
    for (int node = 0; node < nodes; node++) {
        int count = GA_Cluster_nprocs(node);
        expect(count >= 1);
        total += count;
        for (int i = 0; i < count; i++) {
            int rank = GA_Cluster_procid(node, i);
            if (!expect(rank >= 0 && rank < ranks))
                continue;
            expect_eq(GA_Cluster_proc_nodeid(rank), node);
            seen[rank]++;
        }
    }
    expect_eq(total, ranks);
    expect_eq(GA_Cluster_proc_nodeid(me), mine);
    for (int rank = 0; rank < ranks; rank++)
        expect_eq(seen[rank], 1);
    free(seen);
}

/* Asks for at most two ranks: with more, libga 5.8.2 overruns an internal list of half the required length. */
CASE(list_of_ranks) {
    int list[2], count = ranks < 2 ? ranks : 2;
    for (int names = 0; names < 2; names++) {
        if (names)
            NGA_List_nodeid(list, count);
        else
            GA_List_nodeid(list, count);
        for (int rank = 0; rank < count; rank++)
            expect_eq(list[rank], rank);
    }
    expect_eq(GA_Nodeid(), me);
    expect_eq(NGA_Nodeid(), me);
    expect_eq(GA_Nnodes(), ranks);
    expect_eq(NGA_Nnodes(), ranks);
}

static int create_mirrored(int dims[]) {
    int group = turn() ? GA_Pgroup_get_mirror() : NGA_Pgroup_get_mirror();
    return NGA_Create_config(C_DBL, 2, dims, "mirrored", NULL, group);
}

/* Each rank adds to its node's copy; the merge makes all copies equal to the sum. */
CASE(merged_copies) {
    int dims[] = {15, 8}, lo[] = {0, 0}, hi[] = {14, 7}, ld[] = {8};
    double ones[15 * 8], one = 1;
    struct grid grid = grid_new(C_DBL, 2, dims);
    for (int i = 0; i < 15 * 8; i++) {
        ones[i] = i;
        grid.at[i] = (double)i * ranks;
    }
    for (int names = 0; names < 2; names++) {
        int array = create_mirrored(dims);
        expect_eq(names ? NGA_Is_mirrored(array) : GA_Is_mirrored(array), GA_Cluster_nnodes() > 1);
        GA_Zero(array);
        GA_Sync();
        NGA_Acc(array, lo, hi, ones, ld, &one);
        GA_Sync();
        if (names)
            NGA_Merge_mirrored(array);
        else
            GA_Merge_mirrored(array);
        GA_Sync();
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
    }
    grid_free(&grid);
}

/* The sum of a box over all copies, in a distributed array. */
CASE(merged_into_a_distributed_array) {
    int dims[] = {15, 8}, lo[] = {2, 1}, hi[] = {9, 6}, ld[] = {6};
    double values[8 * 6], one = 1;
    struct grid grid = grid_new(C_DBL, 2, dims);
    for (int i = 0; i < 8 * 6; i++) {
        int at[] = {2 + i / 6, 1 + i % 6};
        values[i] = i + 1;
        grid.at[grid_offset(&grid, at)] = (i + 1.) * ranks;
    }
    for (int wide = 0; wide < 2; wide++) {
        int array = create_mirrored(dims), whole_array = NGA_Create(C_DBL, 2, dims, "whole", NULL);
        GA_Zero(array);
        GA_Zero(whole_array);
        GA_Sync();
        NGA_Acc(array, lo, hi, values, ld, &one);
        GA_Sync();
        if (wide) {
            int64_t wide_lo[] = {2, 1}, wide_hi[] = {9, 6};
            NGA_Merge_distr_patch64(array, wide_lo, wide_hi, whole_array, wide_lo, wide_hi);
        } else {
            NGA_Merge_distr_patch(array, lo, hi, whole_array, lo, hi);
        }
        GA_Sync();
        expect_array(whole_array, &grid);
        GA_Sync();
        GA_Destroy(array);
        GA_Destroy(whole_array);
    }
    grid_free(&grid);
}
