/* corners.c: tests corner cases of a cache below MPI in ordinary programs: a callback that ends in a tail call of
 * MPI, a write through another window while the tail of a partial hit is pending, a lock that another rank holds, a
 * change of mode over outstanding operations, an error beside a get, a message between two gets of the same data, and
 * buffers of tens of thousands of pieces.
 *
 * Where MPI leaves a value undefined (a get concurrent with a write of the same bytes), the tests do not check it;
 * they check values read after the completion that orders them. A slow machine may hide a fault but cannot cause a
 * false one: the two timed cases allow a factor of ten. */
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 4096, BLOCK = 64, ROUNDS = 3 };

static void start_get(MPI_Win win, void *to, int target, size_t offset, size_t bytes) {
    MPI_Get(to, (int)bytes, MPI_BYTE, target, (MPI_Aint)offset, (int)bytes, MPI_BYTE, win);
}

static void get(MPI_Win win, void *to, size_t offset, size_t bytes) {
    start_get(win, to, peer(), offset, bytes);
    MPI_Win_flush(peer(), win);
}

static void put(MPI_Win win, const void *from, size_t offset, size_t bytes) {
    MPI_Put(from, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, win);
}

/* ---- callbacks that end in a call of MPI ----
 *
 * As tail calls, these calls return directly into the MPI library that invoked the callback. By their return address
 * they look like calls that the library itself makes. */
#if defined(__clang__) /* which has no such attribute: plain calls */
#define TAIL_CALLS __attribute__((noinline))
#else
#define TAIL_CALLS __attribute__((noinline, optimize("O2")))
#endif

TAIL_CALLS static int free_attached_window(MPI_Comm comm, int key, void *window, void *extra) {
    return MPI_Win_free(window);
}

TAIL_CALLS static int free_attached_type(MPI_Comm comm, int key, void *type, void *extra) {
    return MPI_Type_free(type);
}

/* A communicator whose MPI_Comm_free also destroys the object attached to it. */
static MPI_Comm attach(MPI_Comm_delete_attr_function *end, void *object) {
    MPI_Comm comm;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, NULL);
    MPI_Comm_set_attr(comm, key, object);
    MPI_Comm_free_keyval(&key);
    return comm;
}

/* The next window over the same memory probably gets the same handle. It must not see cached data of the previous
 * one. */
