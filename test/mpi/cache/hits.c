/* hits.c: tests exactly which gets hit. A get that begins at the displacement of a cached get is a full hit if it is
 * not longer, and a partial hit if it is longer; a get that begins elsewhere is a miss. Gets of pending data join the
 * pending get. The data is correct in every case, with and without the cache. */
#include "test.h"

#include <stdlib.h>

enum { WINDOW = 65536 };

static unsigned char got[WINDOW], other[WINDOW];

static void start_get(struct window *w, void *to, int target, size_t offset, size_t bytes) {
    memset(to, 0, bytes);
    MPI_Get(to, (int)bytes, MPI_BYTE, target, (MPI_Aint)offset, (int)bytes, MPI_BYTE, w->win);
}

static void get(struct window *w, size_t offset, size_t bytes) {
    start_get(w, got, peer(), offset, bytes);
    MPI_Win_flush(peer(), w->win);
    expect_pattern(got, bytes, peer(), offset, 0);
}

CASE(equal) {
    struct window w = open_window(WINDOW, "always");
    for (int i = 0; i < 5; i++)
        get(&w, 1000, 333);
    expect_stat(w.win, gets, 5);
    expect_stat(w.win, direct, 1);
    expect_stat(w.win, full_hits, 4);
    expect_stat(w.win, bytes_fetched, 333);
    expect_stat(w.win, bytes_served, 4 * 333);
    expect_stat(w.win, entries, 1);
    close_window(&w);
}

CASE(prefix) {
    struct window w = open_window(WINDOW, "always");
    get(&w, 64, 1000);
    get(&w, 64, 500);
    get(&w, 64, 1);
    get(&w, 64, 999);
    get(&w, 64, 1000);
    expect_stat(w.win, full_hits, 4);
    expect_stat(w.win, bytes_fetched, 1000);
    expect_stat(w.win, bytes_served, 2500);
    close_window(&w);
}

CASE(longer) {
    struct window w = open_window(WINDOW, "always");
    get(&w, 64, 500);
    get(&w, 64, 1200);
    expect_stat(w.win, partial_hits, 1);
    expect_stat(w.win, bytes_fetched, 1200);
    expect_stat(w.win, bytes_served, 500);
    get(&w, 64, 1200);
    get(&w, 64, 700);
    expect_stat(w.win, full_hits, 2);
    expect_stat(w.win, bytes_fetched, 1200);
    close_window(&w);
}

CASE(longer_and_longer) {
    struct window w = open_window(WINDOW, "always");
    for (size_t bytes = 1; bytes <= 30000; bytes = bytes * 3 + 1)
        get(&w, 128, bytes);
    expect_stat(w.win, direct, 1);
    expect_stat(w.win, partial_hits, 9);
    expect_stat(w.win, bytes_fetched, 29524);
    close_window(&w);
}

/* A second get while the tail of the first is pending. */
CASE(longer_twice_in_one_epoch) {
    struct window w = open_window(WINDOW, "always");
    get(&w, 256, 100);
    for (int i = 0; i < 2; i++) {
        start_get(&w, got, peer(), 256, 900);
        start_get(&w, other, peer(), 256, 900);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, 900, peer(), 256, 0);
        expect_pattern(other, 900, peer(), 256, 0);
    }
    get(&w, 256, 900);
    expect_hits(w.win, 4);
    close_window(&w);
}

CASE(shifted_is_a_miss) {
    struct window w = open_window(WINDOW, "always");
    get(&w, 1024, 512);
    get(&w, 1032, 64);
    get(&w, 1000, 512);
    expect_stat(w.win, direct, 3);
    expect_stat(w.win, full_hits, 0);
    expect_stat(w.win, entries, 3);
    close_window(&w);
}

CASE(targets_are_apart) {
    struct window w = open_window(WINDOW, "always");
    for (int round = 0; round < 2; round++)
        for (int target = 0; target < test_size; target++) {
            if (target == test_rank)
                continue;
            start_get(&w, got, target, 4096, 200);
            MPI_Win_flush(target, w.win);
            expect_pattern(got, 200, target, 4096, 0);
        }
    expect_stat(w.win, direct, test_size - 1);
    expect_stat(w.win, full_hits, test_size - 1);
    close_window(&w);
}

static void pending_pair(const char *mode) {
    struct window w = open_window(WINDOW, mode);
    start_get(&w, got, peer(), 2048, 400);
    start_get(&w, other, peer(), 2048, 400);
    start_get(&w, other + 400, peer(), 2048, 150);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(got, 400, peer(), 2048, 0);
    expect_pattern(other, 400, peer(), 2048, 0);
    expect_pattern(other + 400, 150, peer(), 2048, 0);
    expect_stat(w.win, direct, 1);
    expect_stat(w.win, pending_hits, 2);
    expect_stat(w.win, bytes_fetched, 400);
    close_window(&w);
}

