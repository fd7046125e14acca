/* writes.c: tests that a process's own writes invalidate the entries that they overlap, and no others, in every mode.
 * Most cases use mode always, in which nothing else invalidates entries.
 *
 *      | before  64 | block  64 | after  64 |       three cached entries; the write goes into the middle one
 *
 * Only the previous rank writes to a rank's window, so that the expected data is known on every rank without the
 * cache too. */
#include "test.h"

#include <stdlib.h>

enum { WINDOW = 8192, BLOCK = 64, INTS = BLOCK / (int)sizeof(int) };

static void read_bytes(MPI_Win win, void *to, size_t offset, size_t bytes) {
    MPI_Get(to, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(peer(), win);
}

static void put_bytes(MPI_Win win, const void *from, size_t offset, size_t bytes) {
    MPI_Put(from, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, win);
}

/* Writes into the ints at displacement BLOCK and sets `ints` to their new values. The buffers live until the flush. */
typedef void writer(MPI_Win win, int *ints, MPI_Request *request);

static void expect_dropped_block(writer *write) {
    struct window w = open_window(WINDOW, "always");
    unsigned char before[BLOCK], after[BLOCK];
    int ints[INTS], got[INTS];
    MPI_Request request = MPI_REQUEST_NULL;
    read_bytes(w.win, before, 0, BLOCK);
    read_bytes(w.win, ints, BLOCK, BLOCK);
    read_bytes(w.win, after, 2 * BLOCK, BLOCK);
    write(w.win, ints, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(peer(), w.win);
    read_bytes(w.win, before, 0, BLOCK);
    read_bytes(w.win, got, BLOCK, BLOCK);
    read_bytes(w.win, after, 2 * BLOCK, BLOCK);
    expect_pattern(before, BLOCK, peer(), 0, 0);
    expect_bytes(got, ints, BLOCK);
    expect_pattern(after, BLOCK, peer(), 2 * BLOCK, 0);
    expect_stat(w.win, dropped, 1);
    expect_stat(w.win, full_hits, 2);
    read_bytes(w.win, got, BLOCK, BLOCK);
    expect_bytes(got, ints, BLOCK);
    expect_stat(w.win, full_hits, 3);
    close_window(&w);
}

static int operand[INTS], result[INTS], compare;

static void by_put(MPI_Win win, int *ints, MPI_Request *request) {
    for (int i = 4; i < 8; i++)
        ints[i] = operand[i] = 1000 + i;
    MPI_Put(operand + 4, 4, MPI_INT, peer(), BLOCK + 4 * sizeof(int), 4, MPI_INT, win);
}

static void by_rput(MPI_Win win, int *ints, MPI_Request *request) {
    ints[INTS - 1] = operand[0] = 42;
    MPI_Rput(operand, 1, MPI_INT, peer(), 2 * BLOCK - sizeof(int), 1, MPI_INT, win, request);
}

static void add_up(int *ints, int first, int count) {
    for (int i = first; i < first + count; i++) {
        operand[i] = i + 1;
        ints[i] = (int)((unsigned)ints[i] + (unsigned)operand[i]);
    }
}

static void by_accumulate(MPI_Win win, int *ints, MPI_Request *request) {
    add_up(ints, 0, INTS);
    MPI_Accumulate(operand, INTS, MPI_INT, peer(), BLOCK, INTS, MPI_INT, MPI_SUM, win);
}

static void by_replace(MPI_Win win, int *ints, MPI_Request *request) {
    ints[0] = operand[0] = -5;
    MPI_Accumulate(operand, 1, MPI_INT, peer(), BLOCK, 1, MPI_INT, MPI_REPLACE, win);
}

static void by_raccumulate(MPI_Win win, int *ints, MPI_Request *request) {
    add_up(ints, 2, 3);
    MPI_Raccumulate(operand + 2, 3, MPI_INT, peer(), BLOCK + 2 * sizeof(int), 3, MPI_INT, MPI_SUM, win,
                    request);
}

static void by_get_accumulate(MPI_Win win, int *ints, MPI_Request *request) {
    add_up(ints, 0, INTS);
    MPI_Get_accumulate(operand, INTS, MPI_INT, result, INTS, MPI_INT, peer(), BLOCK, INTS, MPI_INT, MPI_SUM,
                       win);
}

static void by_rget_accumulate(MPI_Win win, int *ints, MPI_Request *request) {
    add_up(ints, 8, 8);
    MPI_Rget_accumulate(operand + 8, 8, MPI_INT, result, 8, MPI_INT, peer(), BLOCK + 8 * sizeof(int), 8,
                        MPI_INT, MPI_SUM, win, request);
}

static void by_fetch_and_op(MPI_Win win, int *ints, MPI_Request *request) {
    add_up(ints, 0, 1);
    MPI_Fetch_and_op(operand, result, MPI_INT, peer(), BLOCK, MPI_SUM, win);
}

static void by_compare_and_swap(MPI_Win win, int *ints, MPI_Request *request) {
    compare = ints[3];
    ints[3] = operand[3] = 31337;
    MPI_Compare_and_swap(operand + 3, &compare, result, MPI_INT, peer(), BLOCK + 3 * sizeof(int), win);
}

CASE(put) {
    expect_dropped_block(by_put);
}

CASE(rput) {
    expect_dropped_block(by_rput);
}

CASE(accumulate) {
    expect_dropped_block(by_accumulate);
    expect_dropped_block(by_replace);
}

CASE(raccumulate) {
    expect_dropped_block(by_raccumulate);
}

CASE(get_accumulate) {
    expect_dropped_block(by_get_accumulate);
}

CASE(rget_accumulate) {
    expect_dropped_block(by_rget_accumulate);
}

CASE(fetch_and_op) {
    expect_dropped_block(by_fetch_and_op);
}

CASE(compare_and_swap) {
    expect_dropped_block(by_compare_and_swap);
}

/* Entries of 32 bytes side by side; writes of all lengths across their borders. */
CASE(borders) {
    static const struct {
        size_t offset, bytes, dropped;
    } puts[] = {{32, 32, 1}, {63, 1, 1},  {64, 1, 1},  {63, 2, 2},
                {31, 34, 3}, {0, 256, 8}, {100, 0, 0}, {256, 64, 0}};
    unsigned char got[32], mine[256], model[256];
    for (size_t i = 0; i < sizeof puts / sizeof puts[0]; i++) {
        struct window w = open_window(WINDOW, "always");
        fill_pattern(model, 256, peer(), 0, 0);
        for (size_t at = 0; at < 256; at += 32)
            read_bytes(w.win, got, at, 32);
        fill_pattern(mine, 256, test_rank, 0, 5);
        put_bytes(w.win, mine, puts[i].offset, puts[i].bytes);
        if (puts[i].offset + puts[i].bytes <= 256)
            memcpy(model + puts[i].offset, mine, puts[i].bytes);
        MPI_Win_flush(peer(), w.win);
        for (size_t at = 0; at < 256; at += 32) {
            read_bytes(w.win, got, at, 32);
            expect_bytes(got, model + at, 32);
        }
        expect_stat(w.win, dropped, puts[i].dropped);
        expect_stat(w.win, full_hits, 8 - puts[i].dropped);
        close_window(&w);
    }
}

/* A matrix of 16 x 16 ints at 1024, with cached columns. A write changes one column. */
CASE(a_column_between_columns) {
    struct window w = open_window(WINDOW, "always");
    int column_got[16], column_put[16];
    MPI_Datatype column;
    MPI_Type_vector(16, 1, 16, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 16; i++)
        column_put[i] = 7000 + i;
    for (int round = 0; round < 2; round++) {
        for (int j = 0; j < 16; j++) {
            MPI_Get(column_got, 16, MPI_INT, peer(), 1024 + 4 * j, 1, column, w.win);
            MPI_Win_flush(peer(), w.win);
            if (round == 1 && j == 5)
                expect_bytes(column_got, column_put, sizeof column_put);
            else
                expect_pattern(&column_got[3], 4, peer(), (size_t)(1024 + 4 * j + 3 * 64), 0);
        }
        if (round == 0)
            MPI_Put(column_put, 16, MPI_INT, peer(), 1024 + 4 * 5, 1, column, w.win);
        MPI_Win_flush(peer(), w.win);
    }
    expect_stat(w.win, dropped, 1);
    expect_stat(w.win, full_hits, 15);
    MPI_Type_free(&column);
    close_window(&w);
}

CASE(other_targets_stay) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK];
    int third = (test_rank + 2) % test_size;
    SKIP_IF(test_size < 3, (close_window(&w), "needs 3 ranks"));
    for (int round = 0; round < 2; round++) {
        MPI_Get(got, BLOCK, MPI_BYTE, third, 512, BLOCK, MPI_BYTE, w.win);
        MPI_Win_flush(third, w.win);
        expect_pattern(got, BLOCK, third, 512, 0);
        fill_pattern(mine, BLOCK, test_rank, 0, 1);
        put_bytes(w.win, mine, 1024, BLOCK);
        MPI_Win_flush(peer(), w.win);
    }
    expect_stat(w.win, full_hits, 1);
    expect_stat(w.win, dropped, 0);
    close_window(&w);
}

