/* reuse.c: tests which calls end reuse in mode acquire, and which similar calls must not. ranks: 2 */
#include "test.h"

#include <dlfcn.h>

enum { TIMES = 50, BYTES = 64 };

static char buffer[BYTES];

static void read_once(struct window *w) {
    MPI_Get(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
}

static struct window open_in(const char *mode) {
    struct window w = make_window(4096, mode);
    memset(w.base, 7, w.bytes);
    barrier();
    MPI_Win_lock_all(0, w.win);
    if (test_rank == 0)
        for (int i = 0; i < 3; i++) /* shows that the lock is held */
            read_once(&w);
    return w;
}

static void close_in(struct window *w) {
    MPI_Win_unlock_all(w->win);
    free_window(w);
}

static uint64_t hits(struct window *w) {
    CLAMPI_Stats s = {0};
    stats(w->win, &s);
    return s.full_hits;
}

static void expect_reuse(struct window *w, uint64_t before, uint64_t least) {
    if (test_rank == 0 && test_cached())
        expect(hits(w) - before >= least);
}

/* Completing a standard send is not a sync event. */
static void send_and_read(struct window *w) {
    uint64_t before = hits(w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        read_once(w);
    }
    for (int i = 0, got; test_rank == 1 && i < TIMES; i++)
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_reuse(w, before, TIMES - 2);
    barrier();
}

/* The first case: requests of sends are noted from the first window of this mode on. */
CASE(requests_of_sends_after_the_mode_is_set) {
    int (*set_mode)(MPI_Win, int) = (int (*)(MPI_Win, int))dlsym(RTLD_DEFAULT, "CLAMPI_Set_mode");
    struct window w = open_in("off");
    SKIP_IF(!set_mode || strcmp(test_config(), "off") == 0, (close_in(&w), "no cache in this configuration"));
    expect_eq(set_mode(w.win, CLAMPI_ACQUIRE), MPI_SUCCESS);
    send_and_read(&w);
    close_in(&w);
}

CASE(requests_of_sends) {
    struct window w = open_in("acquire");
    send_and_read(&w);
    close_in(&w);
}

CASE(gets_of_a_window_that_is_off) {
    struct window w = open_in("acquire"), off = open_in("off");
    uint64_t before = hits(&w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        read_once(&w);
        read_once(&off);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&off);
    close_in(&w);
}

CASE(an_atomic_ends_it_once) {
    struct window w = open_in("acquire"), counter = open_in("acquire");
    uint64_t before = hits(&w);
    int64_t one = 1, old;
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, counter.win);
        MPI_Win_flush(1, counter.win);
        read_once(&w);
        MPI_Win_flush_local_all(counter.win);
        read_once(&w);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&counter);
    close_in(&w);
}

CASE(requests_of_hits) {
    struct window w = open_in("acquire");
    uint64_t before = hits(&w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Request request;
        MPI_Rget(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&w);
}

/* Open MPI gives all completed requests the same handle: the request of a hit, and that of an atomic that is a sync
 * event. */
CASE(an_atomic_beside_the_request_of_a_hit) {
    SKIP_IF(over_pt2pt() || !test_shared_windows(), "the ranks have no shared memory window");
    struct window w = open_in("acquire");
    int64_t *flags, flag = 0, got = 0, one = 1, old;
    MPI_Win told;
    MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flags, &told);
    memset(flags, 0, 4096);
    memset(w.base, 0, w.bytes);
    barrier();
    MPI_Win_lock_all(0, told);
    if (test_rank == 0) {
        MPI_Request held, request;
        read_once(&w);
        MPI_Send(&one, 1, MPI_INT64_T, 1, 3, MPI_COMM_WORLD);
        MPI_Rget(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win, &held);
        while (!flag) {
            MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &flag, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_NO_OP,
                                told, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w.win);
        MPI_Win_flush(1, w.win);
        expect_eq(got, 1);
        MPI_Wait(&held, MPI_STATUS_IGNORE);
    } else if (test_rank == 1) {
        MPI_Recv(&old, 1, MPI_INT64_T, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        *(volatile int64_t *)(void *)w.base = 1;
        MPI_Win_sync(w.win);
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_REPLACE, told);
        MPI_Win_flush(1, told);
    }
    barrier();
    MPI_Win_unlock_all(told);
    MPI_Win_free(&told);
    close_in(&w);
}

/* A put is pending through a window without a cache when a window with a cache is created over the same memory. */
CASE(a_put_through_a_window_that_is_off) {
    struct window off = open_in("off");
    int64_t two = 2, got = 0;
    MPI_Info info = make_info("always");
    MPI_Win again;
    memset(off.base, 0, off.bytes);
    barrier();
    if (test_rank == 0)
        MPI_Put(&two, 1, MPI_INT64_T, 1, 512, 1, MPI_INT64_T, off.win);
    MPI_Win_create(off.base, (MPI_Aint)off.bytes, 1, info, MPI_COMM_WORLD, &again);
    MPI_Win_lock_all(0, again);
    if (test_rank == 0) {
        MPI_Get(&got, 1, MPI_INT64_T, 1, 512, 1, MPI_INT64_T, again);
        MPI_Win_flush(1, again);
        read_once(&off); /* also completes the put */
        MPI_Get(&got, 1, MPI_INT64_T, 1, 512, 1, MPI_INT64_T, again);
        MPI_Win_flush(1, again);
        expect_eq(got, 2);
    }
    barrier();
    MPI_Win_unlock_all(again);
    MPI_Win_free(&again);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    close_in(&off);
}