CASE(pending) {
    pending_pair("always");
    pending_pair("transparent");
    pending_pair("user");
}

static void pending_longer(const char *mode) {
    struct window w = open_window(WINDOW, mode);
    start_get(&w, got, peer(), 2048, 400);
    start_get(&w, other, peer(), 2048, 1000);
    start_get(&w, other + 1000, peer(), 2048, 700);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(got, 400, peer(), 2048, 0);
    expect_pattern(other, 1000, peer(), 2048, 0);
    expect_pattern(other + 1000, 700, peer(), 2048, 0);
    get(&w, 2048, 1000);
    get(&w, 2048, 50);
    close_window(&w);
}

CASE(longer_than_the_pending) {
    pending_longer("always");
    pending_longer("transparent");
}

/* The program overwrites the buffer of the first get as soon as the get is complete. The second get and the cache
 * have copies of their own. */
CASE(buffers_are_free_after_the_flush) {
    struct window w = open_window(WINDOW, "always");
    start_get(&w, got, peer(), 2048, 400);
    start_get(&w, other, peer(), 2048, 400);
    MPI_Win_flush_local(peer(), w.win);
    memset(got, 0xee, 400);
    expect_pattern(other, 400, peer(), 2048, 0);
    memset(other, 0xdd, 400);
    MPI_Win_flush(peer(), w.win);
    get(&w, 2048, 400);
    get(&w, 2048, 400);
    close_window(&w);
}

/* Two pending gets into overlapping buffers. The contents of the buffers are undefined, but the cache must not keep
 * them as data of either get. */
static void overlapping_buffers(size_t shift, size_t first, size_t second) {
    struct window w = open_window(WINDOW, "always");
    start_get(&w, got, peer(), first, 500);
    start_get(&w, got + shift, peer(), second, 500);
    MPI_Win_flush(peer(), w.win);
    for (int i = 0; i < 2; i++) {
        get(&w, first, 500);
        get(&w, second, 500);
    }
    close_window(&w);
}

CASE(overlapping_buffers) {
    overlapping_buffers(0, 0, 8192);
    overlapping_buffers(100, 64, 640);
    overlapping_buffers(499, 640, 64);
    overlapping_buffers(100, 64, 64);
}

/* A get joins a pending one, and a third get overwrites its buffer. */
CASE(overlapping_with_a_pending_hit) {
    struct window w = open_window(WINDOW, "always");
    start_get(&w, other, peer(), 64, 300);
    start_get(&w, got, peer(), 64, 300);
    start_get(&w, got, peer(), 4096, 300);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(other, 300, peer(), 64, 0);
    for (int i = 0; i < 2; i++) {
        get(&w, 64, 300);
        get(&w, 4096, 300);
    }
    close_window(&w);
}

CASE(another_layout_is_another_thing) {
    struct window w = open_window(WINDOW, "always");
    MPI_Datatype column;
    MPI_Type_vector(16, 4, 12, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    for (int round = 0; round < 3; round++) {
        memset(got, 0, 64);
        MPI_Get(got, 64, MPI_BYTE, peer(), 512, 1, column, w.win);
        MPI_Win_flush(peer(), w.win);
        for (size_t i = 0; i < 16; i++)
            expect_pattern(got + 4 * i, 4, peer(), 512 + 12 * i, 0);
        if (round == 1)
            get(&w, 512, 64);
    }
    MPI_Type_free(&column);
    close_window(&w);
}

/* The origin type does not affect whether a get hits. */
CASE(origin_type_does_not_matter) {
    struct window w = open_window(WINDOW, "always");
    MPI_Datatype column;
    MPI_Type_vector(16, 4, 12, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    get(&w, 512, 64);
    MPI_Get(other, 1, column, peer(), 512, 64, MPI_BYTE, w.win);
    MPI_Win_flush(peer(), w.win);
    for (size_t i = 0; i < 16; i++)
        expect_pattern(other + 12 * i, 4, peer(), 512 + 4 * i, 0);
    expect_stat(w.win, full_hits, 1);
    MPI_Type_free(&column);
    close_window(&w);
}

CASE(two_thousand_entries) {
    struct window w = open_window(WINDOW, "always");
    size_t entries =
        test_cached() ? 2000
                      : 200; /* without the cache each get is a round trip, which takes long on busy cores */
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < entries; i++)
            get(&w, 32 * i, 24 + i % 9);
    expect_stat(w.win, full_hits, 4000);
    expect_stat(w.win, elided >= 3000, true);
    close_window(&w);
}

CASE(a_megabyte) {
    enum { MEGABYTE = 1 << 20 };
    struct window w = make_window(MEGABYTE + 64, "always");
    unsigned char *to = malloc(MEGABYTE);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < 3; i++) {
        start_get(&w, to, peer(), 64, MEGABYTE);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(to, MEGABYTE, peer(), 64, 0);
    }
    expect_stat(w.win, full_hits, 2);
    free(to);
    close_window(&w);
}
