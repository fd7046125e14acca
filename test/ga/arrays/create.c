/* create.c: tests all ways to create an array, of all types, and what GA reports about it. Each array is then written
 * and read as a whole, which shows that its memory exists and overlaps no other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

static const int types[] = {C_INT, C_LONG, C_LONGLONG, C_FLOAT, C_DBL, C_SCPL, C_DCPL};
enum { TYPES = sizeof types / sizeof types[0] };

static int dims[] = {13, 9, 7};

/* The parts of the ranks cover the array exactly once, and GA finds their owners. For arrays whose parts are one box
 * each. */
static void expect_parts(int array, const struct grid *grid) {
    int *owner = need((size_t)grid->count * sizeof *owner), lo[GA_MAX_DIM], hi[GA_MAX_DIM];
    long covered = 0;
    memset(owner, -1, (size_t)grid->count * sizeof *owner);
    for (int rank = 0; rank < GA_Get_pgroup_size(GA_Get_pgroup(array)); rank++) {
        if (turn()) {
            NGA_Distribution(array, rank, lo, hi);
        } else {
            struct wide wlo, whi;
            NGA_Distribution64(array, rank, wlo.at, whi.at);
            for (int d = 0; d < grid->ndim; d++)
                lo[d] = (int)wlo.at[d], hi[d] = (int)whi.at[d];
        }
        struct box box = {0};
        memcpy(box.lo, lo, sizeof lo), memcpy(box.hi, hi, sizeof hi);
        if (lo[0] < 0 || hi[0] < lo[0])
            continue;
        do {
            expect_eq(owner[grid_offset(grid, lo)], -1);
            owner[grid_offset(grid, lo)] = rank;
            covered++;
        } while (box_next(grid->ndim, &box, lo));
    }
    expect_eq(covered, grid->count);
    struct box all = whole(grid);
    int at[GA_MAX_DIM] = {0};
    for (long i = 0; i < grid->count; i += 5) {
        expect_eq(turn() ? NGA_Locate(array, at) : NGA_Locate64(array, WIDE(at, array)), owner[i]);
        for (int step = 0; step < 5; step++)
            box_next(grid->ndim, &all, at);
    }
    free(owner);
}

static void expect_inquiry(int array, const struct grid *grid, const char *name) {
    int type, ndim, got[GA_MAX_DIM];
    NGA_Inquire(array, &type, &ndim, got);
    expect_eq(type, grid->type);
    expect_eq(ndim, grid->ndim);
    expect_eq(GA_Ndim(array), ndim);
    expect_eq(GA_Get_dimension(array), ndim);
    expect_eq(memcmp(got, grid->dims, (size_t)ndim * sizeof *got), 0);
    struct wide wide;
    NGA_Inquire64(array, &type, &ndim, wide.at);
    for (int d = 0; d < ndim; d++)
        expect_eq(wide.at[d], grid->dims[d]);
    expect_eq(strcmp(GA_Inquire_name(array), name), 0);
    expect(GA_Valid_handle(array));
    expect(GA_Verify_handle(array));
    GA_Check_handle(array, "expect_inquiry");
}

static void expect_works(int array, struct grid *grid, const char *name) {
    uint64_t state = test_seed;
    if (!expect(array != 0))
        return;
    expect_inquiry(array, grid, name);
    GA_Sync();
    grid_fill(grid, &state);
    array_set(array, grid);
    expect_array(array, grid);
    GA_Sync();
}

static void finish(int array, struct grid *grid) {
    GA_Destroy(array);
    expect(!GA_Valid_handle(array));
    grid_free(grid);
}

CASE(evenly_in_all_types) {
    for (int t = 0; t < TYPES; t++) {
        struct grid grid = grid_new(types[t], 3, dims);
        int array = turn() ? NGA_Create(types[t], 3, dims, "even", NULL)
                           : NGA_Create64(types[t], 3, widen(dims, 3).at, "even", NULL);
        expect_works(array, &grid, "even");
        expect_parts(array, &grid);
        finish(array, &grid);
    }
}

