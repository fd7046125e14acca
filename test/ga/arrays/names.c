/* names.c: tests the alternative names of functions that other programs call by their main names, and small switches.
 * Begins with NGA_Initialize and ends with NGA_Terminate. */
#include <string.h>

#include "grid.h"

static void begin(int *argc, char ***argv) {
    (void)argc, (void)argv;
    NGA_Initialize();
}

BEGIN_AND_END(begin, NGA_Terminate)

CASE(inquiries) {
    int dims[] = {9, 8}, array = NGA_Create(C_INT, 2, dims, "first", NULL), one = 1;
    expect(NGA_Initialized());
    expect_eq(NGA_Ndim(array), 2);
    expect_eq(NGA_Get_dimension(array), 2);
    expect_eq(strcmp(NGA_Inquire_name(array), "first"), 0);
    expect(NGA_Valid_handle(array));
    expect(NGA_Verify_handle(array));
    expect_eq(NGA_Uses_ma(), GA_Uses_ma());
    expect_eq(GA_Uses_fapi(), 0); /* C counts from zero, row by row */
    int twin = NGA_Duplicate(array, "twin");
    GA_Fill(twin, &one);
    expect_eq(GA_Idot(twin, twin), 72);
    NGA_Destroy(twin);
    expect(!NGA_Valid_handle(twin));
    NGA_Destroy(array);
}

CASE(switches) {
    int before = GA_Get_debug();
    GA_Set_debug(1);
    expect_eq(NGA_Get_debug(), 1);
    NGA_Set_debug(0);
    expect_eq(GA_Get_debug(), 0);
    GA_Set_debug(before);
}

CASE(chunks_and_flags) {
    int dims[] = {20, 20}, chunk[] = {20, -1}, blocks[2];
    struct grid grid = grid_new(C_INT, 2, dims);
    uint64_t state = test_seed;
    for (int names = 0; names < 2; names++) {
        int array = NGA_Create_handle();
        NGA_Set_data(array, 2, dims, C_INT);
        NGA_Set_chunk(array, chunk);
        if (names)
            GA_Set_irreg_flag(array, 0);
        else
            NGA_Set_irreg_flag(array, 0);
        expect(NGA_Allocate(array));
        NGA_Nblock(array, blocks);
        expect_eq(blocks[0], 1); /* not cut */
        grid_fill(&grid, &state);
        array_set(array, &grid);
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
    }
    grid_free(&grid);
}