/* The result of a get that is concurrent with a put is undefined. The result of a get after the flush is not. */
static void get_beside_put(bool get_first, bool flush_local_between) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK];
    for (int version = 1; version < 6; version++) {
        fill_pattern(mine, BLOCK, test_rank, 256, version);
        if (get_first)
            MPI_Get(got, BLOCK, MPI_BYTE, peer(), 256, BLOCK, MPI_BYTE, w.win);
        put_bytes(w.win, mine, 256, BLOCK);
        if (flush_local_between)
            MPI_Win_flush_local(peer(), w.win);
        if (!get_first)
            MPI_Get(got, BLOCK, MPI_BYTE, peer(), 256, BLOCK, MPI_BYTE, w.win);
        if (flush_local_between)
            MPI_Win_flush_local(peer(), w.win);
        MPI_Win_flush(peer(), w.win);
        for (int twin = 0; twin < 2; twin++) {
            read_bytes(w.win, got, 256, BLOCK);
            expect_pattern(got, BLOCK, test_rank, 256, version);
        }
    }
    expect_hits(w.win, 5);
    close_window(&w);
}

CASE(get_beside_put) {
    get_beside_put(true, false);
    get_beside_put(false, false);
    get_beside_put(true, true);
    get_beside_put(false, true);
}

