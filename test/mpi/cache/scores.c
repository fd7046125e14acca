/* scores.c: tests scores that the program assigns to entries. The cache calls the program's function once for each
 * entry, with the displacement as the program counts it. An invalid score is reported by one line and ignored; the
 * data is correct whatever the function returns. In configuration tiny the cache holds eight blocks, and entries with
 * a high score survive a stream of others.
 *
 * configs: bare off on tiny huge */
#include "test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 512, BLOCKS = 128, WINDOW = BLOCK * BLOCKS };

typedef int set_score_call(MPI_Win, CLAMPI_Score *, void *);

static set_score_call *find_set_score(void) {
    return (set_score_call *)dlsym(RTLD_DEFAULT, "CLAMPI_Set_score");
}

static bool is_tiny(void) {
    return strcmp(test_config(), "tiny") == 0;
}

static void read_block(struct window *w, int block) {
    unsigned char got[BLOCK];
    MPI_Get(got, BLOCK, MPI_BYTE, peer(), block * BLOCK, BLOCK, MPI_BYTE, w->win);
    MPI_Win_flush(peer(), w->win);
    expect_pattern(got, BLOCK, peer(), (size_t)block * BLOCK, 0);
}

/* The arguments that the function was called with, and its result. */
struct judge {
    int calls, target;
    MPI_Aint disp;
    uint64_t bytes;
    double value;
};

static double judge(void *arg, int target, MPI_Aint disp, uint64_t bytes) {
    struct judge *j = arg;
    j->calls++;
    j->target = target;
    j->disp = disp;
    j->bytes = bytes;
    return j->value;
}

/* Block 0 has a high score. */
static double treasure(void *arg, int target, MPI_Aint disp, uint64_t bytes) {
    (void)arg, (void)target, (void)bytes;
    return disp == 0 ? 1000 : 1;
}

CASE(asked_once_per_entry) {
    SKIP_IF(!test_cached(), "entries may be evicted, or there is no cache");
    struct window w = open_window(WINDOW, "always");
    struct judge j = {.value = 3};
    expect_eq(find_set_score()(w.win, judge, &j), MPI_SUCCESS);
    for (int round = 0; round < 3; round++)
        for (int block = 0; block < BLOCKS; block++)
            read_block(&w, block);
    expect_eq(j.calls, BLOCKS);
    expect_stat(w.win, full_hits, 2 * BLOCKS);
    find_set_score()(w.win, NULL, NULL);
    close_window(&w);
}

/* The place is given in bytes from the start of the target's part, whatever the displacement unit and the datatype
 * are. */
CASE(told_where_and_how_much) {
    SKIP_IF(!test_cached(), "entries may be evicted, or there is no cache");
    unsigned char got[BLOCK], *base = aligned_bytes(WINDOW);
    struct judge j = {.value = 3};
    MPI_Info info = make_info("always");
    MPI_Datatype every_other, late;
    MPI_Win win;
    MPI_Win_create(base, WINDOW, 8, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    find_set_score()(win, judge, &j);
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_hindexed(1, &(int){1}, &(MPI_Aint){24}, every_other, &late);
    MPI_Type_commit(&late);
    MPI_Win_lock_all(0, win);
    MPI_Get(got, 100, MPI_BYTE, peer(), 16, 100, MPI_BYTE, win);
    MPI_Win_flush(peer(), win);
    expect_eq(j.calls, 1);
    expect_eq(j.target, peer());
    expect_eq(j.disp, 128);
    expect_eq(j.bytes, 100);
    MPI_Get(got, 16, MPI_BYTE, peer(), 100, 1, late, win);
    MPI_Win_flush(peer(), win);
    expect_eq(j.calls, 2);
    expect_eq(j.disp, 824);
    expect_eq(j.bytes, 16);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&every_other);
    MPI_Type_free(&late);
    free(base);
}

static uint64_t full_hits(MPI_Win win) {
    CLAMPI_Stats s = {0};
    stats(win, &s);
    return s.full_hits;
}

static void stream(struct window *w) {
    for (int round = 0; round < 3; round++)
        for (int block = 1; block < BLOCKS; block++)
            read_block(w, block);
}

CASE(a_treasure_outlives_a_stream) {
    struct window w = open_window(WINDOW, "always");
    if (find_set_score())
        find_set_score()(w.win, treasure, NULL);
    read_block(&w, 0);
    stream(&w);
    uint64_t before = full_hits(w.win);
    read_block(&w, 0);
    if (is_tiny() || test_cached())
        expect_eq(full_hits(w.win), before + 1);
    close_window(&w);
}

