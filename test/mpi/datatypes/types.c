/* types.c: tests gets with derived datatypes on both sides. Each get is done twice, so that the cache can serve the
 * second one, into a buffer with known contents: the bytes between the blocks must not change. MPI_Pack and
 * MPI_Unpack over a copy of the target's memory give the expected result.
 *
 *      window, buffers   | 0 ........ MIDDLE ........ EXTENT |     types start at MIDDLE, for negative bounds */
#include "test.h"

#include <stdlib.h>

enum { EXTENT = 16384, MIDDLE = 8192, INTS = 24, MOST_TYPES = 16 };

struct side {
    MPI_Datatype type;
    int count; /* number of elements, INTS ints in total */
};

static unsigned char image[EXTENT], got[EXTENT], want[EXTENT], packed[EXTENT];

/* Sets got and want equal, then sets want to the expected result of a get. */
static void expect_unpacked(int target, size_t disp, struct side from, void *to, struct side into) {
    int in = 0, out = 0;
    memset(got, 0xa5, sizeof got);
    memset(want, 0xa5, sizeof want);
    fill_pattern(image, sizeof image, target, 0, 0);
    MPI_Pack(image + disp, from.count, from.type, packed, sizeof packed, &in, MPI_COMM_WORLD);
    MPI_Unpack(packed, in, &out, to, into.count, into.type, MPI_COMM_WORLD);
}

static void get_twice(struct window *w, struct side from, struct side into) {
    for (int twin = 0; twin < 2; twin++) {
        expect_unpacked(peer(), MIDDLE, from, want + MIDDLE, into);
        MPI_Get(got + MIDDLE, into.count, into.type, peer(), MIDDLE, from.count, from.type, w->win);
        MPI_Win_flush(peer(), w->win);
        expect_bytes(got, want, sizeof got);
    }
}

static struct side committed(MPI_Datatype type, int count) {
    MPI_Type_commit(&type);
    return (struct side){type, count};
}

static struct side make_subarray(int order) {
    int sizes[] = {10, 12}, parts[] = {4, 6}, starts[] = {3, 2};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, parts, starts, order, MPI_INT, &type);
    return committed(type, 1);
}

static struct side make_indexed(void) {
    int lengths[] = {5, 1, 0, 10, 8}, places[] = {40, 7, 3, 100, -30};
    MPI_Datatype type;
    MPI_Type_indexed(5, lengths, places, MPI_INT, &type);
    return committed(type, 1);
}

static struct side make_indexed_block(void) {
    int places[] = {-64, 9, 0, 30};
    MPI_Datatype type;
    MPI_Type_create_indexed_block(4, 3, places, MPI_INT, &type);
    return committed(type, 2);
}

static struct side make_struct(void) {
    int lengths[] = {2, 1, 3};
    MPI_Aint places[] = {-40, 0, 12};
    MPI_Datatype pair, type, parts[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
    parts[0] = pair; /* 4 ints, with gaps */
    MPI_Type_create_struct(3, lengths, places, parts, &type);
    MPI_Type_free(&pair);
    return committed(type, 3);
}

static struct side make_resized(void) {
    MPI_Datatype type, inner;
    MPI_Type_vector(2, 2, 4, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -32, 96, &type);
    MPI_Type_free(&inner);
    return committed(type, 6);
}

static struct side make_column(void) {
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, 44, &type);
    return committed(type, INTS);
}

static struct side make_backwards(void) {
    MPI_Datatype type;
    MPI_Type_create_hvector(6, 4, -32, MPI_INT, &type);
    return committed(type, 1);
}

static struct side make_nested(void) {
    MPI_Datatype row, type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &row);
    MPI_Type_create_hvector(2, 1, 200, row, &type);
    MPI_Type_free(&row);
    return committed(type, 4);
}

static struct side make_vector(void) {
    MPI_Datatype type;
    MPI_Type_vector(6, 4, 7, MPI_INT, &type);
    return committed(type, 1);
}

