/* unit_match_memory.c: tests the allocations of engines, and their failures. The linker wraps malloc, so that it can
 * fail; larger allocations fail through fail_memory_at. */
#include <unistd.h>

#include "test.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "fail_memory.h"
#include "match/fast/fast.h"
#include "match_help.h"

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static bool no_malloc;

void *__wrap_malloc(size_t bytes) {
    return no_malloc ? NULL : __real_malloc(bytes);
}

static void memory_runs_out(bool now) {
    no_malloc = now;
    fail_memory_at(now ? 1 : 0);
}

static struct match_counters same_but(struct match_counters c, uint64_t bytes) {
    c.bytes = bytes;
    return c;
}

/* Posts receives until memory is exhausted; the failed one changes nothing, and posting continues afterwards. */
ON_EACH(a_post_without_memory_does_nothing) {
    long queued = 0;
    log_set_level(LOG_ERROR);
    memory_runs_out(true);
    while (post((int32_t)queued, 0, 0, 1 + queued) == QUEUED)
        queued++;
    struct match_counters before = counters();
    expect_eq(before.posted_now, queued);
    expect_eq(before.posts, queued);
    void *message = &before;
    match_entry entry = 77;
    expect_eq(match_post(engine, 5, 5, 5, NULL, &entry, &message), -ENOMEM);
    expect(entry == 77 && message == &before);
    struct match_counters after = same_but(counters(), before.bytes);
    expect(!memcmp(&before, &after, sizeof before));
    match_check(engine);
    memory_runs_out(false);
    expect_eq(post((int32_t)queued, 0, 0, 1 + queued), QUEUED);
    for (long i = queued; i >= 0; i--)
        expect_eq(arrive((int32_t)i, 0, 0, 1), 1 + i);
}

ON_EACH(an_arrival_without_memory_does_nothing) {
    long queued = 0;
    log_set_level(LOG_ERROR);
    memory_runs_out(true);
    while (arrive((int32_t)queued, 0, 0, 1 + queued) == QUEUED)
        queued++;
    expect_eq(counters().unexpected_now, queued);
    expect_eq(counters().arrivals, queued);
    match_check(engine);
    memory_runs_out(false);
    expect_eq(arrive((int32_t)queued, 0, 0, 1 + queued), QUEUED);
    for (long i = queued; i >= 0; i--)
        expect_eq(post((int32_t)i, 0, 0, 1), 1 + i);
}

/* Matching needs no memory. */
ON_EACH(matching_goes_on_without_memory) {
    log_set_level(LOG_ERROR);
    for (int32_t i = 0; i < 3000; i++)
        expect_eq(arrive(i, i % 5, 0, 1 + i), QUEUED);
    memory_runs_out(true);
    for (int32_t i = 0; i < 3000; i += 3) {
        expect_eq(probe(ANY, i % 5, 0) != NONE, true);
        expect_eq(probe(i, ANY, 0), 1 + i);
        expect_eq(take(i, i % 5, 0), 1 + i);
        expect_eq(post(i + 1, i % 5 == 4 ? 0 : i % 5 + 1, 0, 1), 2 + i);
    }
    match_check(engine);
    memory_runs_out(false);
    expect_eq(probe(ANY, ANY, 0), 3);
}

TEST(opening_fails_cleanly)
{
    log_set_level(LOG_ERROR);
    for (unsigned i = 0; i < STRUCTURES; i++)
        for (unsigned n = 1; n < 10; n++) {
            struct match_options o = {.heated = n % 2};
            match_parse(structures[i], &o);
            fail_memory_at(n);
            engine = NULL;
            int err = match_open(&o, &engine);
            fail_memory_at(0);
            expect(err == (engine ? 0 : -ENOMEM));
            expect(n > 1 || err);
            expect(n < 5 || !err);
            if (engine)
                close_engine();
        }
}

/* Without memory for the table of bins the arrays are used until they are full. */
TEST(fast_without_bins)
{
    log_set_level(LOG_ERROR);
    open_engine("fast", false);
    memory_runs_out(true);
    for (int32_t i = 0; i < FAST_SLOTS; i++)
        expect_eq(post(i, 0, 0, 1 + i), QUEUED);
    expect_eq(post(1000, 0, 0, 1), -ENOMEM);
    for (int32_t i = 0; i < 100; i++) { /* one hole at a time */
        expect_eq(arrive(i, 0, 0, 1), 1 + i);
        expect_eq(post(1000 + i, 0, 0, 1001 + i), QUEUED);
        expect_eq(post(5000, 0, 0, 1), -ENOMEM);
    }
    match_check(engine);
    memory_runs_out(false);
    expect_eq(post(2000, 0, 0, 2001), QUEUED);
    expect(fast_of(engine)->posted.binned);
    close_engine();
}

