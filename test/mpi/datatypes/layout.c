/* layout.c: compares the layouts that the library derives from datatypes with MPI's own behaviour.
 *
 * The program is linked with the sources that it tests (src/mpi/types/layout*.c, host/host.c) and does not preload the
 * library. Random types are nested from all constructors; MPI_Pack and MPI_Unpack show which bytes they describe, in
 * which order. Other cases test what random types reach only by chance: which types need no list, which are refused,
 * handles that are reused, threads.
 *
 * configs: bare */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "make_types.h"
#include "mpi/types/layout_build.h"
#include "tables/shape.h"

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { ARENA = 2 * TYPE_REACH };

static void forget_and_free(MPI_Datatype *type) {
    layout_forget(*type);
    MPI_Type_free(type);
}

/* Normal form: no two adjacent blocks touch, and a list exists only if it is needed. */
static bool is_normal(const struct shape *s) {
    uint64_t bytes = 0;
    bool regular = true;
    for (uint64_t i = 0; i < s->blocks; i++) {
        struct shape_block block = shape_block_at(s, i), first = shape_block_at(s, 0);
        bytes += block.bytes;
        if (!block.bytes || (i == 0 && block.offset))
            return false;
        if (i == 0)
            continue;
        struct shape_block before = shape_block_at(s, i - 1), second = shape_block_at(s, 1);
        if (before.offset + (int64_t)before.bytes == block.offset)
            return false;
        regular = regular && block.bytes == first.bytes && block.offset == (int64_t)i * second.offset;
    }
    return bytes == s->bytes && regular == !s->list;
}

static bool overlaps_itself(const struct layout *l) {
    static unsigned char seen[ARENA];
    memset(seen, 0, sizeof seen);
    for (uint64_t i = 0; i < l->shape.blocks; i++) {
        struct shape_block block = shape_block_at(&l->shape, i);
        unsigned char *at = seen + TYPE_REACH + l->offset + block.offset;
        if (memchr(at, 1, block.bytes))
            return true;
        memset(at, 1, block.bytes);
    }
    return false;
}

static unsigned char arena[ARENA], packed[TYPE_BYTES], gathered[TYPE_BYTES], scattered[ARENA],
    unpacked[ARENA];