static struct side make_contiguous(void) {
    MPI_Datatype type;
    MPI_Type_contiguous(8, MPI_INT, &type);
    return committed(type, 3);
}

static int make_sides(struct side *sides) {
    int n = 0;
    sides[n++] = (struct side){MPI_INT, INTS};
    sides[n++] = make_contiguous();
    sides[n++] = make_vector();
    sides[n++] = make_subarray(MPI_ORDER_C);
    sides[n++] = make_subarray(MPI_ORDER_FORTRAN);
    sides[n++] = make_indexed();
    sides[n++] = make_indexed_block();
    sides[n++] = make_struct();
    sides[n++] = make_resized();
    sides[n++] = make_column();
    sides[n++] = make_backwards();
    sides[n++] = make_nested();
    return n;
}

static void free_sides(struct side *sides, int n) {
    for (int i = 1; i < n; i++)
        MPI_Type_free(&sides[i].type);
}

CASE(every_type_from_every_type) {
    struct window w = make_window(EXTENT, "always");
    struct side sides[MOST_TYPES];
    int n = make_sides(sides);
    MPI_Win_lock_all(0, w.win);
    for (int into = 0; into < n; into++)
        for (int from = 0; from < n; from++)
            get_twice(&w, sides[from], sides[into]);
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_hits(w.win, (uint64_t)(n * n));
    free_sides(sides, n);
    free_window(&w);
}

/* All gets are pending together, each into its own buffer, and the types are freed before any data has arrived. */
CASE(types_freed_on_the_way) {
    enum { MINE = 4096 };
    struct window w = make_window(EXTENT, "always");
    struct side sides[MOST_TYPES];
    int n = make_sides(sides);
    unsigned char *all = malloc((size_t)n * MINE * 2), *ref = malloc((size_t)n * MINE * 2);
    MPI_Win_lock_all(0, w.win);
    for (int round = 0; round < 2; round++) {
        memset(all, 0xa5, (size_t)n * MINE * 2);
        memset(ref, 0xa5, (size_t)n * MINE * 2);
        for (int i = 0; i < n; i++) {
            size_t place = (size_t)i * 2 * MINE + MINE;
            struct side from = {MPI_DATATYPE_NULL, sides[i].count},
                        into = {MPI_DATATYPE_NULL, sides[n - 1 - i].count};
            MPI_Type_dup(sides[i].type, &from.type);
            MPI_Type_dup(sides[n - 1 - i].type, &into.type);
            expect_unpacked(peer(), MIDDLE, from, ref + place, into);
            MPI_Get(all + place, into.count, into.type, peer(), MIDDLE, from.count, from.type, w.win);
            MPI_Type_free(&from.type);
            MPI_Type_free(&into.type);
        }
        MPI_Win_flush(peer(), w.win);
        expect_bytes(all, ref, (size_t)n * MINE * 2);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    free(all);
    free(ref);
    free_sides(sides, n);
    free_window(&w);
}

/* The bytes between a short and an int are undefined: only the packed bytes are compared. */
static void get_pairs(struct window *w, MPI_Datatype type) {
    int in = 0, out = 0;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    for (int twin = 0; twin < 2; twin++) {
        memset(got, 0, sizeof got);
        MPI_Get(got, 5, type, peer(), 2 * extent, 5, type, w->win);
        MPI_Win_flush(peer(), w->win);
        fill_pattern(image, sizeof image, peer(), 0, 0);
        in = out = 0;
        MPI_Pack(image + 2 * extent, 5, type, packed, sizeof packed, &in, MPI_COMM_WORLD);
        MPI_Pack(got, 5, type, want, sizeof want, &out, MPI_COMM_WORLD);
        expect_eq(in, out);
        expect_bytes(want, packed, (size_t)in);
    }
}

CASE(pair_types) {
    MPI_Datatype types[] = {MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT,      MPI_FLOAT_INT,
                            MPI_2INT,       MPI_SHORT,    MPI_LONG_DOUBLE_INT};
    struct window w = make_window(EXTENT, "always");
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 7; i++)
        get_pairs(&w, types[i]);
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_hits(w.win, 7);
    free_window(&w);
}