/* With bins, but without entries. */
TEST(fast_without_entries)
{
    log_set_level(LOG_ERROR);
    open_engine("fast", false);
    int32_t queued = 0;
    for (; queued < 300; queued++)
        expect_eq(post(queued, 0, 0, 1 + queued), QUEUED);
    memory_runs_out(true);
    while (post(queued, 0, 0, 1 + queued) == QUEUED)
        queued++;
    expect(queued >= 500 && fast_of(engine)->posted.binned);
    expect_eq(post(queued, 0, 0, 1), -ENOMEM);
    match_check(engine);
    expect_eq(arrive(100, 0, 0, 1), 101);
    expect_eq(post(100, 0, 0, 101), QUEUED);
    expect_eq(post(queued, 0, 0, 1), -ENOMEM);
    memory_runs_out(false);
    for (int32_t i = queued - 1; i >= 0; i--)
        expect_eq(arrive(i, 0, 0, 1), 1 + i);
    close_engine();
}

/* Extra kinds are dropped when memory is short, and searches that need them still find their entries. */
TEST(fast_without_extra_kinds)
{
    log_set_level(LOG_ERROR);
    open_engine("fast", false);
    struct fast_bins *bins = &fast_of(engine)->unexpected.bins;
    for (int32_t i = 0; i < 5000; i++) /* memory for entries, but none for more keys */
        expect_eq(arrive(1, 1, 9, 1 + i), QUEUED);
    for (int32_t i = 0; i < 5000; i++)
        expect_eq(take(1, 1, 9), 1 + i);
    for (int32_t i = 0; i < 600; i++) /* two of each tag; 128 bins hold about 760 keys */
        expect_eq(arrive(i, i / 2, 0, 1 + i), QUEUED);
    memory_runs_out(true);
    for (int32_t i = 0; i < 600; i++) {
        expect_eq(probe(ANY, i / 2, 0), 1 + i / 2 * 2);
        expect_eq(probe(i, ANY, 0), 1 + i);
    }
    expect_eq(bins->extra, 0);
    match_check(engine);
    expect_eq(probe(ANY, ANY, 0), 1);
    expect_eq(bins->extra, 1 << KIND_ANY_BOTH); /* one key */
    expect_eq(probe(ANY, ANY, 1), NONE);
    memory_runs_out(false);
    expect_eq(probe(ANY, 100, 0), 201);
    expect_eq(bins->extra, 1 << KIND_ANY_BOTH | 1 << KIND_ANY_SOURCE);
    memory_runs_out(true);
    int32_t next = 1000;
    while (next < 4000 && arrive(next, next, 0, 1 + next) == QUEUED)
        next++;
    expect(next > 1800 && next < 4000); /* 256 bins, filled by messages alone */
    expect_eq(bins->extra, 0);
    match_check(engine);
    memory_runs_out(false);
    for (int32_t i = 299; i >= 0; i--)
        expect_eq(take(ANY, i, 0), 1 + 2 * i);
    match_check(engine);
    close_engine();
}

TEST(wildcards_of_receives_without_memory)
{
    log_set_level(LOG_ERROR);
    open_engine("fast", false);
    for (int32_t i = 0; i < 400; i++)
        expect_eq(post(i, i, (uint32_t)(i % 3), 1 + i), QUEUED);
    memory_runs_out(true);
    for (int32_t i = 0; i < 400; i += 3)
        expect_eq((long)match_drain_receives(engine, 0), 1 + i);
    match_check(engine);
    memory_runs_out(false);
    close_engine();
}