CASE(in_one_to_seven_dimensions) {
    int many[] = {8, 3, 4, 2, 3, 2, 3};
    for (int ndim = 1; ndim <= GA_MAX_DIM; ndim++) {
        struct grid grid = grid_new(C_DBL, ndim, many);
        int array = NGA_Create(C_DBL, ndim, many, "many", NULL);
        expect_works(array, &grid, "many");
        expect_parts(array, &grid);
        finish(array, &grid);
    }
}

CASE(in_chunks) {
    int chunk[] = {-1, 9, 2}; /* no cut in the second dimension, blocks of 2 or more in the third */
    struct grid grid = grid_new(C_INT, 3, dims);
    int array = NGA_Create(C_INT, 3, dims, "chunks", chunk), blocks[3];
    expect_works(array, &grid, "chunks");
    expect_parts(array, &grid);
    GA_Nblock(array, blocks);
    expect_eq(blocks[1], 1);
    expect(blocks[2] <= 4);
    finish(array, &grid);
}

/* As many blocks as ranks in the first dimension, of unequal sizes. */
static void cut_unevenly(int extent, int *block, int *map) {
    *block = ranks < extent ? ranks : extent;
    for (int b = 0; b < *block; b++)
        map[b] = b; /* all of size 1 but the last */
}

CASE(irregularly) {
    int block[3] = {1, 1, 1}, map[80], owned[3], hi[3];
    struct grid grid = grid_new(C_DBL, 3, dims);
    cut_unevenly(dims[0], block, map);
    map[block[0]] = map[block[0] + 1] = 0;
    int array = NGA_Create_irreg(C_DBL, 3, dims, "irregular", block, map);
    expect_works(array, &grid, "irregular");
    expect_parts(array, &grid);
    NGA_Distribution(array, me, owned, hi);
    expect_eq(owned[0], me);
    GA_Destroy(array);
    int64_t wide_map[80];
    for (int i = 0; i < block[0] + 2; i++)
        wide_map[i] = map[i];
    array = NGA_Create_irreg64(C_DBL, 3, widen(dims, 3).at, "irregular", widen(block, 3).at, wide_map);
    expect_works(array, &grid, "irregular");
    expect_parts(array, &grid);
    finish(array, &grid);
}

CASE(by_handle_step_by_step) {
    struct grid grid = grid_new(C_SCPL, 3, dims);
    int chunk[] = {2, 2, 2}, array = GA_Create_handle();
    GA_Set_data(array, 3, dims, C_SCPL);
    GA_Set_chunk(array, chunk);
    GA_Set_array_name(array, "steps");
    expect(GA_Allocate(array));
    expect_works(array, &grid, "steps");
    expect_parts(array, &grid);
    GA_Destroy(array);
    array = NGA_Create_handle();
    NGA_Set_data64(array, 3, widen(dims, 3).at, C_SCPL);
    GA_Set_chunk64(array, widen(chunk, 3).at);
    NGA_Set_array_name(array, "wide steps");
    expect(NGA_Allocate(array));
    expect_works(array, &grid, "wide steps");
    expect_parts(array, &grid);
    finish(array, &grid);
}

CASE(irregularly_by_handle) {
    int block[3] = {1, 1, 1}, map[80];
    struct grid grid = grid_new(C_INT, 3, dims);
    cut_unevenly(dims[0], block, map);
    map[block[0]] = map[block[0] + 1] = 0;
    int64_t wide_map[80];
    for (int i = 0; i < block[0] + 2; i++)
        wide_map[i] = map[i];
    for (int which = 0; which < 4; which++) {
        int array = GA_Create_handle();
        GA_Set_array_name(array, "handle");
        if (which % 2)
            GA_Set_data64(array, 3, widen(dims, 3).at, C_INT);
        else
            NGA_Set_data(array, 3, dims, C_INT);
        if (which == 0)
            GA_Set_irreg_distr(array, map, block);
        else if (which == 1)
            GA_Set_irreg_distr64(array, wide_map, widen(block, 3).at);
        else if (which == 2)
            NGA_Set_irreg_distr(array, map, block);
        else
            NGA_Set_irreg_distr64(array, wide_map, widen(block, 3).at);
        expect(GA_Allocate(array));
        expect_works(array, &grid, "handle");
        expect_parts(array, &grid);
        GA_Destroy(array);
    }
    grid_free(&grid);
}

