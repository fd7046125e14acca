/* memory.c: tests the memory limit of arrays, and the reported usage. Begins with GA_Initialize_ltd. */
#include <stdlib.h>

#include "grid.h"

enum { LIMIT = 4 << 20 };

static void begin(int *argc, char ***argv) {
    (void)argc, (void)argv;
    GA_Initialize_ltd(LIMIT);
}

BEGIN_AND_END(begin, GA_Terminate)

static int create(long bytes) { /* per rank */
    int dims[] = {(int)(bytes / 8 * ranks)};
    return NGA_Create(C_DBL, 1, dims, "memory", NULL);
}

CASE(limit_is_kept) {
    expect(GA_Initialized());
    expect(NGA_Initialized());
    expect(GA_Memory_limited());
    expect(NGA_Memory_limited());
    size_t before = GA_Memory_avail();
    expect(before <= LIMIT);
    expect_eq(NGA_Memory_avail(), before);
    int array = create(1 << 20);
    expect(array != 0);
    expect(GA_Memory_avail() <= before - (1 << 20));
    expect(GA_Inquire_memory() >= 1 << 20);
    expect_eq(NGA_Inquire_memory(), GA_Inquire_memory());
    expect_eq(create(LIMIT), 0); /* a return value, not an error */
    int small = create(1 << 16);
    expect(small != 0);
    GA_Destroy(small);
    GA_Destroy(array);
    expect_eq(GA_Memory_avail(), before);
}

CASE(limit_is_raised) {
    for (int names = 0; names < 2; names++) {
        long limit = (long)LIMIT * (names ? 9 : 3);
        expect_eq(create(limit - LIMIT), 0);
        if (names)
            NGA_Set_memory_limit((size_t)limit);
        else
            GA_Set_memory_limit((size_t)limit);
        int array = create(limit - LIMIT);
        expect(array != 0);
        GA_Destroy(array);
    }
}

/* Memory is chosen by device name; "dram" always exists. */
CASE(devices) {
    int dims[] = {50};
    for (int names = 0; names < 2; names++) {
        struct grid grid = grid_new(C_INT, 1, dims);
        uint64_t state = test_seed;
        int array = GA_Create_handle();
        char name[] = "dram"; /* which GA writes to */
        GA_Set_data(array, 1, dims, C_INT);
        if (names)
            NGA_Set_memory_dev(array, name);
        else
            GA_Set_memory_dev(array, name);
        expect(GA_Allocate(array));
        grid_fill(&grid, &state);
        array_set(array, &grid);
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
        grid_free(&grid);
    }
}

/* Creating and destroying arrays leaks no memory. */
CASE(nothing_is_lost) {
    size_t before = GA_Inquire_memory(), avail = GA_Memory_avail();
    for (int i = 0; i < 24; i++) {
        int array = create(1 << (10 + i % 8));
        if (!expect(array != 0))
            break;
        GA_Destroy(array);
    }
    expect_eq(GA_Inquire_memory(), before);
    expect_eq(GA_Memory_avail(), avail);
}