CASE(window_freed_by_a_callback) {
    unsigned char *base = aligned_bytes(WINDOW), got[BLOCK];
    MPI_Info info = make_info("always");
    for (int version = 0; version < ROUNDS; version++) {
        MPI_Win win;
        MPI_Comm comm;
        fill_pattern(base, WINDOW, test_rank, 0, version);
        MPI_Win_create(base, WINDOW, 1, info, MPI_COMM_WORLD, &win);
        comm = attach(free_attached_window, &win);
        MPI_Win_lock_all(0, win);
        for (int twin = 0; twin < 2; twin++) {
            get(win, got, 256, BLOCK);
            expect_pattern(got, BLOCK, peer(), 256, version);
        }
        MPI_Win_unlock_all(win);
        barrier();
        MPI_Comm_free(&comm);
        expect(win == MPI_WIN_NULL);
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    free(base);
}

static void expect_column(const unsigned char *got, size_t stride) {
    for (size_t i = 0; i < 4; i++)
        expect_pattern(got + 8 * i, 8, peer(), stride * i, 0);
}

/* The next type probably gets the handle of the previous one, but has another layout. */
CASE(type_freed_by_a_callback) {
    struct window w = open_window(WINDOW, "always");
    unsigned char got[32];
    for (int stride = 16; stride <= 64; stride += 8) {
        MPI_Datatype column;
        MPI_Comm comm;
        MPI_Type_vector(4, 8, stride, MPI_BYTE, &column);
        MPI_Type_commit(&column);
        comm = attach(free_attached_type, &column);
        for (int twin = 0; twin < 2; twin++) {
            MPI_Get(got, 32, MPI_BYTE, peer(), 0, 1, column, w.win);
            MPI_Win_flush(peer(), w.win);
            expect_column(got, (size_t)stride);
        }
        MPI_Comm_free(&comm);
        expect(column == MPI_DATATYPE_NULL);
    }
    close_window(&w);
}

/* ---- a pending tail, written through another window over the same memory ---- */

static void expect_extended(MPI_Win reads, MPI_Win writes, size_t at) {
    unsigned char got[2 * BLOCK], mine[BLOCK];
    get(reads, got, at, BLOCK);
    start_get(reads, got, peer(), at, 2 * BLOCK);
    fill_pattern(mine, BLOCK, test_rank, at + BLOCK, 1);
    put(writes, mine, at + BLOCK, BLOCK);
    MPI_Win_flush(peer(), writes);
    MPI_Win_flush(peer(), reads);
    get(reads, got, at, 2 * BLOCK);
    expect_pattern(got, BLOCK, peer(), at, 0);
    expect_pattern(got + BLOCK, BLOCK, test_rank, at + BLOCK, 1);
}

CASE(tail_in_flight_written_through_another_window) {
    struct window w = open_window(WINDOW, "always");
    MPI_Info info = make_info("always");
    MPI_Win kin;
    MPI_Win_create(w.base, WINDOW, 1, info, MPI_COMM_WORLD, &kin);
    MPI_Win_lock_all(0, kin);
    for (size_t at = 0; at < WINDOW / 2; at += 4 * BLOCK)
        expect_extended(w.win, at % (8 * BLOCK) ? kin : w.win, at);
    barrier();
    MPI_Win_unlock_all(kin);
    MPI_Win_free(&kin);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    close_window(&w);
}

/* ---- a lock that another rank holds ----
 *
 * MPI_Win_lock may return before the lock is held. The flush may not, even if its get was a hit. Rank 2 holds an
 * exclusive lock on rank 1 and notifies rank 0, which begins an epoch there. All processes of a host read the same
 * clock. */
enum { READER = 0, OWNER = 1, HOLDER = 2 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits inside MPI, so that this rank serves the others. */
static void linger(double seconds) {
    double end = now() + seconds;
    int flag;
    while (now() < end)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void hold(MPI_Win win) {
    unsigned char got[BLOCK];
    double let_go;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, OWNER, 0, win);
    start_get(win, got, OWNER, 1024, BLOCK);
    MPI_Win_flush(OWNER, win);
    MPI_Send(NULL, 0, MPI_BYTE, READER, 1, MPI_COMM_WORLD);
    linger(0.2);
    let_go = now();
    MPI_Win_unlock(OWNER, win);
    MPI_Send(&let_go, 1, MPI_DOUBLE, READER, 2, MPI_COMM_WORLD);
}

typedef void epoch_call(MPI_Win win);

static void lock_exclusive(MPI_Win win) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, OWNER, 0, win);
}

static void lock_shared(MPI_Win win) {
    MPI_Win_lock(MPI_LOCK_SHARED, OWNER, 0, win);
}

static void unlock(MPI_Win win) {
    MPI_Win_unlock(OWNER, win);
}

static void lock_all(MPI_Win win) {
    MPI_Win_lock_all(0, win);
}

static void unlock_all(MPI_Win win) {
    MPI_Win_unlock_all(win);
}

static void flush(MPI_Win win) {
    MPI_Win_flush(OWNER, win);
}

static void flush_all(MPI_Win win) {
    MPI_Win_flush_all(win);
}

