/* sync.c: tests every way to open and close an epoch. In transparent mode (the default) the end of an epoch
 * invalidates cached data: the targets rewrite their memory between epochs, and the readers must see the new data in
 * every style.
 *
 * A style is a function that reads [OFFSET, OFFSET + BYTES) of all other ranks into `got`, twice, in one epoch; the
 * cache can serve the second get. */
#include "test.h"

enum { WINDOW = 8192, OFFSET = 136, BYTES = 700, ROUNDS = 4, MOST_RANKS = 64 };

typedef unsigned char block[BYTES];
static block got[MOST_RANKS][2];
typedef void style(struct window *w);

static void get_from(int target, struct window *w) {
    for (int twin = 0; twin < 2; twin++)
        MPI_Get(got[target][twin], BYTES, MPI_BYTE, target, OFFSET, BYTES, MPI_BYTE, w->win);
}

static void get_from_all(struct window *w) {
    for (int target = 0; target < test_size; target++)
        if (target != test_rank)
            get_from(target, w);
}

static void check_all(int version) {
    for (int target = 0; target < test_size; target++) {
        if (target == test_rank)
            continue;
        expect_pattern(got[target][0], BYTES, target, OFFSET, version);
        expect_pattern(got[target][1], BYTES, target, OFFSET, version);
    }
    memset(got, 0, sizeof got);
}

/* Runs a style that opens and closes its own epochs. */
static void run_epochs(style *read) {
    struct window w = make_window(WINDOW, NULL);
    for (int version = 0; version < ROUNDS; version++) {
        if (version)
            rewrite_locked(&w, version);
        read(&w);
        check_all(version);
    }
    expect_stat(w.win, pending_hits, (test_size - 1) * ROUNDS);
    free_window(&w);
}