/* Scores of an earlier function have no effect after a new function, or none, is set. */
CASE(a_new_function_starts_anew) {
    SKIP_IF(!is_tiny(), "entries compete for memory only in configuration tiny");
    struct window w = open_window(WINDOW, "always");
    struct judge j = {.value = 1e-6};
    find_set_score()(w.win, treasure, NULL);
    read_block(&w, 0);
    find_set_score()(w.win, judge, &j);
    stream(&w);
    uint64_t before = full_hits(w.win);
    read_block(&w, 0);
    expect_eq(full_hits(w.win), before);
    find_set_score()(w.win, NULL, NULL);
    int calls = j.calls;
    stream(&w);
    expect_eq(j.calls, calls);
    close_window(&w);
}

static struct window make_scored(const char *score) {
    struct window w = {.bytes = WINDOW};
    MPI_Info info = make_info("always");
    MPI_Info_set(info, "clampi_score", score);
    w.base = aligned_bytes(WINDOW);
    fill_pattern(w.base, WINDOW, test_rank, 0, 0);
    MPI_Win_create(w.base, WINDOW, 1, info, MPI_COMM_WORLD, &w.win);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, w.win);
    return w;
}

/* Reads a block of 512 bytes and then 200 single bytes, and returns whether the block is still cached. If the score is the
 * size, a single byte is evicted rather than the block until the block is 512 times as old. */
static bool block_survives(struct window *w, int block) {
    unsigned char got[1];
    read_block(w, block);
    for (size_t at = (size_t)(block + 1) * BLOCK, end = at + 200; at < end; at++) {
        MPI_Get(got, 1, MPI_BYTE, peer(), (MPI_Aint)at, 1, MPI_BYTE, w->win);
        MPI_Win_flush(peer(), w->win);
        expect_pattern(got, 1, peer(), at, 0);
    }
    uint64_t before = full_hits(w->win);
    read_block(w, block);
    return full_hits(w->win) == before + 1;
}

CASE(size_by_info) {
    struct window w = make_scored("size");
    bool survived = block_survives(&w, 0);
    if (is_tiny() || test_cached())
        expect(survived);
    close_window(&w);
}

static void set_info(struct window *w, const char *score) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_score", score);
    MPI_Win_set_info(w->win, info);
    MPI_Info_free(&info);
}

CASE(size_by_set_info) {
    struct window w = make_scored("none");
    set_info(&w, "size");
    bool survived = block_survives(&w, 10);
    if (is_tiny() || test_cached())
        expect(survived);
    set_info(&w, "none");
    block_survives(&w, 20);
    close_window(&w);
}

/* ---- messages about invalid scores ---- */

static int saved_stderr = -1, notes = -1;

static void begin_listening(void) {
    char name[] = "/tmp/scores.XXXXXX";
    notes = mkstemp(name);
    unlink(name);
    saved_stderr = dup(STDERR_FILENO);
    dup2(notes, STDERR_FILENO);
}

/* Returns how often these words were printed on stderr. */
static int end_listening(const char *words) {
    char text[8192] = "";
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    if (pread(notes, text, sizeof text - 1, 0) < 0)
        text[0] = 0;
    close(notes);
    int found = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        found++;
    return found;
}

CASE(nonsense_is_said_once_and_counts_as_average) {
    static const double values[] = {NAN, INFINITY, -INFINITY, -1, 0};
    for (int i = 0; i < 5; i++) {
        struct window w = open_window(WINDOW, "always");
        struct judge j = {.value = values[i]};
        begin_listening();
        if (find_set_score())
            find_set_score()(w.win, judge, &j);
        stream(&w);
        int said = end_listening("not above 0 and finite");
        expect_eq(said, is_tiny() || test_cached());
        close_window(&w);
    }
}

CASE(bad_info_is_named) {
    begin_listening();
    struct window w = make_scored("bigness");
    int said = end_listening("clampi_score=bigness is not one of none|size");
    expect_eq(said, test_loaded());
    read_block(&w, 0);
    begin_listening();
    set_info(&w, "17");
    said = end_listening("clampi_score=17 is not one of none|size");
    expect_eq(said, test_loaded());
    close_window(&w);
}

CASE(no_window) {
    SKIP_IF(!test_loaded(), "Hearth is not loaded");
    expect(find_set_score()(MPI_WIN_NULL, NULL, NULL) != MPI_SUCCESS);
}