CASE(absolute_addresses) {
    struct window w = make_window(EXTENT, "always");
    unsigned char one[100], two[50], ref[150];
    int lengths[] = {100, 50};
    MPI_Aint places[2];
    MPI_Datatype type;
    MPI_Get_address(one, &places[0]);
    MPI_Get_address(two, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 3; i++) {
        memset(one, 0, sizeof one);
        memset(two, 0, sizeof two);
        MPI_Get(MPI_BOTTOM, 1, type, peer(), 333, 150, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        fill_pattern(ref, 150, peer(), 333, 0);
        expect_bytes(one, ref, 100);
        expect_bytes(two, ref + 100, 50);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, full_hits, 2);
    MPI_Type_free(&type);
    free_window(&w);
}

CASE(nothing_at_all) {
    struct window w = make_window(EXTENT, "always");
    unsigned char byte = 77;
    MPI_Datatype none;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 3; i++) {
        MPI_Get(&byte, 0, MPI_BYTE, peer(), 0, 0, MPI_BYTE, w.win);
        MPI_Get(NULL, 0, MPI_INT, peer(), EXTENT, 0, MPI_INT, w.win);
        if (test_open_mpi_major() < 5) /* their flush does not return after it */
            MPI_Get(&byte, 3, none, peer(), 8, 2, none, w.win);
        MPI_Get(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 5, 1, MPI_BYTE, w.win);
        MPI_Put(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 5, 1, MPI_BYTE, w.win);
        MPI_Put(&byte, 0, MPI_BYTE, peer(), 5, 0, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        expect_eq(byte, 77);
    }
    MPI_Get(got, 64, MPI_BYTE, peer(), 0, 64, MPI_BYTE, w.win);
    MPI_Win_flush_all(w.win);
    expect_pattern(got, 64, peer(), 0, 0);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Type_free(&none);
    free_window(&w);
}

/* The same type handle is freed and reused for another layout: the layout stored for it must be discarded. */
CASE(handles_used_again) {
    struct window w = make_window(EXTENT, "always");
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 40; i++) {
        struct side plain = {MPI_INT, 6}, from = {MPI_DATATYPE_NULL, 1};
        MPI_Type_vector(3, 2, 3 + i % 5, MPI_INT, &from.type);
        MPI_Type_commit(&from.type);
        get_twice(&w, from, plain);
        get_twice(&w, plain, from);
        MPI_Type_free(&from.type);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_hits(w.win, 80);
    free_window(&w);
}

/* Each rank has its own displacement unit: 1, 2, 4, 8, 1, ... */
CASE(displacement_units) {
    MPI_Info info = make_info("always");
    struct window w = {.base = aligned_bytes(EXTENT), .bytes = EXTENT};
    int unit = 1 << peer() % 4;
    fill_pattern(w.base, EXTENT, test_rank, 0, 0);
    MPI_Win_create(w.base, EXTENT, 1 << test_rank % 4, info, MPI_COMM_WORLD, &w.win);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 3; i++) {
        MPI_Get(got, 256, MPI_BYTE, peer(), 512 / unit, 256, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, 256, peer(), 512, 0);
    }
    expect_stat(w.win, full_hits, 2);
    fill_pattern(want, 64, test_rank, 0, 9);
    MPI_Put(want, 64, MPI_BYTE, peer(), 640 / unit, 64, MPI_BYTE, w.win);
    MPI_Win_flush(peer(), w.win);
    MPI_Get(got, 256, MPI_BYTE, peer(), 512 / unit, 256, MPI_BYTE, w.win);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(got, 128, peer(), 512, 0);
    expect_bytes(got + 128, want, 64);
    expect_pattern(got + 192, 64, peer(), 704, 0);
    barrier();
    MPI_Win_unlock_all(w.win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    free_window(&w);
}