/* ---- block-cyclic distributions ---- */

static int set_cyclic(int array, int which) {
    int block[] = {2, 4, 3};
    if (which == 0)
        GA_Set_block_cyclic(array, block);
    else if (which == 1)
        NGA_Set_block_cyclic(array, block);
    else if (which == 2)
        GA_Set_block_cyclic64(array, widen(block, 3).at);
    else
        NGA_Set_block_cyclic64(array, widen(block, 3).at);
    return GA_Allocate(array);
}

CASE(block_cyclic) {
    struct grid grid = grid_new(C_LONG, 3, dims);
    for (int which = 0; which < 4; which++) {
        int array = GA_Create_handle(), blocks[3], size[3];
        GA_Set_data(array, 3, dims, C_LONG);
        GA_Set_array_name(array, "cyclic");
        expect(set_cyclic(array, which));
        expect_works(array, &grid, "cyclic");
        expect_eq(turn() ? GA_Total_blocks(array) : NGA_Total_blocks(array), 7 * 3 * 3);
        if (turn())
            GA_Get_block_info(array, blocks, size);
        else
            NGA_Get_block_info(array, blocks, size);
        expect(blocks[0] == 7 && blocks[1] == 3 && blocks[2] == 3);
        expect(size[0] == 2 && size[1] == 4 && size[2] == 3);
        expect(!(turn() ? GA_Uses_proc_grid(array) : NGA_Uses_proc_grid(array)));
        GA_Destroy(array);
    }
    grid_free(&grid);
}

/* Distributes blocks over a grid of processes, in the layout of ScaLAPACK and tile by tile. */
static void set_proc_grid(int array, int which, int block[], int procs[]) {
    switch (which) {
    case 0:
        GA_Set_block_cyclic_proc_grid(array, block, procs);
        break;
    case 1:
        NGA_Set_block_cyclic_proc_grid(array, block, procs);
        break;
    case 2:
        GA_Set_block_cyclic_proc_grid64(array, widen(block, 2).at, widen(procs, 2).at);
        break;
    case 3:
        NGA_Set_block_cyclic_proc_grid64(array, widen(block, 2).at, widen(procs, 2).at);
        break;
    case 4:
        GA_Set_tiled_proc_grid(array, block, procs);
        break;
    case 5:
        NGA_Set_tiled_proc_grid(array, block, procs);
        break;
    case 6:
        GA_Set_tiled_proc_grid64(array, widen(block, 2).at, widen(procs, 2).at);
        break;
    default:
        NGA_Set_tiled_proc_grid64(array, widen(block, 2).at, widen(procs, 2).at);
    }
}

CASE(on_a_grid_of_processes) {
    int sides[] = {21, 26}, block[] = {2, 3}, procs[] = {ranks % 2 ? ranks : ranks / 2, ranks % 2 ? 1 : 2};
    struct grid grid = grid_new(C_DBL, 2, sides);
    for (int which = 0; which < 8; which++) {
        int array = GA_Create_handle(), got[2], place[2];
        GA_Set_data(array, 2, sides, C_DBL);
        GA_Set_array_name(array, "procs");
        set_proc_grid(array, which, block, procs);
        expect(GA_Allocate(array));
        expect_works(array, &grid, "procs");
        expect(turn() ? GA_Uses_proc_grid(array) : NGA_Uses_proc_grid(array));
        if (turn())
            GA_Get_proc_grid(array, got);
        else
            NGA_Get_proc_grid(array, got);
        expect_eq(got[0] * got[1], ranks); /* libga 5.8.2 returns the dimensions in the order of Fortran */
        if (turn())
            GA_Get_proc_index(array, me, place);
        else
            NGA_Get_proc_index(array, me, place);
        expect(place[0] >= 0 && place[0] < ranks && place[1] >= 0 && place[1] < ranks);
        GA_Destroy(array);
    }
    grid_free(&grid);
}

