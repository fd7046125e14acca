/* access.c: tests direct access to a rank's own part of an array: others get what it stores, and it loads what others
 * put. Also tests the functions that report the distribution. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

static int dims[] = {14, 11, 6};

static long number_at(const int at[], int version) {
    return version * 100000 + at[0] * 1000 + at[1] * 10 + at[2];
}

static void set_grid(struct grid *grid, int version) {
    struct box all = whole(grid);
    int at[GA_MAX_DIM] = {0};
    for (long i = 0; i < grid->count; i++) {
        grid->at[i] = (double)number_at(at, version);
        box_next(grid->ndim, &all, at);
    }
}

typedef void element(long *at_memory, const int at[], int version);

static void store_element(long *at_memory, const int at[], int version) {
    *at_memory = number_at(at, version);
}

static void expect_element(long *at_memory, const int at[], int version) {
    expect_eq(*at_memory, number_at(at, version));
}

static void for_box(long *memory, const int ld[], const int lo[], const int hi[], int version,
                    element *do_it) {
    int at[3];
    for (at[0] = lo[0]; at[0] <= hi[0]; at[0]++)
        for (at[1] = lo[1]; at[1] <= hi[1]; at[1]++)
            for (at[2] = lo[2]; at[2] <= hi[2]; at[2]++)
                do_it(&memory[((long)(at[0] - lo[0]) * ld[0] + at[1] - lo[1]) * ld[1] + at[2] - lo[2]], at,
                      version);
}

static long *open_part(int array, int lo[], int hi[], int ld[]) {
    long *memory;
    if (turn()) {
        NGA_Access(array, lo, hi, &memory, ld);
    } else {
        struct wide wide;
        NGA_Access64(array, WIDE(lo, array), WIDE(hi, array), &memory, wide.at);
        ld[0] = (int)wide.at[0], ld[1] = (int)wide.at[1];
    }
    return memory;
}

static void close_part(int array, int lo[], int hi[], bool changed) {
    if (changed && turn())
        NGA_Release_update(array, lo, hi);
    else if (changed)
        NGA_Release_update64(array, WIDE(lo, array), WIDE(hi, array));
    else if (turn())
        NGA_Release(array, lo, hi);
    else
        NGA_Release64(array, WIDE(lo, array), WIDE(hi, array));
}

CASE(own_part) {
    struct grid grid = grid_new(C_LONG, 3, dims);
    int array = NGA_Create(C_LONG, 3, dims, "own", NULL), lo[3], hi[3], ld[2];
    NGA_Distribution(array, me, lo, hi);
    bool any = lo[0] >= 0 && hi[0] >= lo[0];
    for (int version = 1; version <= 6; version += 2) {
        if (any) {
            for_box(open_part(array, lo, hi, ld), ld, lo, hi, version, store_element);
            close_part(array, lo, hi, true);
        }
        GA_Sync();
        set_grid(&grid, version);
        expect_array(array, &grid);
        GA_Sync();
        set_grid(&grid, version + 1);
        array_set(array, &grid);
        if (any) {
            for_box(open_part(array, lo, hi, ld), ld, lo, hi, version + 1, expect_element);
            close_part(array, lo, hi, false);
        }
        GA_Sync();
    }
    GA_Destroy(array);
    grid_free(&grid);
}

/* ---- blocks of a block-cyclic array ---- */

static int create_blocks(void) {
    int block[] = {3, 4, 2}, array = GA_Create_handle();
    GA_Set_data(array, 3, dims, C_LONG);
    GA_Set_block_cyclic(array, block);
    GA_Allocate(array);
    return array;
}

static long *open_block(int array, int block, int ld[]) {
    long *memory;
    if (turn()) {
        NGA_Access_block(array, block, &memory, ld);
    } else {
        struct wide wide;
        NGA_Access_block64(array, block, &memory, wide.at);
        ld[0] = (int)wide.at[0], ld[1] = (int)wide.at[1];
    }
    return memory;
}

