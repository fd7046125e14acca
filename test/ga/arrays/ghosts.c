/* ghosts.c: tests ghost cells with periodic boundaries. After an update every ghost cell equals the array element
 * that it stands for, corners included. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

static const int sides[] = {17, 13, 11};
static const int widths[] = {2, 1, 3};

static int create(int type, int ndim, const int width[], int how) {
    int *d = (int *)sides, *w = (int *)width, array;
    struct wide wd = widen(d, ndim), ww = widen(w, ndim);
    switch (how) {
    case 0:
        return NGA_Create_ghosts(type, ndim, d, w, "ghosts", NULL);
    case 1:
        return NGA_Create_ghosts64(type, ndim, wd.at, ww.at, "ghosts", NULL);
    case 2:
        return NGA_Create_ghosts_config(type, ndim, d, w, "ghosts", NULL, GA_Pgroup_get_world());
    case 3:
        return NGA_Create_ghosts_config64(type, ndim, wd.at, ww.at, "ghosts", NULL, GA_Pgroup_get_world());
    }
    array = GA_Create_handle();
    GA_Set_data(array, ndim, d, type);
    switch (how) {
    case 4:
        GA_Set_ghosts(array, w);
        break;
    case 5:
        NGA_Set_ghosts(array, w);
        break;
    case 6:
        GA_Set_ghosts64(array, ww.at);
        break;
    default:
        NGA_Set_ghosts64(array, ww.at);
    }
    GA_Allocate(array);
    return array;
}

/* One block for each rank in the first dimension, of different sizes, none smaller than the ghost width. */
static int create_irregular(int type, int ndim, const int width[], int how) {
    int *d = (int *)sides, *w = (int *)width, map[GA_MAX_DIM] = {0}, block[] = {ranks, 1, 1};
    struct wide wd = widen(d, ndim), ww = widen(w, ndim), wb;
    for (int b = 0; b < ranks; b++)
        map[b] = 3 * b;
    wb = widen(block, ndim);
    struct wide wm = widen(map, GA_MAX_DIM);
    int world = GA_Pgroup_get_world();
    switch (how) {
    case 0:
        return NGA_Create_ghosts_irreg(type, ndim, d, w, "ghosts", block, map);
    case 1:
        return NGA_Create_ghosts_irreg64(type, ndim, wd.at, ww.at, "ghosts", wb.at, wm.at);
    case 2:
        return NGA_Create_ghosts_irreg_config(type, ndim, d, w, "ghosts", block, map, world);
    default:
        return NGA_Create_ghosts_irreg_config64(type, ndim, wd.at, ww.at, "ghosts", wb.at, wm.at, world);
    }
}

static number wrapped(const struct grid *grid, const int at[]) {
    int inside[GA_MAX_DIM];
    for (int d = 0; d < grid->ndim; d++)
        inside[d] = (at[d] + grid->dims[d]) % grid->dims[d];
    return grid->at[grid_offset(grid, inside)];
}

static void *open_rim(int array, int ndim, int extent[], int ld[]) {
    void *memory;
    if (turn()) {
        NGA_Access_ghosts(array, extent, &memory, ld);
        return memory;
    }
    struct wide we, wl;
    NGA_Access_ghosts64(array, we.at, &memory, wl.at);
    for (int d = 0; d < ndim; d++)
        extent[d] = (int)we.at[d];
    for (int d = 0; d < ndim - 1; d++)
        ld[d] = (int)wl.at[d];
    return memory;
}

/* The number of dimensions in which a place is outside the rank's part: 0 in the part itself, 2 or more in a corner. */
static int outside(int ndim, const int at[], const int lo[], const int hi[]) {
    int count = 0;
    for (int d = 0; d < ndim; d++)
        count += at[d] < lo[d] || at[d] > hi[d];
    return count;
}

