/* unit_rank_table.c: tests records of ranks that are made at first use: dense and hashed tables, stable addresses, lookups while other
 * threads make records, and failed allocations. */
#include "test.h"

#include <limits.h>
#include <pthread.h>

#include "tables/rank_table.h"

enum { MANY = RANK_TABLE_DENSE + 1 };

struct item {
    struct rank_record head;
    uint64_t value;
    char rest[208];
};
static struct item none = {.head = {.rank = -1}};

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
static unsigned fail_in; /* the n-th allocation from now on fails; 0: none */

static bool allocation_fails(void) {
    return fail_in && !--fail_in;
}
void *__wrap_malloc(size_t bytes) {
    return allocation_fails() ? NULL : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
    return allocation_fails() ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *old, size_t bytes) {
    return allocation_fails() ? NULL : __real_realloc(old, bytes);
}

static void open_table(struct rank_table *t, uint32_t ranks) {
    expect_eq(rank_table_open(t, ranks, sizeof(struct item), &none.head), 0);
}

static struct item *find(const struct rank_table *t, int rank) {
    return (struct item *)rank_table_find(t, rank);
}

static struct item *make(struct rank_table *t, int rank) {
    struct item *i = (struct item *)rank_table_prepare(t, rank);
    if (!i)
        return NULL;
    i->value = 1000 + (uint64_t)rank;
    rank_table_add(t, &i->head);
    return i;
}

static void check_made(const struct rank_table *t, const int *ranks, struct item *const *items,
                       unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        expect(find(t, ranks[i]) == items[i]);
        expect(rank_table_at(t, i) == &items[i]->head);
        expect_eq(items[i]->head.rank, ranks[i]);
        expect_eq(items[i]->head.number, i);
        expect_eq(items[i]->value, 1000 + (uint64_t)ranks[i]);
    }
}

/* Makes records of `count` ranks that are `step` apart, and looks all up after each. */
static void try_ranks(uint32_t size, unsigned count, int step) {
    struct rank_table t;
    int ranks[512];
    struct item *items[512];
    open_table(&t, size);
    for (unsigned i = 0; i < count; i++) {
        ranks[i] = (int)((uint64_t)i * (uint64_t)step % size);
        expect(find(&t, ranks[i]) == &none);
        items[i] = make(&t, ranks[i]);
        if (i % 31 == 0 || i + 1 == count)
            check_made(&t, ranks, items, i + 1);
    }
    rank_table_close(&t);
}

TEST(records_are_found_and_stay_in_place)
{
    try_ranks(1, 1, 1);
    try_ranks(64, 64, 1);
    try_ranks(RANK_TABLE_DENSE, 512, 127);
    try_ranks(MANY, 512, 1);
    try_ranks(1000003, 512, 4096); /* powers of two are frequent distances between partners */
    try_ranks(1000003, 512, 65536);
    try_ranks(1u << 30, 512, 1 << 16);
}

TEST(numbers_that_are_no_ranks_have_no_record)
{
    static const int wrong[] = {-1, -2, -3, INT_MIN, INT_MAX, MANY};
    struct rank_table small, large;
    open_table(&small, 8);
    open_table(&large, MANY);
    for (int i = 0; i < 8; i++)
        make(&small, i), make(&large, i);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect(find(&small, wrong[i]) == &none);
        expect(find(&large, wrong[i]) == &none);
    }
    expect(find(&small, 8) == &none);
    expect(find(&large, 8) == &none);
    rank_table_close(&small);
    rank_table_close(&large);
    rank_table_close(&large); /* again: no effect */
}

TEST(memory_grows_with_the_records_and_not_with_the_ranks)
{
    size_t none_used = rank_table_bytes(1000000, 224, 0), some = rank_table_bytes(1000000, 224, 64);
    expect(none_used < 512);
    expect(some - none_used <= 64 * 300);
    expect(rank_table_bytes(1000000, 224, 10000) <= 10000 * 300 + none_used);
    expect(rank_table_bytes(1000000, 224, 1000000) <= 1000000ull * 300);
    expect(rank_table_bytes(64, 224, 64) <= 64 * 300);
}

/* Each allocation fails in turn: nothing changes, and the next attempt succeeds. */
static void fail_each(uint32_t size) {
    for (unsigned n = 1, failed = 1; failed; n++) {
        struct rank_table t;
        fail_in = n;
        failed = rank_table_open(&t, size, sizeof(struct item), &none.head) != 0;
        if (failed) {
            expect(!t.store && !t.slots && !t.dense);
            continue;
        }
        for (int i = 0; i < 100; i++) {
            struct item *made = make(&t, i);
            if (made)
                continue;
            failed = 1;
            expect(find(&t, i) == &none);
            expect_eq(t.count, i);
            expect(make(&t, i) != NULL);
        }
        fail_in = 0;
        for (int i = 0; i < 100; i++)
            expect_eq(find(&t, i)->head.rank, i);
        rank_table_close(&t);
    }
}

TEST(without_memory_nothing_changes)
{
    fail_each(100);
    fail_each(MANY);
}

/* Two threads use the same ranks for the first time at once, as with MPI_THREAD_MULTIPLE; both must see one record each, whole. */
enum { THREADS = 2, RANKS = 400 };

struct race {
    struct rank_table table;
    pthread_mutex_t mutex;
    pthread_barrier_t start;
    struct item *seen[THREADS][RANKS];
    int number;
};

static struct item *use(struct race *r, int rank) {
    struct item *i = find(&r->table, rank);
    if (i->head.rank >= 0)
        return i;
    pthread_mutex_lock(&r->mutex);
    i = find(&r->table, rank);
    if (i->head.rank < 0)
        i = make(&r->table, rank);
    pthread_mutex_unlock(&r->mutex);
    return i;
}

static void *use_all(void *arg) {
    struct race *r = arg;
    int me = __atomic_fetch_add(&r->number, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&r->start);
    for (int i = 0; i < RANKS; i++) {
        r->seen[me][i] = use(r, i * 7 % RANKS);
        expect_eq(r->seen[me][i]->value, 1000 + (uint64_t)(i * 7 % RANKS));
    }
    return NULL;
}

static void race_in(uint32_t size) {
    static struct race r;
    pthread_t threads[THREADS];
    memset(&r, 0, sizeof r);
    open_table(&r.table, size);
    pthread_mutex_init(&r.mutex, NULL);
    pthread_barrier_init(&r.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        expect_eq(pthread_create(&threads[i], NULL, use_all, &r), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expect_eq(r.table.count, RANKS);
    expect(memcmp(r.seen[0], r.seen[1], sizeof r.seen[0]) == 0);
    pthread_barrier_destroy(&r.start);
    pthread_mutex_destroy(&r.mutex);
    rank_table_close(&r.table);
}

TEST(two_threads_use_a_rank_for_the_first_time_at_once)
{
    for (int i = 0; i < 50; i++) {
        race_in(RANKS);
        race_in(MANY);
    }
}