CASE(own_blocks) {
    struct grid grid = grid_new(C_LONG, 3, dims);
    int array = create_blocks(), total = GA_Total_blocks(array);
    for (int b = me; b < total; b += ranks) { /* distributed in turn */
        int lo[3], hi[3], ld[2];
        NGA_Distribution(array, b, lo, hi);
        for_box(open_block(array, b, ld), ld, lo, hi, 3, store_element);
        NGA_Release_update_block(array, b);
    }
    GA_Sync();
    set_grid(&grid, 3);
    expect_array(array, &grid);
    GA_Sync();
    set_grid(&grid, 4);
    array_set(array, &grid);
    for (int b = me; b < total; b += ranks) {
        int lo[3], hi[3], ld[2];
        NGA_Distribution(array, b, lo, hi);
        for_box(open_block(array, b, ld), ld, lo, hi, 4, expect_element);
        NGA_Release_block(array, b);
    }
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* Blocks by their coordinates in the grid of blocks. Only blocks on the diagonal of a square: libga 5.8.2 is
 * inconsistent in the order of grid coordinates. */
static void visit_diagonal(int array, int side, int size, int version) {
    for (int b = me; b * size < side; b += ranks) {
        int at[] = {b, b}, ld[1], last = b * size + size < side ? size : side - b * size;
        struct wide wide;
        long *memory;
        if (version == 1) {
            NGA_Access_block_grid(array, at, &memory, ld);
        } else {
            NGA_Access_block_grid64(array, widen(at, 2).at, &memory, wide.at);
            ld[0] = (int)wide.at[0];
        }
        for (int i = 0; i < last * last; i++) {
            long *at_memory = &memory[i / last * ld[0] + i % last];
            if (version == 1)
                *at_memory = 1000 * b + i;
            else
                expect_eq(*at_memory, 1000 * b + i);
        }
        if (version == 1)
            NGA_Release_update_block_grid(array, at);
        else
            NGA_Release_block_grid(array, at);
    }
    GA_Sync();
}

CASE(own_blocks_by_place) {
    enum { SIDE = 20, SIZE = 3 };
    int sides[] = {SIDE, SIDE}, block[] = {SIZE, SIZE}, procs[] = {ranks, 1}, array = GA_Create_handle();
    struct grid grid = grid_new(C_LONG, 2, sides);
    GA_Set_data(array, 2, sides, C_LONG);
    GA_Set_block_cyclic_proc_grid(array, block, procs);
    GA_Allocate(array);
    GA_Zero(array);
    visit_diagonal(array, SIDE, SIZE, 1);
    for (int i = 0; i < SIDE; i++)
        for (int j = i / SIZE * SIZE; j < i / SIZE * SIZE + SIZE && j < SIDE; j++) {
            int b = i / SIZE, last = b * SIZE + SIZE < SIDE ? SIZE : SIDE - b * SIZE;
            grid.at[i * SIDE + j] = 1000 * b + i % SIZE * last + j % SIZE;
        }
    expect_array(array, &grid);
    GA_Sync();
    visit_diagonal(array, SIDE, SIZE, 2);
    GA_Destroy(array);
    grid_free(&grid);
}

CASE(all_own_blocks_as_one_segment) {
    struct grid grid = grid_new(C_LONG, 3, dims);
    int array = create_blocks(), length;
    int64_t wide_length;
    long *memory, *again, fill = 42;
    for (long i = 0; i < grid.count; i++)
        grid.at[i] = (double)fill;
    NGA_Access_block_segment(array, me, &memory, &length);
    for (int i = 0; i < length; i++)
        memory[i] = fill;
    NGA_Release_update_block_segment(array, me);
    GA_Sync();
    expect_array(array, &grid);
    NGA_Access_block_segment64(array, me, &again, &wide_length);
    expect(again == memory && wide_length == length);
    NGA_Release_block_segment(array, me);
    long sum = length;
    GA_Lgop(&sum, 1, "+");
    expect_eq(sum, grid.count);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* ---- distribution ---- */

/* The pieces of a box are on their owners, and cover it exactly once. */
static void expect_pieces(int array, struct grid *grid, struct box *box) {
    int most = GA_Nnodes(), *map = need((size_t)most * 6 * sizeof *map),
        *procs = need((size_t)most * sizeof *procs);
    int64_t *wide_map = need((size_t)most * 6 * sizeof *wide_map);
    int pieces = NGA_Locate_region(array, box->lo, box->hi, map, procs);
    long covered = 0;
    expect_eq(NGA_Locate_region64(array, WIDE(box->lo, array), WIDE(box->hi, array), wide_map, procs),
              pieces);
    expect_eq(NGA_Locate_nnodes(array, box->lo, box->hi), pieces);
    expect_eq(NGA_Locate_nnodes64(array, WIDE(box->lo, array), WIDE(box->hi, array)), pieces);
    for (int p = 0; p < pieces; p++) {
        int *lo = map + 6 * p, *hi = lo + 3, volume = 1;
        for (int d = 0; d < 3; d++) {
            volume *= hi[d] - lo[d] + 1;
            expect(lo[d] >= box->lo[d] && hi[d] <= box->hi[d]);
            expect(wide_map[6 * p + d] == lo[d] && wide_map[6 * p + 3 + d] == hi[d]);
        }
        expect_eq(NGA_Locate(array, lo), procs[p]);
        expect_eq(NGA_Locate(array, hi), procs[p]);
        covered += volume;
    }
    expect_eq(covered, box_count(grid->ndim, box));
    free(map);
    free(wide_map);
    free(procs);
}

CASE(owners_of_boxes) {
    SKIP_IF(ranks > 4, "made for up to 4 ranks");
    struct grid grid = grid_new(C_LONG, 3, dims);
    uint64_t state = test_seed + (uint64_t)me;
    int array = NGA_Create(C_LONG, 3, dims, "located", NULL), coordinates[3], blocks[3];
    for (int i = 0; i < 20; i++) {
        struct box box = draw_box(&grid, &state);
        expect_pieces(array, &grid, &box);
    }
    int places[64] = {0};
    NGA_Nblock(array, blocks);
    expect_eq(blocks[0] * blocks[1] * blocks[2], ranks);
    for (int rank = 0; rank < ranks; rank++) { /* all different */
        NGA_Proc_topology(array, rank, coordinates);
        int place = coordinates[0] * 16 + coordinates[1] * 4 + coordinates[2];
        expect(place >= 0 && place < 64 && places[place]++ == 0);
    }
    GA_Sync();
    GA_Destroy(array);
    array = create_blocks();
    int lo[] = {0, 0, 0}, hi[] = {3, 3, 3};
    expect_eq(NGA_Locate_num_blocks(array, lo, hi), 2 * 1 * 2);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}