static bool pack(const void *from, int count, MPI_Datatype type, int want) {
    int position = 0;
    memset(packed, 0xee, sizeof packed);
    MPI_Pack((void *)from, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    return expect_eq(position, want);
}

static bool reads_alike(MPI_Datatype type, int count, const struct layout *l) {
    shape_gather(gathered, arena + TYPE_REACH + l->offset, &l->shape, l->shape.bytes);
    return pack(arena + TYPE_REACH, count, type, (int)l->shape.bytes) &&
           expect_bytes(gathered, packed, l->shape.bytes);
}

static bool writes_alike(MPI_Datatype type, int count, const struct layout *l) {
    int position = 0;
    if (overlaps_itself(l)) /* MPI then chooses which value remains */
        return true;
    memset(scattered, 0, sizeof scattered);
    memset(unpacked, 0, sizeof unpacked);
    shape_scatter(scattered + TYPE_REACH + l->offset, &l->shape, gathered, l->shape.bytes);
    MPI_Unpack(gathered, (int)l->shape.bytes, &position, unpacked + TYPE_REACH, count, type, MPI_COMM_SELF);
    return expect_bytes(scattered, unpacked, sizeof unpacked);
}

static bool finds_way_back(const struct layout *l) {
    MPI_Datatype type;
    if (!expect_eq(layout_to_type(&l->shape, &type), MPI_SUCCESS))
        return false;
    bool alike = pack(arena + TYPE_REACH + l->offset, 1, type, (int)l->shape.bytes);
    MPI_Type_free(&type);
    return alike && expect_bytes(gathered, packed, l->shape.bytes);
}

/* Reads the same bytes by absolute addresses. */
static bool reads_from_bottom(MPI_Datatype type, int count, const struct layout *l) {
    MPI_Datatype absolute;
    MPI_Aint address;
    struct layout a = {.offset = 0};
    MPI_Get_address(arena + TYPE_REACH, &address);
    MPI_Type_create_hindexed(1, &count, &address, type, &absolute);
    MPI_Type_commit(&absolute);
    bool alike = expect_eq(layout_make(1, absolute, &a), 0) && expect_eq(a.shape.blocks, l->shape.blocks);
    if (alike && l->shape.bytes) {
        alike = expect_eq(a.offset, address + l->offset);
        shape_gather(packed, (const void *)(uintptr_t)a.offset, &a.shape, a.shape.bytes);
        alike = alike && expect_bytes(packed, gathered, l->shape.bytes);
    }
    layout_free(&a);
    forget_and_free(&absolute);
    return alike;
}

static bool is_described(MPI_Datatype type, int count) {
    MPI_Count size;
    struct layout l, again;
    TEST_LARGE(Type_size)(type, &size);
    if (!expect_eq(layout_make(count, type, &l), 0))
        return false;
    bool fine = expect_eq(l.shape.bytes, size * count) && expect(is_normal(&l.shape)) &&
                reads_alike(type, count, &l) && writes_alike(type, count, &l) && finds_way_back(&l) &&
                reads_from_bottom(type, count, &l);
    if (expect_eq(layout_make(count, type, &again), 0)) { /* from the table */
        fine = fine && expect_eq(again.offset, l.offset) && expect_eq(again.shape.blocks, l.shape.blocks);
        layout_free(&again);
    }
    layout_free(&l);
    return fine;
}

/* MPIs contradict themselves for some structs with empty parts, and Open MPI for strides of -1 byte. */
static bool may_be_refused(void) {
    return strstr(types_story, "struct") || (test_open_mpi() && strstr(types_story, ",-1"));
}

static bool is_fine(MPI_Datatype type, int count, int *refused) {
    struct layout l;
    if (!is_small_type(type, count))
        return true;
    if (layout_make(count, type, &l)) {
        ++*refused;
        return expect(may_be_refused());
    }
    layout_free(&l);
    return is_described(type, count);
}

/* Tests a type as part of another type: it must be known, and the program then frees it. */
static bool is_fine_inside(struct made part, int *refused) {
    MPI_Datatype outer;
    MPI_Type_vector(2, 1, 3, part.type, &outer);
    MPI_Type_commit(&outer);
    bool fine = is_fine(outer, 2, refused);
    layout_forget(outer);
    if (part.derived)
        forget_and_free(&part.type);
    fine = fine && is_fine(outer, 1, refused);
    forget_and_free(&outer);
    return fine;
}

CASE(random_types) {
    double end = MPI_Wtime() + test_seconds;
    bool fine = true;
    int tried = 0, refused = 0;
    struct random dice;
    random_seed(&dice, test_seed + 1000003u * (uint64_t)test_rank);
    for (int i = 0; i < ARENA; i++)
        arena[i] = (unsigned char)random_next(&dice);
    for (; fine && MPI_Wtime() < end; tried++) {
        struct made m = make_random_type(&dice, 1 + (int)random_below(&dice, 4));
        if (m.derived)
            MPI_Type_commit(&m.type);
        fine = is_fine(m.type, (int)random_below(&dice, 5), &refused);
        fine = is_fine_inside(m, &refused) && fine;
    }
    if (!fine)
        fprintf(stderr, "rank %d: type %d:%s\n", test_rank, tried, types_story);
    /* A type may be refused up to three times; about 9 refusals in 100 types are usual. The constant is for chance among the few
     * types that a busy machine tries. */
    expect(refused <= 30 + tried / 5);
    if (test_rank == 0)
        printf("%d types on rank 0, refused %d times\n", tried, refused);
}

/* One element, or `count` elements, of a type that must need no list. */
static struct layout make_regular(int count, MPI_Datatype type, uint64_t blocks, uint64_t bytes,
                                  int64_t stride) {
    struct layout l = {.offset = -1};
    expect_eq(layout_make(count, type, &l), 0);
    expect(!l.shape.list && !l.owned);
    expect_eq(l.shape.blocks, blocks);
    expect_eq(l.shape.block_bytes, bytes);
    expect_eq(l.shape.stride, stride);
    return l;
}

CASE(plain_types) {
    uint64_t size = 0;
    MPI_Datatype row;
    make_regular(5, MPI_DOUBLE, 1, 40, 0);
    expect(layout_is_plain(MPI_DOUBLE, &size) && size == sizeof(double));
    MPI_Type_contiguous(10, MPI_INT, &row);
    expect(!layout_is_plain(row, &size)); /* not yet known */
    make_regular(3, row, 1, 120, 0);
    expect(!layout_is_plain(row, &size) && !layout_is_trusted(row)); /* known, not yet accepted by MPI */
    layout_trust(row);
    expect(layout_is_plain(row, &size) && size == 40);
    forget_and_free(&row);
    make_regular(1, MPI_DOUBLE_INT, 1, 12, 0);
    expect(!layout_is_plain(MPI_DOUBLE_INT, &size)); /* a gap at the end */
    make_regular(3, MPI_DOUBLE_INT, 3, 12, 16);
}

CASE(fortran_types) {
    SKIP_IF(!test_has_fortran(), "this MPI was built without Fortran");
    MPI_Datatype types[6] = {MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION};
    uint64_t sizes[6] = {4, 4, 8, 8, 16, 8}, size = 0;
    MPI_Type_create_f90_real(15, 300, &types[3]);
    MPI_Type_create_f90_complex(15, 300, &types[4]);
    MPI_Type_create_f90_integer(15, &types[5]);
    for (int i = 0; i < 6; i++) {
        make_regular(2, types[i], 1, 2 * sizes[i], 0);
        expect(layout_is_plain(types[i], &size) && size == sizes[i]);
        layout_forget(types[i]); /* without effect */
        expect(layout_is_plain(types[i], &size));
    }
}

CASE(regular_types) {
    MPI_Datatype column, padded, tile;
    MPI_Type_vector(10, 2, 7, MPI_INT, &column);
    make_regular(1, column, 10, 8, 28);
    MPI_Type_create_resized(column, 0, 280, &padded); /* the next element continues the stride */
    make_regular(4, padded, 40, 8, 28);
    expect_eq(make_regular(1, MPI_BYTE, 1, 1, 0).offset, 0);
    forget_and_free(&column);
    forget_and_free(&padded);
    int lengths[4] = {1, 1, 1, 1}, places[4] = {0, 1, 4, 5}; /* regular only after the last merge */
    MPI_Type_indexed(4, lengths, places, MPI_INT, &column);
    make_regular(1, column, 2, 8, 16);
    forget_and_free(&column);
    for (int fortran = 0; fortran < 2; fortran++) {
        int sizes[2] = {20, 30}, subsizes[2] = {5, 6}, starts[2] = {3, 4};
        MPI_Type_create_subarray(2, sizes, subsizes, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                 MPI_DOUBLE, &tile);
        struct layout l = fortran ? make_regular(1, tile, 6, 40, 160) : make_regular(1, tile, 5, 48, 240);
        expect_eq(l.offset, fortran ? 8 * (3 + 4 * 20) : 8 * (3 * 30 + 4));
        forget_and_free(&tile);
    }
}

/* No more than three numbers, whatever the counts. */
CASE(huge_regular_types) {
    MPI_Datatype row, column;
    MPI_Type_vector(1 << 30, 1, 2, MPI_DOUBLE, &column);
    make_regular(1, column, 1 << 30, 8, 16);
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &row);
    make_regular(1 << 20, row, 1, (uint64_t)8 << 50, 0);
    forget_and_free(&row);
    forget_and_free(&column);
}