/* Runs a style inside one epoch of lock_all. */
static void run_flushes(style *read) {
    struct window w = make_window(WINDOW, NULL);
    MPI_Win_lock_all(0, w.win);
    for (int version = 0; version < ROUNDS; version++) {
        if (version)
            rewrite(&w, version);
        read(&w);
        check_all(version);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_hits(w.win, (uint64_t)(test_size - 1) * ROUNDS);
    free_window(&w);
}

static void lock_each(struct window *w, int kind, int assertion) {
    for (int target = 0; target < test_size; target++) {
        if (target == test_rank)
            continue;
        MPI_Win_lock(kind, target, assertion, w->win);
        get_from(target, w);
        MPI_Win_unlock(target, w->win);
    }
}

static void by_shared_lock(struct window *w) {
    lock_each(w, MPI_LOCK_SHARED, 0);
}

static void by_exclusive_lock(struct window *w) {
    lock_each(w, MPI_LOCK_EXCLUSIVE, 0);
}

static void by_unchecked_lock(struct window *w) {
    lock_each(w, MPI_LOCK_SHARED, MPI_MODE_NOCHECK);
}

static void by_many_locks(struct window *w) {
    for (int target = 0; target < test_size; target++)
        if (target != test_rank)
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    get_from_all(w);
    for (int target = test_size - 1; target >= 0; target--)
        if (target != test_rank)
            MPI_Win_unlock(target, w->win);
}

static void by_lock_all(struct window *w) {
    MPI_Win_lock_all(0, w->win);
    get_from_all(w);
    MPI_Win_unlock_all(w->win);
}

static void by_empty_epochs(struct window *w) {
    MPI_Win_lock_all(0, w->win);
    MPI_Win_unlock_all(w->win);
    MPI_Win_lock(MPI_LOCK_SHARED, peer(), 0, w->win);
    MPI_Win_unlock(peer(), w->win);
    by_lock_all(w);
}

CASE(shared_lock) {
    run_epochs(by_shared_lock);
}

CASE(exclusive_lock) {
    run_epochs(by_exclusive_lock);
}

CASE(unchecked_lock) {
    run_epochs(by_unchecked_lock);
}

/* Open MPI's osc pt2pt (4.1) hangs in the unlock of the first of several locks that one process holds. */
CASE(several_locks_at_once) {
    SKIP_IF(test_size > 2 && over_pt2pt(), "osc pt2pt hangs");
    run_epochs(by_many_locks);
}

CASE(lock_all) {
    run_epochs(by_lock_all);
}

CASE(empty_epochs) {
    run_epochs(by_empty_epochs);
}

static void by_flush(struct window *w) {
    get_from_all(w);
    for (int target = 0; target < test_size; target++)
        if (target != test_rank)
            MPI_Win_flush(target, w->win);
}

static void by_flush_all(struct window *w) {
    get_from_all(w);
    MPI_Win_flush_all(w->win);
}

/* One target after the other: Open MPI's osc pt2pt (4.1) hangs in a flush_local while gets from other targets are
 * pending. */
static void by_flush_local(struct window *w) {
    for (int target = 0; target < test_size; target++) {
        if (target == test_rank)
            continue;
        get_from(target, w);
        MPI_Win_flush_local(target, w->win);
    }
}

static void by_flush_local_all(struct window *w) {
    get_from_all(w);
    MPI_Win_flush_local_all(w->win);
}

/* The flush to one target leaves the gets from the others pending. */
static void by_flushes_in_turn(struct window *w) {
    for (int target = 0; target < test_size; target++) {
        if (target == test_rank)
            continue;
        get_from_all(w);
        MPI_Win_flush(target, w->win);
        expect_bytes(got[target][0], got[target][1], BYTES);
    }
    MPI_Win_flush_all(w->win);
}

static void by_many_flushes(struct window *w) {
    for (int i = 0; i < 3; i++) {
        MPI_Win_flush_all(w->win);
        MPI_Win_flush(peer(), w->win);
        by_flush(w);
        MPI_Win_flush_local(peer(), w->win);
    }
}

static void by_sync(struct window *w) {
    MPI_Win_sync(w->win);
    get_from_all(w);
    MPI_Win_sync(w->win);
    MPI_Win_flush_all(w->win);
    MPI_Win_sync(w->win);
}

CASE(flush) {
    run_flushes(by_flush);
}

CASE(flush_all) {
    run_flushes(by_flush_all);
}

CASE(flush_local) {
    run_flushes(by_flush_local);
}

CASE(flush_local_all) {
    run_flushes(by_flush_local_all);
}

CASE(flushes_in_turn) {
    run_flushes(by_flushes_in_turn);
}

CASE(many_flushes) {
    run_flushes(by_many_flushes);
}

CASE(sync) {
    run_flushes(by_sync);
}

/* Each get is in its own epoch, and the targets change between them: a repeated get must not return data of the
 * previous epoch. */
CASE(one_get_per_flush) {
    struct window w = make_window(WINDOW, NULL);
    MPI_Win_lock_all(0, w.win);
    for (int version = 0; version < 2 * ROUNDS; version++) {
        if (version)
            rewrite(&w, version);
        MPI_Get(got[peer()][0], BYTES, MPI_BYTE, peer(), OFFSET, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got[peer()][0], BYTES, peer(), OFFSET, version);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, full_hits, 0);
    free_window(&w);
}

/* Data changes between fences: targets rewrite it after the closing fence, readers read after the opening one. */
static void run_fences(int opening, int closing) {
    struct window w = make_window(WINDOW, NULL);
    for (int version = 0; version < ROUNDS; version++) {
        if (version)
            fill_pattern(w.base, w.bytes, test_rank, 0, version);
        barrier();
        MPI_Win_fence(opening, w.win);
        get_from_all(&w);
        MPI_Win_fence(closing, w.win);
        check_all(version);
        barrier();
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    expect_stat(w.win, pending_hits, (test_size - 1) * ROUNDS);
    free_window(&w);
}

CASE(fence) {
    run_fences(0, 0);
}

CASE(fence_pairs) {
    run_fences(MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED);
}

CASE(fence_without_stores) {
    run_fences(MPI_MODE_NOPRECEDE, MPI_MODE_NOSTORE);
}

CASE(fence_without_puts) {
    run_fences(MPI_MODE_NOPUT, MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED);
}

CASE(fence_with_all_assertions) {
    run_fences(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED);
}

/* One fence closes an epoch and opens the next. */
CASE(fence_chain) {
    struct window w = make_window(WINDOW, NULL);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int version = 0; version < 2 * ROUNDS; version++) {
        get_from_all(&w);
        MPI_Win_fence(0, w.win);
        check_all(version);
        fill_pattern(w.base, w.bytes, test_rank, 0, version + 1);
        MPI_Win_fence(0, w.win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    expect_stat(w.win, full_hits, 0);
    free_window(&w);
}

static void wait_for_end(struct window *w, bool poll) {
    int done = 0;
    if (!poll)
        MPI_Win_wait(w->win);
    while (poll && !done)
        MPI_Win_test(w->win, &done);
}

static MPI_Group others(void) {
    MPI_Group world, rest;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &test_rank, &rest);
    MPI_Group_free(&world);
    return rest;
}

static void run_posts(int assertion, bool poll) {
    struct window w = make_window(WINDOW, NULL);
    MPI_Group group = others();
    for (int version = 0; version < ROUNDS; version++) {
        fill_pattern(w.base, w.bytes, test_rank, 0, version);
        MPI_Win_post(group, assertion, w.win);
        MPI_Win_start(group, 0, w.win);
        get_from_all(&w);
        MPI_Win_complete(w.win);
        check_all(version);
        wait_for_end(&w, poll);
    }
    MPI_Group_free(&group);
    expect_stat(w.win, pending_hits, (test_size - 1) * ROUNDS);
    free_window(&w);
}

CASE(post_start_complete_wait) {
    run_posts(0, false);
}

CASE(post_start_complete_test) {
    run_posts(0, true);
}

CASE(post_with_assertions) {
    run_posts(MPI_MODE_NOPUT, false);
}

/* ---- atomics on a window without cache ---- */

enum { SEEN, TOLD }; /* of the flags, one word each: how many versions were read, and which one is there */

static void poll_flag(struct window *flags, int target, int which, int64_t until) {
    int64_t zero = 0, value = -1;
    while (value < until) {
        MPI_Fetch_and_op(&zero, &value, MPI_INT64_T, target, 8 * which, MPI_NO_OP, flags->win);
        MPI_Win_flush(target, flags->win);
    }
}

static void add_to_flag(struct window *flags, int target, int which) {
    int64_t one = 1;
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, 8 * which, 1, MPI_INT64_T, MPI_SUM, flags->win);
    MPI_Win_flush(target, flags->win);
}

static void write_versions(struct window *data, struct window *flags, int versions) {
    for (int version = 1; version < versions; version++) {
        poll_flag(flags, test_rank, SEEN, version);
        fill_pattern(data->base, WINDOW, test_rank, 0, version);
        MPI_Win_sync(data->win);
        add_to_flag(flags, test_rank, TOLD);
    }
}

static void read_versions(struct window *data, struct window *flags, int versions) {
    for (int version = 0; version < versions; version++) {
        poll_flag(flags, 1, TOLD, version);
        for (int i = 0; i < 2; i++) { /* the second one hits */
            MPI_Get(got[1][i], BYTES, MPI_BYTE, 1, OFFSET, BYTES, MPI_BYTE, data->win);
            MPI_Win_flush(1, data->win);
            expect_pattern(got[1][i], BYTES, 1, OFFSET, version);
        }
        add_to_flag(flags, 1, SEEN);
    }
}

/* The value of an atomic tells that the data has changed: the flush that completes it ends the reuse of cached data, even
 * if gets and flushes of its window bypass the cache. */
CASE(atomics_acquire) {
    enum { VERSIONS = 20 };
    struct window data = make_window(WINDOW, "acquire"), flags = make_window(64, "off");
    memset(flags.base, 0, 64);
    barrier();
    MPI_Win_lock_all(0, data.win);
    MPI_Win_lock_all(0, flags.win);
    if (test_rank == 0)
        read_versions(&data, &flags, VERSIONS);
    else if (test_rank == 1)
        write_versions(&data, &flags, VERSIONS);
    barrier();
    MPI_Win_unlock_all(flags.win);
    MPI_Win_unlock_all(data.win);
    free_window(&flags);
    free_window(&data);
}

/* Different styles follow each other on one window. */
CASE(mixed_styles) {
    struct window w = make_window(WINDOW, NULL);
    for (int version = 0; version < 3; version++) {
        if (version)
            rewrite_locked(&w, version);
        by_lock_all(&w);
        check_all(version);
        by_shared_lock(&w);
        check_all(version);
        barrier();
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
        get_from_all(&w);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        check_all(version);
    }
    free_window(&w);
}

/* The same styles in mode always, where data stays valid: all gets but the first hit. */
CASE(always_lives_through_epochs) {
    style *styles[] = {by_shared_lock, by_lock_all, by_shared_lock, by_exclusive_lock};
    struct window w = make_window(WINDOW, "always");
    for (int i = 0; i < 4; i++) {
        styles[i](&w);
        check_all(0);
        barrier();
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    get_from_all(&w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    check_all(0);
    expect_stat(w.win, bytes_fetched, (test_size - 1) * BYTES);
    expect_hits(w.win, (uint64_t)(test_size - 1) * 9);
    free_window(&w);
}