/* On MPICH 4.0 a flush_local after a get and a put, in this order, returns before the get is complete. The cache must
 * not keep the contents of the buffer at that point. */
CASE(get_then_put_then_flush_local) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK] = {0};
    for (size_t at = 1024; at < 2048; at += BLOCK) {
        memset(got, 0, BLOCK);
        MPI_Get(got, BLOCK, MPI_BYTE, peer(), (MPI_Aint)at, BLOCK, MPI_BYTE, w.win);
        put_bytes(w.win, mine, 256, BLOCK);
        if (at % 128)
            MPI_Win_flush_local(peer(), w.win);
        else
            MPI_Win_flush_local_all(w.win);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, BLOCK, peer(), at, 0);
        read_bytes(w.win, got, at, BLOCK);
        expect_pattern(got, BLOCK, peer(), at, 0);
    }
    close_window(&w);
}

/* The Wait on an Rput completes it locally only. */
CASE(get_between_wait_and_flush) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK];
    MPI_Request request;
    for (int version = 1; version < 6; version++) {
        fill_pattern(mine, BLOCK, test_rank, 256, version);
        MPI_Rput(mine, BLOCK, MPI_BYTE, peer(), 256, BLOCK, MPI_BYTE, w.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get(got, BLOCK, MPI_BYTE, peer(), 256, BLOCK, MPI_BYTE, w.win);
        MPI_Win_flush_local(peer(), w.win);
        MPI_Win_flush(peer(), w.win);
        for (int twin = 0; twin < 2; twin++) {
            read_bytes(w.win, got, 256, BLOCK);
            expect_pattern(got, BLOCK, test_rank, 256, version);
        }
    }
    close_window(&w);
}

/* A hit between the put and the flush must not hide the pending put: the flush must reach MPI. The peer checks the
 * data in its own memory. */
