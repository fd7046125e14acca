/* large_count.c: tests that the large-count calls of MPI 4 are cached like the others. Sizes are small: the tests
 * show that the calls are interposed and share one cache with the others. */
#include "test.h"

#if MPI_VERSION >= 4
CASE(get_c) {
    struct window w = open_window(4096, "always");
    unsigned char got[500];
    for (int i = 0; i < 4; i++) {
        memset(got, 0, sizeof got);
        if (i % 2)
            MPI_Get(got, 500, MPI_BYTE, peer(), 64, 500, MPI_BYTE, w.win);
        else
            MPI_Get_c(got, 500, MPI_BYTE, peer(), 64, 500, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, 500, peer(), 64, 0);
    }
    expect_stat(w.win, full_hits, 3);
    close_window(&w);
}

CASE(rget_c) {
    struct window w = open_window(4096, "always");
    unsigned char got[500];
    for (int i = 0; i < 4; i++) {
        MPI_Request request;
        memset(got, 0, sizeof got);
        MPI_Rget_c(got, 500, MPI_BYTE, peer(), 64, 500, MPI_BYTE, w.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_pattern(got, 500, peer(), 64, 0);
    }
    expect_stat(w.win, full_hits, 3);
    close_window(&w);
}

static void put_by(int way, const int *from, int *result, MPI_Win win) {
    MPI_Request request = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
        MPI_Put_c(from, 4, MPI_INT, peer(), 64, 4, MPI_INT, win);
        break;
    case 1:
        MPI_Rput_c(from, 4, MPI_INT, peer(), 64, 4, MPI_INT, win, &request);
        break;
    case 2:
        MPI_Accumulate_c(from, 4, MPI_INT, peer(), 64, 4, MPI_INT, MPI_REPLACE, win);
        break;
    case 3:
        MPI_Raccumulate_c(from, 4, MPI_INT, peer(), 64, 4, MPI_INT, MPI_REPLACE, win, &request);
        break;
    case 4:
        MPI_Get_accumulate_c(from, 4, MPI_INT, result, 4, MPI_INT, peer(), 64, 4, MPI_INT, MPI_REPLACE, win);
        break;
    default:
        MPI_Rget_accumulate_c(from, 4, MPI_INT, result, 4, MPI_INT, peer(), 64, 4, MPI_INT, MPI_REPLACE, win,
                              &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(peer(), win);
}

CASE(writes_c) {
    struct window w = open_window(4096, "always");
    int got[4], result[4];
    for (int way = 0; way < 6; way++) {
        int put[4] = {way, 10 + way, 20 + way, 30 + way};
        MPI_Get(got, 4, MPI_INT, peer(), 64, 4, MPI_INT, w.win);
        MPI_Win_flush(peer(), w.win);
        put_by(way, put, result, w.win);
        MPI_Get(got, 4, MPI_INT, peer(), 64, 4, MPI_INT, w.win);
        MPI_Win_flush(peer(), w.win);
        expect_bytes(got, put, sizeof put);
    }
    expect_stat(w.win, dropped, 6);
    close_window(&w);
}

CASE(types_c) {
    struct window w = open_window(4096, "always");
    unsigned char got[64];
    MPI_Datatype column;
    MPI_Type_vector_c(16, 4, 12, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 3; i++) {
        memset(got, 0, sizeof got);
        MPI_Get_c(got, 64, MPI_BYTE, peer(), 64, 1, column, w.win);
        MPI_Win_flush(peer(), w.win);
        for (size_t j = 0; j < 16; j++)
            expect_pattern(got + 4 * j, 4, peer(), 64 + 12 * j, 0);
    }
    MPI_Type_free(&column);
    close_window(&w);
}

CASE(windows_c) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    unsigned char *base, got[64];
    MPI_Win_allocate_c(1024, 4, info, MPI_COMM_WORLD, &base, &win);
    fill_pattern(base, 1024, test_rank, 0, 0);
    barrier();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        MPI_Get(got, 64, MPI_BYTE, peer(), 16, 64, MPI_BYTE, win);
        MPI_Win_flush(peer(), win);
        expect_pattern(got, 64, peer(), 64, 0);
    }
    expect_hits(win, 2);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}
#else
CASE(large_count) {
    SKIP_IF(true, "this MPI has no large counts");
}
#endif
