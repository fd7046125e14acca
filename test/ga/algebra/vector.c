/* vector.c: tests GA's operations for sparse data on one-dimensional arrays: enumerate, segmented scan, pack, unpack. */
#include <stdlib.h>

#include "grid.h"

enum { N = 157 };
static const int dims[] = {N};

/* Marks segment starts, about every seventh element. */
static struct grid draw_marks(uint64_t *state) {
    struct grid marks = grid_new(C_INT, 1, dims);
    for (int i = 0; i < N; i++)
        marks.at[i] = i == 0 || draw_below(state, 7) == 0;
    return marks;
}

static int array_filled(int type, number value) {
    int array = NGA_Create(type, 1, (int *)dims, "filled", NULL);
    GA_Fill(array, scalar(type, value));
    return array;
}

CASE(enumeration) {
    for (int wide = 0; wide < 2; wide++) {
        int array = array_filled(C_INT, -1), start = 10, step = 3;
        struct grid grid = grid_new(C_INT, 1, dims);
        for (int i = 0; i < N; i++)
            grid.at[i] = i < 5 || i > 140 ? -1 : start + step * (i - 5);
        if (wide)
            GA_Patch_enum64(array, 5, 140, &start, &step);
        else
            GA_Patch_enum(array, 5, 140, &start, &step);
        GA_Sync();
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
        grid_free(&grid);
    }
}

/* Each element becomes the first one of its segment. */
CASE(copies_by_segment) {
    uint64_t state = test_seed;
    for (int wide = 0; wide < 2; wide++) {
        struct grid marks = draw_marks(&state), a = grid_new(C_DBL, 1, dims), b = grid_new(C_DBL, 1, dims);
        grid_fill(&a, &state);
        int source = array_of(&a), mask = array_of(&marks), result = array_filled(C_DBL, 0);
        if (wide)
            GA_Scan_copy64(source, result, mask, 0, N - 1);
        else
            GA_Scan_copy(source, result, mask, 0, N - 1);
        GA_Sync();
        for (int i = 0; i < N; i++)
            b.at[i] = creal(marks.at[i]) != 0 ? a.at[i] : b.at[i - 1];
        expect_array(result, &b);
        GA_Sync();
        GA_Destroy(source);
        GA_Destroy(mask);
        GA_Destroy(result);
        grid_free(&marks);
        grid_free(&a);
        grid_free(&b);
    }
}

/* Prefix sums that restart in each segment, inclusive or exclusive. */
static void try_sums(int type, bool exclusive, bool wide, uint64_t *state) {
    struct grid marks = draw_marks(state), a = grid_new(type, 1, dims), b = grid_new(type, 1, dims);
    grid_fill(&a, state);
    int source = array_of(&a), mask = array_of(&marks), result = array_filled(type, 0);
    if (wide)
        GA_Scan_add64(source, result, mask, 0, N - 1, exclusive);
    else
        GA_Scan_add(source, result, mask, 0, N - 1, exclusive);
    GA_Sync();
    number sum = 0;
    for (int i = 0; i < N; i++) {
        if (creal(marks.at[i]) != 0)
            sum = 0;
        b.at[i] = exclusive ? sum : sum + a.at[i];
        sum += a.at[i];
    }
    expect_array(result, &b);
    GA_Sync();
    GA_Destroy(source);
    GA_Destroy(mask);
    GA_Destroy(result);
    grid_free(&marks);
    grid_free(&a);
    grid_free(&b);
}

CASE(sums_by_segment) {
    uint64_t state = test_seed;
    int types[] = {C_INT, C_LONG, C_DBL, C_FLOAT};
    for (int t = 0; t < 4; t++)
        for (int way = 0; way < 4; way++)
            try_sums(types[t], way & 1, way & 2, &state);
}

/* Packs the marked elements to the front, and unpacks them to their places. */
CASE(packing) {
    uint64_t state = test_seed;
    for (int wide = 0; wide < 2; wide++) {
        struct grid marks = draw_marks(&state), a = grid_new(C_DBL, 1, dims),
                    packed = grid_new(C_DBL, 1, dims), unpacked = grid_new(C_DBL, 1, dims);
        grid_fill(&a, &state);
        int source = array_of(&a), mask = array_of(&marks), front = array_filled(C_DBL, 0),
            back = array_filled(C_DBL, 0), count = 0, n = 0;
        int64_t wide_count = 0;
        for (int i = 0; i < N; i++)
            if (creal(marks.at[i]) != 0) {
                packed.at[n++] = a.at[i];
                unpacked.at[i] = a.at[i];
            }
        if (wide)
            GA_Pack64(source, front, mask, 0, N - 1, &wide_count);
        else
            GA_Pack(source, front, mask, 0, N - 1, &count);
        GA_Sync();
        expect_eq(wide ? wide_count : count, n);
        expect_array(front, &packed);
        GA_Sync();
        if (wide)
            GA_Unpack64(front, back, mask, 0, N - 1, &wide_count);
        else
            GA_Unpack(front, back, mask, 0, N - 1, &count);
        GA_Sync();
        expect_array(back, &unpacked);
        GA_Sync();
        GA_Destroy(source);
        GA_Destroy(mask);
        GA_Destroy(front);
        GA_Destroy(back);
        grid_free(&marks);
        grid_free(&a);
        grid_free(&packed);
        grid_free(&unpacked);
    }
}
