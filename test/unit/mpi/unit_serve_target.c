/* unit_serve_target.c: tests the targets of served windows, without MPI: records are made at first use, in windows with a slot for each
 * rank and in larger ones; epochs of all targets include those without a record; threads may make records at once. */
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "mpi/windows/serving/remote/domain.h"
#include "mpi/windows/serving/serving.h"
#include "tables/rank_table.h"

enum { PER_NODE = 8, FEW = 1000, MANY = 100000 };

bool serve_is_threaded;
pthread_mutex_t serve_mutex = PTHREAD_MUTEX_INITIALIZER;
_Atomic(struct served *) serve_recent;

struct served *serve_find_slow(MPI_Win handle) {
    (void)handle;
    return NULL; /* nothing here looks for a window by its handle */
}

/* Processes are numbered backwards here. */
int serve_domain_node(const struct serve_domain *d, uint64_t process, int likely) {
    (void)d, (void)likely;
    return (int)(process / PER_NODE);
}

static struct rank_memory memory_of(int rank, int size) {
    return (struct rank_memory){.base = 0x10000000 + 4096 * (uint64_t)rank,
                                .bytes = 64 + (uint64_t)rank % 7,
                                .unit = 1 + (uint64_t)rank % 3,
                                .process = (uint64_t)(size - 1 - rank)};
}

/* A window whose first ranks are on this node. */
static struct served *window_open(int size) {
    struct served *s = calloc(1, sizeof *s);
    struct memory_table_range range = memory_table_no_range;
    s->size = size;
    expect_eq(
        rank_table_open(&s->targets, (uint32_t)size, sizeof(struct served_target), &serve_no_target.head), 0);
    for (int i = 0; i < size; i++) {
        struct rank_memory m = memory_of(i, size);
        memory_table_extend(&range, &m, i, size, true);
    }
    struct memory_table *t = &s->ranks.table;
    memory_table_plan(t, size, true, &range);
    t->rows = malloc((size_t)MANY * t->row_bytes);
    for (int i = 0; i < size; i++) {
        struct rank_memory m = memory_of(i, size);
        memory_table_write(t, i, &m, t->rows + (size_t)i * t->row_bytes);
    }
    s->here = calloc(PER_NODE, sizeof(struct served_target *));
    for (int i = 0; i < PER_NODE; i++)
        s->here[s->here_count++] = serve_target_make_here(s, i);
    return s;
}

static void window_close(struct served *s) {
    rank_table_close(&s->targets);
    free(s->ranks.table.rows);
    free(s->here);
    free(s);
}

static bool is_made(const struct served *s, int rank) {
    return serve_target_find(s, rank)->head.rank == rank;
}

static void expect_target(const struct served *s, int rank) {
    const struct served_target *t = serve_target_find(s, rank);
    struct rank_memory m = memory_of(rank, s->size);
    expect_eq(t->head.rank, rank);
    expect_eq(t->base, m.base);
    expect_eq(t->bytes, s->dynamic ? PTRDIFF_MAX : m.bytes);
    expect_eq(t->unit, m.unit);
    expect_eq(t->node, (int)m.process / PER_NODE);
    expect(t->remote == s && !t->gate && !t->mapped && !t->by_kernel);
}

static void check_first_use(int size, bool dynamic) {
    struct served *s = window_open(size);
    s->dynamic = dynamic;
    for (int i = 0; i < PER_NODE; i++)
        expect(serve_target_make(s, i) == s->here[i] && s->here[i]->head.number == (uint32_t)i);
    for (int i = PER_NODE; i < size; i += size / 100) {
        expect(!is_made(s, i));
        const struct served_target *t = serve_target_make(s, i);
        expect_target(s, i);
        expect(serve_target_make(s, i) == t && !serve_epoch_is_open(t));
        expect(serve_target_peek(s, i) == (size <= RANK_TABLE_DENSE ? t : &serve_no_target));
    }
    window_close(s);
}

TEST(first_use_makes_a_record)
{
    check_first_use(FEW, false);
    check_first_use(MANY, false);
    check_first_use(MANY, true);
}

/* The two epochs that are open to all targets. */
static void epoch_set(struct served *s, bool by_fence, bool open) {
    if (by_fence)
        serve_target_mark_fenced(s, open);
    else
        serve_target_mark_held(s, open ? HOLD_SHARED : HOLD_NONE);
}

static void check_epoch(int size, bool by_fence) {
    struct served *s = window_open(size);
    int early = PER_NODE, late = size - 1;
    expect(!serve_target_enter(s, early) && !is_made(s, early)); /* no epoch, no record */
    serve_target_make(s, early);
    for (int round = 0; round < 2; round++) {
        epoch_set(s, by_fence, true);
        for (int i = 0; i < 2; i++) {
            const struct served_target *t = serve_target_enter(s, i ? late : early);
            expect(t && serve_epoch_is_open(t) && t->fenced == by_fence);
            expect_eq(t->held, by_fence ? HOLD_NONE : HOLD_SHARED | HOLD_REMOTE);
            expect_target(s, i ? late : early);
        }
        expect_eq(s->here[0]->held, HOLD_NONE); /* of its own */
        expect(!serve_target_enter(s, size) && !serve_target_enter(s, -1));
        epoch_set(s, by_fence, false);
        expect(!serve_target_enter(s, early) && !serve_target_enter(s, late));
        expect(!serve_epoch_is_open(serve_target_find(s, late)));
    }
    expect_eq(s->targets.count, PER_NODE + 2);
    expect(!serve_epoch_is_open(&serve_no_target) && serve_no_target.head.rank < 0);
    window_close(s);
}

TEST(epochs_of_all_targets)
{
    check_epoch(FEW, true);
    check_epoch(FEW, false);
    check_epoch(MANY, true);
    check_epoch(MANY, false);
}

TEST(a_lock_of_one_target_is_its_own)
{
    struct served *s = window_open(FEW);
    serve_target_make(s, 100)->held = HOLD_ALONE | HOLD_REMOTE;
    expect(serve_target_enter(s, 100) == serve_target_find(s, 100));
    expect(!serve_target_enter(s, 101) && !is_made(s, 101));
    window_close(s);
}

/* ---- threads ---- */

enum { THREADS = 4, USED = 2000 };

struct user {
    pthread_t thread;
    struct served *window;
    struct served_target *seen[USED];
};

static void *use_targets(void *arg) {
    struct user *u = arg;
    for (int i = 0; i < USED; i++)
        u->seen[i] = serve_target_enter(u->window, PER_NODE + i * 49);
    return NULL;
}

TEST(threads_make_one_record)
{
    static struct user users[THREADS];
    struct served *s = window_open(MANY);
    serve_is_threaded = true;
    serve_target_mark_held(s, HOLD_SHARED);
    for (int i = 0; i < THREADS; i++) {
        users[i].window = s;
        pthread_create(&users[i].thread, NULL, use_targets, &users[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(users[i].thread, NULL);
    serve_is_threaded = false;
    for (int i = 0; i < USED; i++) {
        expect_target(s, PER_NODE + i * 49);
        for (int t = 0; t < THREADS; t++)
            expect(users[t].seen[i] == serve_target_find(s, PER_NODE + i * 49));
    }
    expect_eq(s->targets.count, PER_NODE + USED);
    window_close(s);
}