CASE(flush_after_put_and_hit_completes_the_put) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK];
    int previous = (test_rank + test_size - 1) % test_size;
    read_bytes(w.win, got, 0, BLOCK);
    for (int version = 1; version < 6; version++) {
        fill_pattern(mine, BLOCK, test_rank, 256, version);
        put_bytes(w.win, mine, 256, BLOCK);
        MPI_Win_flush_local(peer(), w.win);
        MPI_Get(got, BLOCK, MPI_BYTE, peer(), 0, BLOCK, MPI_BYTE, w.win);
        if (version % 2)
            MPI_Win_flush(peer(), w.win);
        else
            MPI_Win_flush_all(w.win);
        expect_pattern(got, BLOCK, peer(), 0, 0);
        barrier();
        MPI_Win_sync(w.win);
        expect_pattern(w.base + 256, BLOCK, previous, 256, version);
        barrier();
    }
    expect_hits(w.win, 5);
    close_window(&w);
}

/* The second window begins `shift` bytes into the first. Each window sees writes through the other. */
static void expect_one_memory(size_t shift) {
    struct window w = open_window(WINDOW, "always");
    MPI_Info info = make_info("always");
    MPI_Win inner;
    unsigned char got[BLOCK], mine[BLOCK];
    MPI_Win_create(w.base + shift, 1024, 1, info, MPI_COMM_WORLD, &inner);
    MPI_Win_lock_all(0, inner);
    for (int version = 1; version < 5; version++) {
        MPI_Win to = version % 2 ? inner : w.win, from = version % 2 ? w.win : inner;
        size_t put_at = version % 2 ? 384 - shift : 384, get_at = version % 2 ? 384 : 384 - shift;
        read_bytes(from, got, get_at, BLOCK);
        fill_pattern(mine, BLOCK, test_rank, 384, version);
        put_bytes(to, mine, put_at, BLOCK);
        MPI_Win_flush(peer(), to);
        read_bytes(from, got, get_at, BLOCK);
        expect_pattern(got, BLOCK, test_rank, 384, version);
    }
    barrier();
    MPI_Win_unlock_all(inner);
    MPI_Win_free(&inner);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    close_window(&w);
}

CASE(two_windows_over_one_memory) {
    expect_one_memory(0);
}

CASE(a_window_inside_another) {
    SKIP_IF(!test_open_mpi(), "MPICH 4.0 over UCX addresses the inner window by the outer one's base");
    expect_one_memory(128);
}

CASE(puts_between_fences) {
    struct window w = make_window(WINDOW, "always");
    unsigned char got[BLOCK], mine[BLOCK];
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int version = 1; version < 5; version++) {
        MPI_Get(got, BLOCK, MPI_BYTE, peer(), 64, BLOCK, MPI_BYTE, w.win);
        MPI_Win_fence(0, w.win);
        expect_pattern(got, BLOCK, version > 1 ? test_rank : peer(), 64, version - 1);
        fill_pattern(mine, BLOCK, test_rank, 64, version);
        put_bytes(w.win, mine, 64, BLOCK);
        MPI_Win_fence(0, w.win);
        MPI_Get(got, BLOCK, MPI_BYTE, peer(), 64, BLOCK, MPI_BYTE, w.win);
        MPI_Win_fence(0, w.win);
        expect_pattern(got, BLOCK, test_rank, 64, version);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    expect_hits(w.win, 3);
    free_window(&w);
}

/* In transparent mode a get sees the writes of other ranks as well. */
CASE(puts_of_others_in_transparent_mode) {
    struct window w = make_window(WINDOW, "transparent");
    unsigned char got[BLOCK], mine[BLOCK];
    MPI_Win_lock_all(0, w.win);
    for (int version = 1; version < 5; version++) {
        read_bytes(w.win, got, 512, BLOCK);
        barrier();
        if (test_rank == version % test_size) {
            fill_pattern(mine, BLOCK, 0, 512, version);
            for (int target = 0; target < test_size; target++)
                MPI_Put(mine, BLOCK, MPI_BYTE, target, 512, BLOCK, MPI_BYTE, w.win);
            MPI_Win_flush_all(w.win);
        }
        barrier();
        read_bytes(w.win, got, 512, BLOCK);
        expect_pattern(got, BLOCK, 0, 512, version);
        barrier();
    }
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}