CASE(tiles_of_unequal_size) {
    int sides[] = {21, 26}, blocks[] = {4, 4}, map[] = {0, 1, 7, 15, 0, 10, 11, 20};
    int procs[] = {ranks % 2 ? ranks : ranks / 2, ranks % 2 ? 1 : 2};
    int64_t wide_map[8];
    struct grid grid = grid_new(C_DBL, 2, sides);
    for (int i = 0; i < 8; i++)
        wide_map[i] = map[i];
    for (int which = 0; which < 4; which++) {
        int array = GA_Create_handle();
        GA_Set_data(array, 2, sides, C_DBL);
        GA_Set_array_name(array, "tiles");
        if (which == 0)
            GA_Set_tiled_irreg_proc_grid(array, map, blocks, procs);
        else if (which == 1)
            NGA_Set_tiled_irreg_proc_grid(array, map, blocks, procs);
        else if (which == 2)
            GA_Set_tiled_irreg_proc_grid64(array, wide_map, widen(blocks, 2).at, widen(procs, 2).at);
        else
            NGA_Set_tiled_irreg_proc_grid64(array, wide_map, widen(blocks, 2).at, widen(procs, 2).at);
        expect(GA_Allocate(array));
        expect_works(array, &grid, "tiles");
        GA_Destroy(array);
    }
    grid_free(&grid);
}

/* ---- on some of the processes ---- */

CASE(on_some_of_the_processes) {
    struct grid grid = grid_new(C_DBL, 3, dims);
    int list[] = {ranks - 1, 0}, count = ranks > 1 ? 2 : 1;
    for (int which = 0; which < 4; which++) {
        int array = GA_Create_handle(), lo[3], hi[3];
        GA_Set_data(array, 3, dims, C_DBL);
        GA_Set_array_name(array, "some");
        if (which == 0)
            GA_Set_restricted(array, list, count);
        else if (which == 1)
            NGA_Set_restricted(array, list, count);
        else if (which == 2)
            GA_Set_restricted_range(array, ranks - 1, ranks - 1);
        else
            NGA_Set_restricted_range(array, ranks - 1, ranks - 1);
        expect(GA_Allocate(array));
        expect_works(array, &grid, "some");
        NGA_Distribution(array, me, lo, hi);
        bool mine = which < 2 ? me == 0 || me == ranks - 1 : me == ranks - 1;
        expect_eq(lo[0] >= 0 && hi[0] >= lo[0], mine);
        GA_Destroy(array);
    }
    grid_free(&grid);
}

/* ---- copies of the layout ---- */

CASE(duplicates) {
    struct grid grid = grid_new(C_DBL, 3, dims);
    uint64_t state = test_seed;
    int array = array_new(&grid, &state);
    expect_works(array, &grid, GA_Inquire_name(array));
    int twin = GA_Duplicate(array, "twin"), other = NGA_Create(C_DBL, 3, dims, "other", NULL);
    expect_eq(GA_Compare_distr(array, twin), 0);
    expect_eq(NGA_Compare_distr(array, twin), 0);
    expect_array(array, &grid);
    struct grid next = grid_new(C_DBL, 3, dims);
    expect_works(twin, &next, "twin");
    expect_works(other, &next, "other");
    GA_Destroy(array);
    GA_Sync();
    expect_array(twin, &next); /* shares no memory with the first array */
    GA_Sync();
    GA_Destroy(twin);
    GA_Destroy(other);
    grid_free(&grid);
    grid_free(&next);
}

/* Memory that the program allocated from GA and then made into an array. */
CASE(assembled_from_memory) {
    struct grid grid = grid_new(C_DBL, 3, dims);
    int model = NGA_Create(C_DBL, 3, dims, "model", NULL), lo[3], hi[3];
    NGA_Distribution(model, me, lo, hi);
    int count = 1;
    for (int d = 0; d < 3; d++)
        count *= hi[d] - lo[d] + 1;
    double *memory = GA_Getmem(C_DBL, lo[0] < 0 ? 1 : count, GA_Pgroup_get_world());
    expect(memory != NULL);
    int array = GA_Assemble_duplicate(model, "assembled", memory);
    expect_works(array, &grid, "assembled");
    expect(lo[0] < 0 || memory[0] == creal(grid.at[grid_offset(&grid, lo)]));
    GA_Sync();
    GA_Destroy(array);
    GA_Destroy(model);
    grid_free(&grid);
}