CASE(refused) {
    struct layout l = {.offset = 77};
    MPI_Datatype pair, many;
    int lengths[2] = {1, 1}, places[2] = {0, 2};
    expect_eq(layout_make(1, MPI_DATATYPE_NULL, &l), -ENOTSUP);
    expect_eq(layout_make(-1, MPI_INT, &l), -ENOTSUP);
    expect_eq(layout_make(1, (MPI_Datatype)0, &l), -ENOTSUP);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &pair);
    MPI_Type_create_hvector(LAYOUT_BLOCKS_MAX, 1, 100, pair, &many);
    for (int i = 0; i < 2; i++) /* first computed, then from the table */
        expect_eq(layout_make(1, many, &l), -ENOTSUP);
    expect_eq(layout_make(LAYOUT_BLOCKS_MAX, pair, &l), -ENOTSUP);
    expect_eq(layout_make(INT64_MAX / 2, pair, &l), -ENOTSUP);
    expect_eq(l.offset, 77); /* unchanged */
    forget_and_free(&pair);
    forget_and_free(&many);
}

static MPI_Datatype make_ragged(int first) {
    MPI_Datatype type;
    int lengths[3] = {1, first, 2}, places[3] = {0, 3, 3 + first + 1};
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    return type;
}

static bool is_ragged(const struct layout *l, int first) {
    const struct shape_block *at = l->shape.list;
    return l->shape.blocks == 3 && at && at[0].bytes == 4 && at[1].bytes == 4u * (unsigned)first &&
           at[2].offset == 4 * (4 + first);
}

