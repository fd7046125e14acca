/* targets.c: tests windows whose ranks differ: in size and displacement unit, in the order of the ranks, and in which ranks there are.
 * A write through one window must be seen by gets through every other window over the same memory.
 *
 * ranks: 4; configs: on off nodes2 */
#include "test.h"

#include <stdlib.h>

enum { BYTES = 4096 };

static MPI_Win create_over(unsigned char *base, size_t bytes, int unit, MPI_Comm comm) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    MPI_Win_create(base, (MPI_Aint)bytes, unit, info, comm, &win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return win;
}

static void read_from(MPI_Win win, int target, size_t disp, void *got, size_t bytes) {
    MPI_Get(got, (int)bytes, MPI_BYTE, target, (MPI_Aint)disp, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(target, win);
}

/* The first window of the program, if this is run alone: it has no memory to cache, but is known. */
CASE(shared_memory) {
    MPI_Win win;
    MPI_Comm node;
    unsigned char *base, got[64];
    int rank, size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    SKIP_IF(size < test_size || over_pt2pt(), (MPI_Comm_free(&node), "ranks do not share memory"));
    MPI_Comm_set_errhandler(node,
                            MPI_ERRORS_RETURN); /* test_shared_windows would make another window first */
    int rc = MPI_Win_allocate_shared(1024, 1, MPI_INFO_NULL, node, &base, &win);
    SKIP_IF(rc != MPI_SUCCESS, (MPI_Comm_free(&node), "ranks do not share memory"));
    MPI_Win_lock_all(0, win);
    fill_pattern(base, 1024, rank, 0, 0);
    MPI_Win_sync(win);
    barrier();
    MPI_Win_sync(win);
    for (int i = 0; i < size; i++) {
        read_from(win, i, 128, got, sizeof got);
        expect_pattern(got, sizeof got, i, 128, 0);
    }
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* Rank r has 64 (r + 1) elements of 1, 2, 4 or 8 bytes. */
CASE(units_and_sizes_differ) {
    int unit = 1 << test_rank % 4;
    size_t bytes = (size_t)unit * 64 * (size_t)(test_rank + 1);
    unsigned char *base = aligned_bytes(bytes), got[32];
    fill_pattern(base, bytes, test_rank, 0, 0);
    MPI_Win win = create_over(base, bytes, unit, MPI_COMM_WORLD);
    barrier();
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 3; round++)
        for (int rank = 0; rank < test_size; rank++)
            for (size_t at = 0; at + 32 <= 64 * (size_t)(rank + 1); at += 32) {
                read_from(win, rank, at, got, sizeof got);
                expect_pattern(got, sizeof got, rank, at << rank % 4, 0);
            }
    expect_hits(win, 10);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(base);
}

/* Writes through `other`, whose ranks those of `comm` are, and reads through `all`. Each rank writes bytes of its own. */
static void write_and_read(MPI_Win all, MPI_Win other, MPI_Comm comm) {
    int size;
    MPI_Group world, these;
    MPI_Comm_size(comm, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &these);
    for (int rank = 0; rank < size; rank++) {
        unsigned char got[64], put[64];
        int there;
        size_t at = 64 * (size_t)test_rank;
        MPI_Group_translate_ranks(these, 1, &rank, world, &there);
        for (int version = 1; version < 4; version++) {
            read_from(all, there, at, got, sizeof got);
            read_from(all, there, at, got, sizeof got);
            expect_pattern(got, sizeof got, there, at, version - 1);
            fill_pattern(put, sizeof put, there, at, version);
            MPI_Put(put, sizeof put, MPI_BYTE, rank, (MPI_Aint)at, sizeof put, MPI_BYTE, other);
            MPI_Win_flush(rank, other);
            read_from(all, there, at, got, sizeof got);
            expect_pattern(got, sizeof got, there, at, version);
        }
    }
    MPI_Group_free(&world);
    MPI_Group_free(&these);
}

/* A window of all ranks, and one of those of `comm`, which is MPI_COMM_NULL in the others. */
static void alias_with(MPI_Comm comm) {
    unsigned char *base = aligned_bytes(BYTES);
    MPI_Win all, other = MPI_WIN_NULL;
    fill_pattern(base, BYTES, test_rank, 0, 0);
    all = create_over(base, BYTES, 1, MPI_COMM_WORLD);
    if (comm != MPI_COMM_NULL)
        other = create_over(base, BYTES, 1, comm);
    barrier();
    MPI_Win_lock_all(0, all);
    if (comm != MPI_COMM_NULL) {
        MPI_Win_lock_all(0, other);
        write_and_read(all, other, comm);
        expect_hits(all, 3);
    }
    barrier();
    if (comm != MPI_COMM_NULL)
        MPI_Win_unlock_all(other);
    MPI_Win_unlock_all(all);
    if (comm != MPI_COMM_NULL)
        MPI_Win_free(&other);
    MPI_Win_free(&all);
    free(base);
}

static void alias_with_order(int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    alias_with(comm);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

CASE(in_reverse_order) {
    alias_with_order(0, -test_rank);
}

CASE(in_irregular_order) {
    static const int keys[] = {2, 0, 3, 1};
    alias_with_order(0, keys[test_rank % 4]);
}

CASE(every_second_rank) {
    alias_with_order(test_rank % 2 ? MPI_UNDEFINED : 0, 0);
}

CASE(all_but_the_first) {
    alias_with_order(test_rank ? 0 : MPI_UNDEFINED, 0);
}