static void read_again(MPI_Win win, epoch_call *begin, epoch_call *complete, epoch_call *end) {
    unsigned char got[BLOCK];
    double passed, let_go;
    MPI_Recv(NULL, 0, MPI_BYTE, HOLDER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin(win);
    start_get(win, got, OWNER, 0, BLOCK);
    complete(win);
    passed = now();
    end(win);
    MPI_Recv(&let_go, 1, MPI_DOUBLE, HOLDER, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_pattern(got, BLOCK, OWNER, 0, 0);
    expect(passed >= let_go);
}

static void expect_exclusion(epoch_call *begin, epoch_call *complete, epoch_call *end) {
    struct window w = make_window(WINDOW, "always");
    unsigned char got[BLOCK];
    if (test_rank == READER) {
        begin(w.win);
        start_get(w.win, got, OWNER, 0, BLOCK);
        end(w.win);
    }
    barrier();
    if (test_rank == HOLDER)
        hold(w.win);
    if (test_rank == READER)
        read_again(w.win, begin, complete, end);
    barrier();
    free_window(&w);
}

CASE(flush_waits_for_the_lock) {
    SKIP_IF(test_size < 3, "needs 3 ranks");
    expect_exclusion(lock_exclusive, flush, unlock);
    expect_exclusion(lock_shared, flush, unlock);
    expect_exclusion(lock_exclusive, flush_all, unlock);
}

CASE(flush_waits_for_the_lock_of_all) {
    SKIP_IF(test_size < 3, "needs 3 ranks");
    expect_exclusion(lock_all, flush, unlock_all);
    expect_exclusion(lock_all, flush_all, unlock_all);
}

/* ---- operations issued while the window was not cached ---- */

enum { MUCH = 1 << 19 };

static unsigned char much[MUCH]; /* static, so that data that arrives late does no harm */

typedef int mode_call(MPI_Win win, int mode);

static void set_mode(MPI_Win win, int mode) {
    mode_call *set = (mode_call *)dlsym(RTLD_DEFAULT, "CLAMPI_Set_mode");
    if (set && strcmp(test_config(), "off") != 0)
        expect_eq(set(win, mode), MPI_SUCCESS);
}

/* A hit for another target must not let the flush skip the outstanding get. */
static void get_and_hit(MPI_Win win, int target, int hit_target) {
    unsigned char got[2][BLOCK];
    MPI_Request request;
    memset(much, 0, MUCH);
    set_mode(win, CLAMPI_OFF);
    start_get(win, much, target, 0, MUCH);
    set_mode(win, CLAMPI_ALWAYS);
    MPI_Rget(got[0], BLOCK, MPI_BYTE, hit_target, MUCH, BLOCK, MPI_BYTE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    start_get(win, got[1], hit_target, MUCH, BLOCK);
    MPI_Win_flush_all(win);
    expect_pattern(much, MUCH, target, 0, 0);
    expect_pattern(got[1], BLOCK, hit_target, MUCH, 0);
}

/* The target makes no MPI call for a while, so that only the flush can complete the get. */
CASE(get_in_flight_when_the_mode_changes) {
    struct window w = open_window(MUCH + WINDOW, "always");
    SKIP_IF(test_size < 3, (close_window(&w), "needs 3 ranks"));
    if (test_rank == OWNER)
        usleep(100000);
    if (test_rank == READER)
        get_and_hit(w.win, OWNER, HOLDER);
    close_window(&w);
}

/* The cache must not keep the data of a get that is concurrent with the put. */
CASE(put_in_flight_when_the_mode_changes) {
    struct window w = open_window(MUCH, "always");
    unsigned char got[BLOCK];
    for (int version = 1; version <= ROUNDS; version++) {
        fill_pattern(much, MUCH, test_rank, 0, version);
        set_mode(w.win, CLAMPI_OFF);
        put(w.win, much, 0, MUCH);
        set_mode(w.win, CLAMPI_ALWAYS);
        get(w.win, got, MUCH - BLOCK, BLOCK);
        get(w.win, got, MUCH - BLOCK, BLOCK);
        expect_pattern(got, BLOCK, test_rank, MUCH - BLOCK, version);
    }
    close_window(&w);
}

/* ---- an error beside a get ---- */

/* Starts a message to this rank itself that does not fit into its receive, and a get, and waits for both together. */
static void fail_beside_rget(MPI_Win win, void *to, MPI_Request *rget) {
    int sent[4] = {0}, room, index;
    MPI_Request requests[2], send;
    MPI_Irecv(&room, 1, MPI_INT, test_rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 4, MPI_INT, test_rank, 7, MPI_COMM_WORLD, &send);
    MPI_Rget(to, WINDOW, MPI_BYTE, peer(), 0, WINDOW, MPI_BYTE, win, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); /* Open MPI does not return the error here */
    if (requests[0] != MPI_REQUEST_NULL)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    *rget = requests[1];
}

static void read_beside_an_error(MPI_Win win) {
    unsigned char got[BLOCK];
    MPI_Request rget;
    memset(much, 0, WINDOW);
    get(win, got, WINDOW, BLOCK);
    MPI_Send(NULL, 0, MPI_BYTE, peer(), 8, MPI_COMM_WORLD);
    usleep(50000);
    fail_beside_rget(win, much, &rget);
    get(win, got, WINDOW, BLOCK);
    expect_pattern(got, BLOCK, peer(), WINDOW, 0);
    expect_pattern(much, WINDOW, peer(), 0, 0);
    MPI_Wait(&rget, MPI_STATUS_IGNORE);
}

/* A Waitany that fails because of one request does not complete the other one. A later flush completes it, and its data is
 * then valid. The target makes no MPI call for a while, so that the get is still pending at first. */
CASE(rget_beside_a_failed_receive) {
    struct window w = open_window(2 * WINDOW, "always");
    test_return_errors(true);
    if (test_rank == 0)
        read_beside_an_error(w.win);
    if (test_rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(300000);
    }
    close_window(&w);
    test_return_errors(false);
}

/* ---- a sync event between two gets of the same data in one epoch ----
 *
 * Rank 1 writes to its own window while a get of rank 0 from it is pending, and sends rank 0 a message. Rank 0 makes
 * no call on the window meanwhile. */

typedef void teller(int from, int to);

static void tell_by_message(int from, int to) {
    if (test_rank == from)
        MPI_Send(NULL, 0, MPI_BYTE, to, 3, MPI_COMM_WORLD);
    if (test_rank == to)
        MPI_Recv(NULL, 0, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tell_by_request(int from, int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (test_rank == from)
        MPI_Isend(NULL, 0, MPI_BYTE, to, 4, MPI_COMM_WORLD, &request);
    if (test_rank == to)
        MPI_Irecv(NULL, 0, MPI_BYTE, from, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void tell_by_barrier(int from, int to) {
    barrier();
}

typedef void changer(struct window *w, int version);

static void change_by_store(struct window *w, int version) {
    fill_pattern(w->base, w->bytes, OWNER, 0, version);
    MPI_Win_sync(w->win);
}

static void change_by_put(struct window *w, int version) {
    unsigned char *mine = aligned_bytes(w->bytes);
    fill_pattern(mine, w->bytes, OWNER, 0, version);
    MPI_Put(mine, (int)w->bytes, MPI_BYTE, OWNER, 0, (int)w->bytes, MPI_BYTE, w->win);
    MPI_Win_flush(OWNER, w->win);
    free(mine);
}

static void expect_news(const char *mode, teller *tell, changer *change) {
    struct window w = open_window(WINDOW, mode);
    unsigned char got[2][2 * BLOCK];
    for (int version = 1; version <= ROUNDS; version++) {
        size_t bytes = (size_t)version * BLOCK / 2; /* shorter, equal, and longer than the first */
        if (test_rank == READER)
            start_get(w.win, got[0], OWNER, 512, BLOCK);
        tell(READER, OWNER);
        if (test_rank == OWNER)
            change(&w, version);
        tell(OWNER, READER);
        if (test_rank == READER) {
            start_get(w.win, got[1], OWNER, 512, bytes);
            MPI_Win_flush(OWNER, w.win);
            expect_pattern(got[1], bytes, OWNER, 512, version);
        }
        barrier();
    }
    close_window(&w);
}

static void expect_news_of_all_kinds(teller *tell) {
    expect_news("transparent", tell, change_by_store);
    expect_news("transparent", tell, change_by_put);
    expect_news(NULL, tell, change_by_store); /* in the mode that HEARTH_MODE sets */
    expect_news(NULL, tell, change_by_put);
}

CASE(get_after_a_message_does_not_join_the_one_before) {
    expect_news_of_all_kinds(tell_by_message);
}

CASE(get_after_a_request_does_not_join_the_one_before) {
    expect_news_of_all_kinds(tell_by_request);
}

CASE(get_after_a_barrier_does_not_join_the_one_before) {
    expect_news_of_all_kinds(tell_by_barrier);
}

/* ---- layouts of tens of thousands of pieces ----
 *
 * Two such layouts interleave without overlapping: comparing all pieces of one with all pieces of the other would
 * take a second or more. A window without a cache measures the cost of the same calls. The shortest of three rounds
 * counts, which excludes disturbances by other processes. Open MPI takes a second for them, so the quick tier does this
 * in one configuration. */

enum { MOST_PIECES = 30000, STEP = 7919, SPREAD = 16 * MOST_PIECES };
#define PIECES (test_seconds < 1 ? MOST_PIECES / 2 : MOST_PIECES) /* Open MPI's time grows with the square */

static size_t piece(size_t i) {
    return 4 * (i * STEP % (size_t)PIECES);
}

/* Every fourth int from `first` on, in scattered order. */
static MPI_Datatype scatter(int first) {
    int *at = malloc((size_t)PIECES * sizeof *at);
    MPI_Datatype type;
    for (int i = 0; i < PIECES; i++)
        at[i] = (int)piece((size_t)i) + first;
    MPI_Type_create_indexed_block(PIECES, 1, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    free(at);
    return type;
}

struct scattered {
    MPI_Datatype even, odd;
    int *ints; /* SPREAD bytes */
};

/* Returns the duration of one round. */
typedef double interleaved_call(MPI_Win win, const struct scattered *s, int round);

/* Each round reads from another place, so that no get hits. */
static double get_interleaved(MPI_Win win, const struct scattered *s, int round) {
    double start = now();
    MPI_Get(s->ints, 1, s->even, peer(), 64 * round, PIECES, MPI_INT, win);
    MPI_Get(s->ints, 1, s->odd, peer(), 64 * round + 4, PIECES, MPI_INT, win);
    MPI_Win_flush(peer(), win);
    start = now() - start;
    for (size_t i = 0; i < (size_t)PIECES; i += (size_t)PIECES / 100)
        for (size_t odd = 0; odd < 2; odd++)
            expect_pattern(s->ints + piece(i) + 2 * odd, 4, peer(), 64 * (size_t)round + 4 * (i + odd), 0);
    return start;
}

/* Writes beside the cached data, which stays valid. */
static double put_interleaved(MPI_Win win, const struct scattered *s, int round) {
    double start;
    MPI_Get(s->ints, 1, s->even, peer(), 0, 1, s->even, win);
    MPI_Win_flush(peer(), win);
    start = now();
    MPI_Put(s->ints, 1, s->odd, peer(), 0, 1, s->odd, win);
    MPI_Win_flush(peer(), win);
    return now() - start;
}

static double shortest(const char *mode, const struct scattered *s, interleaved_call *call) {
    struct window w = open_window(SPREAD, mode);
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double took = call(w.win, s, round);
        best = took < best ? took : best;
        barrier();
    }
    close_window(&w);
    return best;
}

static void expect_comparable(interleaved_call *call) {
    SKIP_IF(test_seconds < 1 && (test_size > 2 || strcmp(test_config(), "on")),
            "in the quick tier only with the cache on");
    struct scattered s = {.even = scatter(0), .odd = scatter(2), .ints = calloc(1, SPREAD)};
    double uncached = shortest("off", &s, call), cached = shortest("always", &s, call);
    expect(cached < 10 * uncached + 0.1);
    MPI_Type_free(&s.even);
    MPI_Type_free(&s.odd);
    free(s.ints);
}

CASE(gets_into_many_interleaved_pieces) {
    expect_comparable(get_interleaved);
}

CASE(put_beside_many_cached_pieces) {
    expect_comparable(put_interleaved);
}