static int count_known(void) {
    int n = 0;
    for (int i = 0; i < 1 << LAYOUT_BUCKET_BITS; i++)
        for (const struct layout_type *t = layout_types[i]; t; t = t->next)
            n++;
    return n;
}

CASE(handles_used_again) {
    int known = count_known();
    for (int i = 0; i < 20000; i++) {
        int first = 2 + i % 50;
        MPI_Datatype type = make_ragged(first);
        struct layout l;
        if (!expect_eq(layout_make(1, type, &l), 0))
            break;
        forget_and_free(&type);
        bool fine = expect(is_ragged(&l, first)); /* the list outlives the type */
        layout_free(&l);
        if (!fine)
            break;
    }
    expect_eq(count_known(), known);
}

static MPI_Datatype shared_type;

static void *use_types(void *arg) {
    int number = *(int *)arg;
    uint64_t size = 0;
    for (int i = 0; i < 3000; i++) {
        struct layout mine, shared;
        int first = 2 + (number + i) % 50;
        MPI_Datatype type = make_ragged(first);
        bool fine =
            expect_eq(layout_make(1, type, &mine), 0) && expect_eq(layout_make(1, shared_type, &shared), 0);
        if (!fine)
            return NULL;
        fine = expect(is_ragged(&mine, first)) && expect(is_ragged(&shared, 7));
        layout_free(&shared);
        forget_and_free(&type);
        layout_free(&mine);
        fine = fine && expect(!layout_is_plain(MPI_SHORT, &size) || size == sizeof(short));
        if (!fine || layout_make(1, MPI_SHORT, &mine))
            return NULL;
    }
    return NULL;
}