TEST(there_is_one_warning)
{
    struct match_options o = {0};
    int pipe_ends[2], saved;
    char text[4096] = "";
    expect_eq(pipe(pipe_ends), 0);
    saved = dup(2);
    dup2(pipe_ends[1], 2);
    log_set_level(LOG_WARN);
    match_open(&o, &engine);
    memory_runs_out(true);
    for (int32_t i = 0; i < 1000; i++)
        post(i, 0, 0, 1);
    memory_runs_out(false);
    dup2(saved, 2);
    close(saved);
    close(pipe_ends[1]);
    ssize_t length = read(pipe_ends[0], text, sizeof text - 1);
    close(pipe_ends[0]);
    expect(length > 0 && strchr(text, '\n') == text + length - 1);
    expect(strstr(text, "match:"));
    close_engine();
}

/* ---- the pool ---- */

enum { MANY = 300000 };
static void *elements[MANY];
static uint32_t numbers[MANY];

static void take_element(struct match_pool *pool, unsigned i) {
    elements[i] = pool_take(pool, &numbers[i]);
    expect(elements[i] == pool_at(pool, numbers[i], pool->size));
    *(uint64_t *)elements[i] = i;
    *(uint64_t *)pool_side(pool, numbers[i], 16) = ~(uint64_t)i;
}

static void give_element(struct match_pool *pool, unsigned i) {
    expect(*(uint64_t *)elements[i] == i);
    expect(*(uint64_t *)pool_side(pool, numbers[i], 16) == ~(uint64_t)i);
    pool_give(pool, elements[i], numbers[i]);
}

TEST(a_pool_gives_every_element_once)
{
    struct supply supply = {0};
    struct match_pool pool;
    struct random dice;
    random_seed(&dice, 3);
    expect_eq(pool_open(&pool, &supply, 24, 16), 0);
    for (unsigned i = 0; i < MANY; i++) {
        take_element(&pool, i);
        expect_eq((uintptr_t)elements[i] % 8, 0);
    }
    expect_eq(pool_check(&pool), MANY);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = MANY; i > 1000; i--) { /* in any order, those that remain are at the front */
            unsigned k = random_below(&dice, i);
            give_element(&pool, k);
            elements[k] = elements[i - 1];
            numbers[k] = numbers[i - 1];
            if (k != i - 1) {
                *(uint64_t *)elements[k] = k;
                *(uint64_t *)pool_side(&pool, numbers[k], 16) = ~(uint64_t)k;
            }
        }
        expect_eq(pool_check(&pool), 1000);
        for (unsigned i = 0; i < 1000; i++)
            expect(pool_has(&pool, numbers[i]));
        for (unsigned i = 1000; i < MANY; i++)
            take_element(&pool, i);
        expect_eq(pool_check(&pool), MANY);
    }
    uint64_t bytes = supply.bytes;
    expect(bytes > (uint64_t)MANY * 40 && bytes < (uint64_t)MANY * 100);
    pool_close(&pool);
    expect_eq(supply.bytes, 0);
}

TEST(a_pool_gives_the_lowest_first)
{
    struct supply supply = {0};
    struct match_pool pool;
    expect_eq(pool_open(&pool, &supply, 64, 16), 0);
    for (unsigned i = 0; i < 10000; i++) {
        take_element(&pool, i);
        expect_eq(numbers[i], i);
        expect_eq((uintptr_t)elements[i] % 64, 0);
    }
    for (unsigned i = 0; i < 10000; i++)
        give_element(&pool, i);
    unsigned low = 0;
    for (unsigned i = 0; i < 1000; i++) {
        take_element(&pool, i);
        low += numbers[i] < 1000;
    }
    expect(low >= 1000 - POOL_SPARES);
    expect(!pool_has(&pool, 5000) && pool_has(&pool, 0));
    pool_close(&pool);
}

TEST(a_pool_without_memory_goes_on_with_what_is_given_back)
{
    struct supply supply = {0};
    struct match_pool pool;
    unsigned count = 0;
    log_set_level(LOG_ERROR);
    expect_eq(pool_open(&pool, &supply, 64, 16), 0);
    fail_memory_at(1);
    while ((elements[count] = pool_take(&pool, &numbers[count])))
        count++;
    expect(count >= 64);
    expect_eq(pool_check(&pool), count);
    pool_give(&pool, elements[3], numbers[3]);
    uint32_t number;
    expect(pool_take(&pool, &number) == elements[3]);
    expect(!pool_take(&pool, &number));
    fail_memory_at(0);
    expect(pool_take(&pool, &number) != NULL);
    expect_eq(pool_check(&pool), count + 1);
    pool_close(&pool);
}
