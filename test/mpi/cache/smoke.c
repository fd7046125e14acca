/* smoke.c: a minimal test of the cache. Repeated gets return the same data, in each kind of memory and in each mode;
 * the next get sees a put. */
#include "test.h"

static void read_rounds(MPI_Win win, int rounds) {
    unsigned char got[1000];
    for (int i = 0; i < rounds; i++) {
        memset(got, 0, sizeof got);
        MPI_Get(got, sizeof got, MPI_BYTE, peer(), 24, sizeof got, MPI_BYTE, win);
        MPI_Win_flush(peer(), win);
        expect_pattern(got, sizeof got, peer(), 24, 0);
    }
}

CASE(always) {
    struct window w = make_window(4096, "always");
    MPI_Win_lock_all(0, w.win);
    read_rounds(w.win, 10);
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, full_hits, 9);
    expect_stat(w.win, bytes_fetched, 1000);
    expect_stat(w.win, bytes_served, 9000);
    free_window(&w);
}

CASE(transparent) {
    struct window w = make_window(4096, "transparent");
    MPI_Win_lock_all(0, w.win);
    read_rounds(w.win, 10);
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, full_hits, 0);
    free_window(&w);
}

CASE(no_info) {
    struct window w = make_window(4096, NULL);
    MPI_Win_lock_all(0, w.win);
    read_rounds(w.win, 10);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(allocated) {
    MPI_Win win;
    unsigned char *base;
    MPI_Info info = make_info("always");
    MPI_Win_allocate(4096, 1, info, MPI_COMM_WORLD, &base, &win);
    fill_pattern(base, 4096, test_rank, 0, 0);
    barrier();
    MPI_Win_lock_all(0, win);
    read_rounds(win, 10);
    MPI_Win_unlock_all(win);
    expect_hits(win, 9);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Win_free(&win);
}

CASE(put_is_seen) {
    struct window w = make_window(4096, "always");
    unsigned char got[64];
    MPI_Win_lock_all(0, w.win);
    for (int version = 0; version < 5; version++) {
        unsigned char put[64];
        fill_pattern(put, sizeof put, test_rank, 128, version);
        MPI_Put(put, sizeof put, MPI_BYTE, peer(), 128, sizeof put, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        for (int i = 0; i < 2; i++) {
            MPI_Get(got, sizeof got, MPI_BYTE, peer(), 128, sizeof got, MPI_BYTE, w.win);
            MPI_Win_flush(peer(), w.win);
            expect_pattern(got, sizeof got, test_rank, 128, version);
        }
    }
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, full_hits, 5);
    free_window(&w);
}

CASE(fence) {
    struct window w = make_window(4096, NULL);
    unsigned char one[100], two[100];
    MPI_Win_fence(0, w.win);
    MPI_Get(one, 100, MPI_BYTE, peer(), 7, 100, MPI_BYTE, w.win);
    MPI_Get(two, 100, MPI_BYTE, peer(), 7, 100, MPI_BYTE, w.win);
    MPI_Win_fence(0, w.win);
    expect_pattern(one, 100, peer(), 7, 0);
    expect_pattern(two, 100, peer(), 7, 0);
    expect_stat(w.win, pending_hits, 1);
    expect_stat(w.win, bytes_fetched, 100);
    free_window(&w);
}