static void expect_rim(int array, const struct grid *grid, const int width[], int most_outside) {
    int lo[GA_MAX_DIM], hi[GA_MAX_DIM], extent[GA_MAX_DIM], ld[GA_MAX_DIM], ndim = grid->ndim;
    NGA_Distribution(array, me, lo, hi);
    if (lo[0] < 0 || hi[0] < lo[0])
        return;
    char *memory = open_rim(array, ndim, extent, ld);
    struct box rim = {0};
    int at[GA_MAX_DIM];
    for (int d = 0; d < ndim; d++) {
        at[d] = rim.lo[d] = lo[d] - width[d];
        rim.hi[d] = hi[d] + width[d];
        expect_eq(extent[d], rim.hi[d] - rim.lo[d] + 1);
    }
    do {
        long offset = at[0] - rim.lo[0];
        for (int d = 1; d < ndim; d++)
            offset = offset * ld[d - 1] + at[d] - rim.lo[d];
        if (outside(ndim, at, lo, hi) <= most_outside)
            expect(load(grid->type, memory, offset) == wrapped(grid, at));
    } while (box_next(ndim, &rim, at));
    NGA_Release_ghosts(array);
}

static void try_update(int array, struct grid *grid, const int width[], uint64_t *state) {
    if (!expect(array != 0))
        return;
    expect(turn() ? GA_Has_ghosts(array) : NGA_Has_ghosts(array));
    for (int how = 0; how < 3; how++) {
        grid_fill(grid, state);
        array_set(array, grid);
        ga_nbhdl_t handle;
        if (how == 0) {
            GA_Update_ghosts(array);
        } else if (how == 1) {
            NGA_Update_ghosts(array);
        } else {
            NGA_Update_ghosts_nb(array, &handle);
            NGA_NbWait(&handle);
        }
        GA_Sync();
        expect_rim(array, grid, width, grid->ndim);
        expect_array(array, grid); /* ghost cells are not part of the array */
        GA_Sync();
    }
    GA_Destroy(array);
}

CASE(updates_in_one_to_three_dimensions) {
    uint64_t state = test_seed;
    for (int ndim = 1; ndim <= 3; ndim++)
        for (int how = 0; how < 8; how++) {
            int type = how % 2 ? C_DBL : C_INT;
            struct grid grid = grid_new(type, ndim, sides);
            try_update(create(type, ndim, widths, how), &grid, widths, &state);
            grid_free(&grid);
        }
}

CASE(all_widths) {
    uint64_t state = test_seed;
    for (int w = 0; w < 16; w++) {
        int width[] = {w / 4, w % 4};
        if (w == 0)
            continue; /* no ghost cells */
        struct grid grid = grid_new(C_DBL, 2, sides);
        try_update(create(C_DBL, 2, width, 0), &grid, width, &state);
        grid_free(&grid);
    }
}

CASE(irregular_parts) {
    SKIP_IF(ranks > 5, "made for up to 5 ranks");
    uint64_t state = test_seed;
    for (int how = 0; how < 4; how++) {
        struct grid grid = grid_new(C_SCPL, 3, sides);
        try_update(create_irregular(C_SCPL, 3, widths, how), &grid, widths, &state);
        grid_free(&grid);
    }
}