static void run_threads(void *(*body)(void *)) {
    pthread_t threads[4];
    int numbers[4] = {0, 11, 22, 33};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, body, &numbers[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

CASE(threads) {
    int known = count_known();
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    shared_type = make_ragged(7);
    run_threads(use_types);
    forget_and_free(&shared_type);
    expect(count_known() - known <= 1); /* at most MPI_SHORT */
}

static MPI_Datatype inner_type;
static _Atomic bool described;

/* As if this thread used the type and freed its handle, again and again. */
static void *keep_and_forget_inner(void *arg) {
    struct layout_element e;
    if (!expect_eq(layout_describe(inner_type, &e), 0))
        return NULL;
    while (!described) {
        layout_keep(inner_type, &e);
        layout_forget(inner_type);
    }
    layout_free(&e.layout);
    return arg;
}

static bool describe_outer(MPI_Datatype outer) {
    struct layout l;
    if (!expect_eq(layout_make(1, outer, &l), 0))
        return false;
    bool fine = expect(is_ragged(&l, 7));
    layout_free(&l);
    layout_forget(outer);
    return fine;
}

/* On an MPI whose MPI_Type_get_contents returns the same handle, the thread that describes the outer type finds the inner one in the
 * table. */
CASE(inner_types_freed_by_another_thread) {
    double end = MPI_Wtime() + test_seconds;
    pthread_t other;
    MPI_Datatype outer;
    int known = count_known();
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    inner_type = make_ragged(7);
    MPI_Type_dup(inner_type, &outer);
    described = false;
    pthread_create(&other, NULL, keep_and_forget_inner, NULL);
    while (describe_outer(outer) && MPI_Wtime() < end)
        continue;
    described = true;
    pthread_join(other, NULL);
    forget_and_free(&outer);
    forget_and_free(&inner_type);
    expect(count_known() - known <= 1); /* at most MPI_INT */
}

/* A handle that MPI never sees: the n-th number that falls into the same bucket of the table. */
static MPI_Datatype fake_handle(int n) {
    uint64_t key = 1 << 20;
    for (int found = -1; found < n;)
        found += layout_bucket(++key) == layout_bucket(1);
    return (MPI_Datatype)(uintptr_t)key;
}

enum { FAKES = 5 };            /* per thread, created and deleted */
static MPI_Datatype fakes[40]; /* the last one stays, for all threads */

static void keep_fake(int n) {
    struct layout_element e = {.layout.shape = shape_contiguous(100u + (unsigned)n), .extent = 100 + n};
    layout_keep(fakes[n], &e);
    layout_trust(fakes[n]);
}

static void *keep_and_forget(void *arg) {
    int first = *(int *)arg;
    uint64_t size;
    for (int i = 0; i < 20000; i++) {
        int n = first + i % FAKES;
        keep_fake(n);
        if (layout_is_plain(fakes[n], &size) && !expect_eq(size, 100 + n))
            return NULL;
        if (layout_is_plain(fakes[39], &size) && !expect_eq(size, 139))
            return NULL;
        layout_forget(fakes[n]);
        if (!expect(!layout_is_plain(fakes[n], &size)))
            return NULL;
    }
    return NULL;
}

/* Makes no MPI calls, so that only the table itself orders the threads. */
CASE(table_under_threads) {
    int known = count_known();
    uint64_t size = 0;
    for (int i = 0; i < 40; i++)
        fakes[i] = fake_handle(i);
    keep_fake(39);
    run_threads(keep_and_forget);
    expect(layout_is_plain(fakes[39], &size) && size == 139);
    layout_forget(fakes[39]);
    expect_eq(count_known(), known);
}

static double ns_since(uint64_t start, int rounds) {
    return (double)(clock_ns() - start) / rounds;
}

/* Prints times and checks none: machines differ. */
CASE(speed) {
    enum { ROUNDS = 20000 };
    make_regular(1, MPI_DOUBLE, 1, 8, 0);
    uint64_t size = 0, sum = 0, start = clock_ns();
    for (int i = 0; i < ROUNDS; i++)
        sum += layout_is_plain(MPI_DOUBLE, &size) ? size : 0;
    double plain = ns_since(start, ROUNDS), all = 0, bare = 0;
    for (int with = 0; with < 2; with++) {
        start = clock_ns();
        for (int i = 0; i < ROUNDS; i++) {
            MPI_Datatype tile;
            struct layout l;
            int sizes[2] = {100, 100}, subsizes[2] = {8, 8}, starts[2] = {i % 90, 3};
            MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &tile);
            if (with && !layout_make(1, tile, &l)) {
                sum += l.shape.bytes;
                layout_free(&l);
                layout_forget(tile);
            }
            MPI_Type_free(&tile);
        }
        *(with ? &all : &bare) = ns_since(start, ROUNDS);
    }
    expect_eq(sum, ROUNDS * (8u + 512u));
    if (test_rank == 0)
        printf("plain type %.1f ns; new tile %.0f ns to make and free, %.0f ns more to describe and forget\n",
               plain, bare, all - bare);
}