CASE(memory_of_ga) {
    long *memory = GA_Getmem(C_LONG, 100, GA_Pgroup_get_world());
    expect(memory != NULL);
    for (int i = 0; i < 100; i++)
        memory[i] = me * 100 + i;
    GA_Sync();
    for (int i = 0; i < 100; i++)
        expect_eq(memory[i], me * 100 + i);
    GA_Sync();
    GA_Freemem(memory);
}

/* One array in the memory of another that is no longer used. */
CASE(overlaid) {
    int large[] = {40, 40}, small[] = {15, 12};
    struct grid grid = grid_new(C_DBL, 2, small);
    for (int which = 0; which < 2; which++) {
        int parent = NGA_Create(C_DBL, 2, large, "parent", NULL), array = GA_Create_handle();
        GA_Set_data(array, 2, small, C_DBL);
        GA_Set_array_name(array, "over");
        expect(which ? NGA_Overlay(array, parent) : GA_Overlay(array, parent));
        expect_works(array, &grid, "over");
        GA_Destroy(array);
        GA_Destroy(parent);
    }
    grid_free(&grid);
}

static int stack_allocations;

static void *from_stack(size_t bytes, int align, char *name) {
    (void)align, (void)name;
    stack_allocations++;
    return malloc(bytes);
}

static void to_stack(void *memory) {
    stack_allocations--;
    free(memory);
}

/* GA takes memory for internal use from an allocator of the program. */
CASE(own_stack_memory) {
    int sides[] = {8, 8};
    GA_Register_stack_memory(from_stack, to_stack);
    int a = NGA_Create(C_DBL, 2, sides, "a", NULL), b = GA_Duplicate(a, "b");
    double one = 1;
    GA_Fill(a, &one);
    GA_Transpose(a, b);
    expect_near(GA_Ddot(a, b), 64, 0);
    expect_eq(stack_allocations, 0);
    GA_Destroy(a);
    GA_Destroy(b);
}

CASE(deallocated_and_allocated_again) {
    struct grid grid = grid_new(C_DBL, 3, dims);
    for (int which = 0; which < 2; which++) {
        int array = NGA_Create(C_DBL, 3, dims, "again", NULL);
        expect_works(array, &grid, "again");
        expect(which ? NGA_Deallocate(array) : GA_Deallocate(array));
        expect(which ? NGA_Allocate(array) : GA_Allocate(array));
        expect_works(array, &grid, "again");
        GA_Destroy(array);
    }
    grid_free(&grid);
}

CASE(many_arrays_at_once) {
    enum { MANY = 60 };
    int arrays[MANY], one[] = {97};
    struct grid grid = grid_new(C_INT, 1, one);
    for (int a = 0; a < MANY; a++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", a);
        arrays[a] = NGA_Create(C_INT, 1, one, name, NULL);
        GA_Fill(arrays[a], &a);
    }
    for (int a = 0; a < MANY; a += 7) {
        for (long i = 0; i < grid.count; i++)
            grid.at[i] = a;
        expect_array(arrays[a], &grid);
    }
    GA_Sync();
    for (int a = 0; a < MANY; a++)
        GA_Destroy(arrays[a * 7 % MANY]); /* 7 and 60 have no common factor */
    grid_free(&grid);
}

static int set_property(int array, char *property, bool first) {
    if (first)
        GA_Set_property(array, property);
    else
        NGA_Set_property(array, property);
    return array;
}

/* GA may replicate arrays that are declared read-only. */
CASE(read_only) {
    int sides[] = {30, 20};
    for (int which = 0; which < 2; which++) {
        struct grid grid = grid_new(C_DBL, 2, sides);
        int array = NGA_Create(C_DBL, 2, sides, "readonly", NULL);
        expect_works(array, &grid, "readonly");
        set_property(array, which ? "read_only" : "read_cache", turn());
        for (int pass = 0; pass < 3; pass++)
            expect_array(array, &grid);
        GA_Sync();
        if (turn())
            GA_Unset_property(array);
        else
            NGA_Unset_property(array);
        expect_works(array, &grid, "readonly");
        finish(array, &grid);
    }
}