/* Without corners: only the faces must be correct. */
CASE(without_corners) {
    uint64_t state = test_seed;
    struct grid grid = grid_new(C_DBL, 3, sides);
    int array = GA_Create_handle();
    GA_Set_data(array, 3, (int *)sides, C_DBL);
    GA_Set_ghosts(array, (int *)widths);
    GA_Set_ghost_corner_flag(array, 0);
    GA_Allocate(array);
    grid_fill(&grid, &state);
    array_set(array, &grid);
    GA_Update_ghosts(array);
    GA_Sync();
    expect_rim(array, &grid, widths, 1);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

CASE(one_direction_after_the_other) {
    uint64_t state = test_seed;
    struct grid grid = grid_new(C_DBL, 3, sides);
    int array = create(C_DBL, 3, widths, 0);
    grid_fill(&grid, &state);
    array_set(array, &grid);
    for (int d = 0; d < 3; d++) {
        expect(NGA_Update_ghost_dir(array, d, -1, 1));
        expect(NGA_Update_ghost_dir(array, d, 1, 1));
    }
    GA_Sync();
    expect_rim(array, &grid, widths, 3);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* The 26 neighbours, each on its own. Directions are -1, 0 and 1, but libga 5.8.2 adds 1 to them as it does to
 * indices. */
CASE(nonblocking_by_direction) {
    uint64_t state = test_seed;
    struct grid grid = grid_new(C_DBL, 3, sides);
    int array = create(C_DBL, 3, widths, 0);
    ga_nbhdl_t handles[27];
    grid_fill(&grid, &state);
    array_set(array, &grid);
    for (int n = 0; n < 27; n++) {
        int mask[] = {n / 9 - 2, n / 3 % 3 - 2, n % 3 - 2};
        if (n == 13)
            continue;
        if (n % 2)
            NGA_NbGet_ghost_dir(array, mask, &handles[n]);
        else
            NGA_NbGet_ghost_dir64(array, widen(mask, 3).at, &handles[n]);
    }
    for (int n = 26; n >= 0; n--)
        if (n != 13)
            NGA_NbWait(&handles[n]);
    GA_Sync();
    expect_rim(array, &grid, widths, 3);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* A box around the rank's own part, read from its ghost cells. */
CASE(boxes_with_a_rim) {
    uint64_t state = test_seed;
    struct grid grid = grid_new(C_DBL, 2, sides);
    int array = create(C_DBL, 2, widths, 0), lo[2], hi[2];
    grid_fill(&grid, &state);
    array_set(array, &grid);
    GA_Update_ghosts(array);
    NGA_Distribution(array, me, lo, hi);
    if (lo[0] >= 0 && hi[0] >= lo[0]) {
        struct box box = {{lo[0] - 1, lo[1] - 1}, {hi[0] + 1, hi[1] + 1}};
        int columns = box.hi[1] - box.lo[1] + 1, ld[] = {columns}, at[] = {box.lo[0], box.lo[1]};
        double *values = need((size_t)(box.hi[0] - box.lo[0] + 1) * (size_t)columns * sizeof *values);
        for (int wide = 0; wide < 2; wide++) {
            if (wide)
                NGA_Get_ghost_block64(array, widen(box.lo, 2).at, widen(box.hi, 2).at, values,
                                      widen(ld, 1).at);
            else
                NGA_Get_ghost_block(array, box.lo, box.hi, values, ld);
            do
                expect(values[(at[0] - box.lo[0]) * columns + at[1] - box.lo[1]] ==
                       creal(wrapped(&grid, at)));
            while (box_next(2, &box, at));
        }
        free(values);
    }
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* Single elements of local memory, counted from the corner of the ghost cells. */
CASE(elements_with_a_rim) {
    struct grid grid = grid_new(C_INT, 2, sides);
    int array = create(C_INT, 2, widths, 0), lo[2], hi[2], ld[1], *place;
    GA_Zero(array);
    NGA_Distribution(array, me, lo, hi);
    if (lo[0] >= 0 && hi[0] >= lo[0]) {
        int corner[] = {widths[0], widths[1]}; /* of the part itself */
        NGA_Access_ghost_element(array, &place, corner, ld);
        *place = 7 + me;
        NGA_Release_update_ghost_element(array, corner);
        NGA_Access_ghost_element(array, &place, corner, ld);
        expect_eq(*place, 7 + me);
        NGA_Release_ghost_element(array, corner);
        struct wide wide = widen(corner, 2), wide_ld;
        NGA_Access_ghost_element64(array, &place, wide.at, wide_ld.at);
        place[1] = 9;
        NGA_Release_update_ghost_element64(array, wide.at);
        NGA_Access_ghost_element64(array, &place, wide.at, wide_ld.at);
        expect_eq(place[1], 9);
        NGA_Release_ghost_element64(array, wide.at);
    }
    GA_Sync();
    for (int rank = 0; rank < ranks; rank++) {
        NGA_Distribution(array, rank, lo, hi);
        if (lo[0] < 0 || hi[0] < lo[0])
            continue;
        grid.at[grid_offset(&grid, lo)] = 7 + rank;
        if (hi[1] > lo[1])
            grid.at[grid_offset(&grid, lo) + 1] = 9;
    }
    expect_array(array, &grid);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

/* A store of a rank into its own part, through its view of part and ghost cells, changes the array. */
CASE(stores_beside_the_rim) {
    struct grid grid = grid_new(C_INT, 2, sides);
    int array = create(C_INT, 2, widths, 0), lo[2], hi[2], extent[2], ld[1];
    NGA_Distribution(array, me, lo, hi);
    if (lo[0] >= 0 && hi[0] >= lo[0]) {
        int *memory = open_rim(array, 2, extent, ld);
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                memory[(i - lo[0] + widths[0]) * ld[0] + j - lo[1] + widths[1]] = 100 * i + j;
        NGA_Release_update_ghosts(array);
    }
    GA_Sync();
    for (int i = 0; i < sides[0] * sides[1]; i++)
        grid.at[i] = 100 * (i / sides[1]) + i % sides[1];
    expect_array(array, &grid);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}
