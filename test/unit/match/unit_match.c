/* unit_match.c: tests MPI's matching rules on every structure. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "match/fast/fast.h"
#include "match/lists/list.h"
#include "match/lists/lla.h"
#include "match_help.h"

ON_EACH(a_message_takes_the_receive_that_names_it) {
    expect_eq(post(1, 5, 0, 100), QUEUED);
    expect_eq(post(2, 5, 0, 101), QUEUED);
    expect_eq(post(1, 6, 0, 102), QUEUED);
    expect_eq(post(1, 5, 1, 103), QUEUED);
    expect_eq(arrive(1, 5, 1, 1), 103);
    expect_eq(arrive(1, 6, 0, 2), 102);
    expect_eq(arrive(2, 5, 0, 3), 101);
    expect_eq(arrive(1, 5, 0, 4), 100);
    expect_eq(arrive(1, 5, 0, 5), QUEUED);
}

ON_EACH(a_receive_takes_the_message_that_it_names) {
    expect_eq(arrive(1, 5, 0, 1), QUEUED);
    expect_eq(arrive(2, 5, 0, 2), QUEUED);
    expect_eq(arrive(1, 6, 0, 3), QUEUED);
    expect_eq(arrive(1, 5, 1, 4), QUEUED);
    expect_eq(post(1, 5, 1, 100), 4);
    expect_eq(post(1, 6, 0, 101), 3);
    expect_eq(post(2, 5, 0, 102), 2);
    expect_eq(post(1, 5, 0, 103), 1);
    expect_eq(post(1, 5, 0, 104), QUEUED);
}

ON_EACH(equal_ones_go_in_the_order_in_which_they_came) {
    for (long i = 1; i <= 300; i++)
        expect_eq(post(7, 7, 7, i), QUEUED);
    for (long i = 1; i <= 300; i++)
        expect_eq(arrive(7, 7, 7, 1000), i);
    for (long i = 1; i <= 300; i++)
        expect_eq(arrive(7, 7, 7, i), QUEUED);
    for (long i = 1; i <= 300; i++)
        expect_eq(post(7, 7, 7, 1000), i);
}

ON_EACH(wildcards_of_posted_receives) {
    expect_eq(post(ANY, 5, 0, 100), QUEUED);
    expect_eq(post(1, ANY, 0, 101), QUEUED);
    expect_eq(post(ANY, ANY, 0, 102), QUEUED);
    expect_eq(post(ANY, ANY, 1, 103), QUEUED);
    expect_eq(arrive(2, 6, 2, 1), QUEUED);
    expect_eq(arrive(1, 6, 0, 2), 101);
    expect_eq(arrive(9, 6, 0, 3), 102);
    expect_eq(arrive(9, 5, 0, 4), 100);
    expect_eq(arrive(9, 9, 0, 5), QUEUED);
    expect_eq(arrive(9, 9, 1, 6), 103);
}

ON_EACH(wildcards_among_waiting_messages) {
    expect_eq(arrive(1, 5, 1, 1), QUEUED);
    expect_eq(arrive(2, 6, 0, 2), QUEUED);
    expect_eq(arrive(1, 6, 0, 3), QUEUED);
    expect_eq(arrive(1, 5, 0, 4), QUEUED);
    expect_eq(post(ANY, 5, 0, 100), 4);
    expect_eq(post(1, ANY, 0, 101), 3);
    expect_eq(post(ANY, ANY, 0, 102), 2);
    expect_eq(post(ANY, ANY, 0, 103), QUEUED);
    expect_eq(post(ANY, ANY, 1, 104), 1);
}

/* A wildcard has no priority of its own: the first posted receive matches first. */
ON_EACH(a_wildcard_keeps_its_place_in_the_order) {
    expect_eq(post(1, 5, 0, 100), QUEUED);
    expect_eq(post(ANY, 5, 0, 101), QUEUED);
    expect_eq(post(1, ANY, 0, 102), QUEUED);
    expect_eq(post(1, 5, 0, 103), QUEUED);
    expect_eq(arrive(1, 5, 0, 1), 100);
    expect_eq(arrive(1, 5, 0, 2), 101);
    expect_eq(arrive(1, 5, 0, 3), 102);
    expect_eq(arrive(1, 5, 0, 4), 103);
    expect_eq(post(ANY, 5, 0, 104), QUEUED); /* the wildcard first, and then the exact one */
    expect_eq(post(1, 5, 0, 105), QUEUED);
    expect_eq(arrive(1, 5, 0, 5), 104);
    expect_eq(arrive(1, 5, 0, 6), 105);
}

ON_EACH(a_probe_leaves_the_message_and_take_does_not) {
    expect_eq(probe(ANY, ANY, 0), NONE);
    expect_eq(take(ANY, ANY, 0), NONE);
    expect_eq(arrive(1, 5, 0, 1), QUEUED);
    expect_eq(arrive(2, 5, 0, 2), QUEUED);
    expect_eq(probe(ANY, 5, 0), 1);
    expect_eq(probe(2, ANY, 0), 2);
    expect_eq(probe(2, 5, 0), 2);
    expect_eq(probe(3, 5, 0), NONE);
    expect_eq(probe(ANY, ANY, 1), NONE);
    expect_eq(take(ANY, 5, 0), 1);
    expect_eq(take(1, 5, 0), NONE);
    expect_eq(post(ANY, 5, 0, 100), 2);
    expect_eq(probe(ANY, ANY, 0), NONE);
}

ON_EACH(cancelled_receives_match_no_more) {
    match_entry entries[40];
    for (long i = 0; i < 40; i++) {
        expect_eq(post((int32_t)i, 0, 0, 100 + i), QUEUED);
        entries[i] = last_entry;
    }
    for (long i = 0; i < 40; i += 2)
        expect_eq((long)match_cancel(engine, entries[i]), 100 + i);
    match_check(engine);
    for (long i = 39; i >= 0; i--)
        expect_eq(arrive((int32_t)i, 0, 0, 1000 + i), i % 2 ? 100 + i : QUEUED);
    expect_eq(counters().posted_now, 0);
    expect_eq(counters().unexpected_now, 20);
}

ON_EACH(a_handle_outlives_what_happens_to_others) {
    expect_eq(post(1, 1, 1, 7), QUEUED);
    match_entry oldest = last_entry;
    for (long i = 0; i < 3000; i++) { /* others are added and removed, and some stay */
        expect_eq(post(2, (int32_t)i, 1, 8), QUEUED);
        if (i % 3)
            expect_eq(arrive(2, (int32_t)i, 1, 9), 8);
    }
    expect_eq((long)match_cancel(engine, oldest), 7);
    expect_eq(arrive(1, 1, 1, 9), QUEUED);
    for (long i = 0; i < 2997; i += 3)
        expect_eq(arrive(2, (int32_t)i, 1, 9), 8);
    expect_eq(arrive(2, 2997, 1, 9), 8);
    expect_eq(counters().posted_now, 0);
}

ON_EACH(emptying_a_context_leaves_the_others) {
    for (long i = 0; i < 500; i++) {
        expect_eq(post(i % 3 ? (int32_t)i : ANY, i % 5 ? 1 : ANY, 10 + (uint32_t)(i % 2), 100 + i), QUEUED);
        expect_eq(arrive((int32_t)i, 2, 20 + (uint32_t)(i % 2), 1000 + i), QUEUED);
    }
    for (long i = 0; i < 500; i += 2) {
        expect_eq((long)match_drain_receives(engine, 10), 100 + i);
        expect_eq((long)match_drain_messages(engine, 20), 1000 + i);
    }
    match_check(engine);
    expect(!match_drain_receives(engine, 10) && !match_drain_messages(engine, 20));
    expect(!match_drain_receives(engine, 20) && !match_drain_messages(engine, 10));
    for (long i = 1; i < 500; i += 2) {
        expect_eq((long)match_drain_receives(engine, 11), 100 + i);
        expect_eq((long)match_drain_messages(engine, 21), 1000 + i);
    }
    expect(!match_drain_receives(engine, 11) && !match_drain_messages(engine, 21));
}

ON_EACH(emptying_a_large_context_leaves_the_others) {
    for (long i = 0; i < 20; i++) {
        expect_eq(post((int32_t)i, 1, 70000 + (uint32_t)(i % 2), 100 + i), QUEUED);
        expect_eq(arrive((int32_t)i, 2, 80000 + (uint32_t)(i % 2), 1000 + i), QUEUED);
    }
    for (long i = 0; i < 20; i += 2) {
        expect_eq((long)match_drain_receives(engine, 70000), 100 + i);
        expect_eq((long)match_drain_messages(engine, 80000), 1000 + i);
    }
    expect(!match_drain_receives(engine, 70000) && !match_drain_messages(engine, 80000));
    expect_eq(counters().posted_now, 10);
}

ON_EACH(the_ends_of_the_ranges) {
    static const int32_t numbers[] = {0, 1, 65533, 65534, 65535, 65536, INT32_MAX, -2, INT32_MIN};
    static const uint32_t contexts[] = {0, 65533, 65534, 65535, 65536, INT32_MAX, UINT32_MAX};
    long name = 0;
    for (unsigned s = 0; s < 9; s++)
        for (unsigned t = 0; t < 9; t++)
            for (unsigned c = 0; c < 7; c++)
                expect_eq(post(numbers[s], numbers[t], contexts[c], ++name), QUEUED);
    match_check(engine);
    name = 0;
    for (unsigned s = 0; s < 9; s++)
        for (unsigned t = 0; t < 9; t++)
            for (unsigned c = 0; c < 7; c++)
                expect_eq(arrive(numbers[s], numbers[t], contexts[c], 1), ++name);
    name = 0;
    for (unsigned s = 0; s < 9; s++)
        for (unsigned t = 0; t < 9; t++)
            for (unsigned c = 0; c < 7; c++)
                expect_eq(arrive(numbers[s], numbers[t], contexts[c], ++name), QUEUED);
    for (unsigned c = 0; c < 7; c++)
        expect_eq(probe(ANY, ANY, contexts[c]), 1 + c);
    for (unsigned c = 0; c < 7; c++)
        expect_eq(probe(INT32_MIN, ANY, contexts[c]), 1 + 8 * 63 + c);
    for (unsigned c = 0; c < 7; c++)
        expect_eq(post(ANY, INT32_MAX, contexts[c], 1), 1 + 6 * 7 + c);
}

ON_EACH(what_is_queued_may_be_null) {
    void *item = engine;
    expect_eq(match_arrive(engine, 1, 1, 1, NULL, &item), 0);
    expect_eq(match_probe(engine, 1, 1, 1, &item), 1);
    expect(!item);
    expect_eq(match_post(engine, 2, 2, 2, NULL, &last_entry, &item), 0);
    item = engine;
    expect_eq(match_arrive(engine, 2, 2, 2, engine, &item), 1);
    expect(!item);
}

/* Outputs are not written if nothing is found. */
ON_EACH(outputs_are_set_only_on_success) {
    void *item = engine;
    match_entry entry = 12345;
    expect_eq(match_probe(engine, 1, 1, 1, &item), 0);
    expect_eq(match_take(engine, 1, 1, 1, &item), 0);
    expect_eq(match_arrive(engine, 1, 1, 1, NULL, &item), 0);
    expect_eq(match_post(engine, 1, 2, 1, NULL, &last_entry, &item), 0);
    expect(item == engine);
    expect_eq(match_post(engine, 1, 1, 1, NULL, &entry, &item), 1);
    expect_eq(entry, 12345);
}

ON_EACH(everything_is_counted) {
    post(1, 1, 1, 1);     /* no message waits */
    post(ANY, 1, 1, 2);   /* no message waits */
    arrive(1, 1, 1, 3);   /* two receives: takes 1 */
    arrive(1, 2, 1, 4);   /* one receive: unexpected */
    arrive(1, 3, 1, 5);   /* one receive: unexpected */
    probe(1, 2, 1);       /* two messages */
    take(1, 3, 1);        /* two messages: takes 5 */
    post(ANY, ANY, 1, 6); /* one message: takes 4 */
    post(1, 9, 1, 7);     /* no message */
    match_cancel(engine, last_entry);
    struct match_counters c = counters();
    expect_eq(c.posts, 4);
    expect_eq(c.arrivals, 3);
    expect_eq(c.probes, 2);
    expect_eq(c.cancels, 1);
    expect_eq(c.matched, 1);
    expect_eq(c.unexpected, 2);
    expect_eq(c.wildcards, 2);
    expect_eq(c.posted_now, 1);
    expect_eq(c.unexpected_now, 0);
    expect_eq(c.posted_most, 2);
    expect_eq(c.unexpected_most, 2);
    expect_eq(c.posted_length[0], 0);
    expect_eq(c.posted_length[1], 2);
    expect_eq(c.posted_length[2], 1);
    expect_eq(c.unexpected_length[0], 3);
    expect_eq(c.unexpected_length[1], 1);
    expect_eq(c.unexpected_length[2], 2);
    expect_eq(c.depth[0] + c.depth[1] + c.depth[2], 9);
    expect(c.bytes >= sizeof(struct match));
}

/* fast.c has a variant for some processors. */
static bool is_fast(const struct match *e) {
    return e->structure != &list_structure && e->structure != &lla_structure;
}

TEST(depth_is_what_was_looked_at)
{
    for (unsigned i = 0; i < STRUCTURES; i++) {
        open_engine(structures[i], false);
        for (int32_t k = 0; k < 100; k++)
            post(k, k, 0, 1 + k);
        expect_eq(arrive(99, 99, 0, 1), 100); /* all hundred, except in fast, which need not compare them */
        expect_eq(counters().depth[!strcmp(structures[i], "fast") ? 1 : 7], 1);
        close_engine();
    }
}

TEST(words_for_structures)
{
    struct match_options o = {.heated = true};
    expect_eq(match_parse("fast", &o), 0);
    expect(o.structure == MATCH_FAST && o.heated);
    expect_eq(match_parse("lla-16", &o), 0);
    expect(o.structure == MATCH_LLA && o.k == 16 && o.heated);
    expect_eq(match_parse("lla", &o), 0);
    expect(o.structure == MATCH_LLA && o.k == 0);
    expect_eq(match_parse("list", &o), 0);
    expect(o.structure == MATCH_LIST);
    const char *const wrong[] = {"",     "fas",    "faster", "lla-",    "lla-0",  "lla-1", "lla-3",
                                 "lla8", "lla-08", "lla-65", "lla-128", "lla-8 ", "List",  "lla--8"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_eq(match_parse(wrong[i], &o), -EINVAL);
        expect(o.structure == MATCH_LIST && o.k == 0);
    }
}

TEST(options_that_cannot_be)
{
    struct match_options o = {.structure = MATCH_LLA};
    static const unsigned wrong[] = {1, 3, 7, 65, 128, 1u << 31};
    for (unsigned i = 0; i < 6; i++) {
        o.k = wrong[i];
        expect_eq(match_open(&o, &engine), -EINVAL);
    }
    o.structure = (enum match_structure)17;
    expect_eq(match_open(&o, &engine), -EINVAL);
    expect_eq(match_open(NULL, &engine), 0);
    expect(is_fast(engine));
    close_engine();
}

/* Checks the message of match_check for a damaged engine. It aborts, so it runs in a child. */
static void expect_broken(void (*damage)(void)) {
    int ends[2], status = 0;
    char text[1024] = "";
    expect_eq(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 2);
        damage();
        match_check(engine);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    waitpid(child, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    expect(length > 0 && strstr(text, "broken invariant"));
}

static void count_one_more(void) {
    engine->posted.now++;
}

static void lose_a_node(void) {
    lla_of(engine)->posted.first = lla_of(engine)->posted.first->next;
}

static void turn_back(void) {
    list_of(engine)->posted.last->prev = list_of(engine)->posted.first;
}

static void change_a_fingerprint(void) {
    fast_of(engine)->posted.arrays.tags[3]++;
}

static void change_a_hash(void) {
    struct fast_bin *bin = fast_of(engine)->posted.bins.bins;
    while (!bin->count)
        bin++;
    bin->hashes[0] ^= 1u << 20;
}

static void free_an_entry_twice(void) {
    struct match_pool *pool = &fast_of(engine)->posted.pool;
    pool_give(pool, pool_at(pool, 2, pool->size), 2);
}

TEST(check_notices_damage)
{
    for (unsigned i = 0; i < STRUCTURES; i++) {
        open_engine(structures[i], false);
        for (int32_t k = 0; k < 100; k++)
            post(k, k, 0, 1);
        expect_broken(count_one_more);
        if (engine->structure == &list_structure)
            expect_broken(turn_back);
        if (engine->structure == &lla_structure)
            expect_broken(lose_a_node);
        if (is_fast(engine)) {
            expect_broken(change_a_fingerprint);
            expect_broken(free_an_entry_twice);
            for (int32_t k = 100; k < 300; k++)
                post(k, k, 0, 1);
            expect_broken(change_a_hash);
        }
        close_engine();
    }
}

/* A receive that is posted while both queues are empty, in all ways in which it may end. */
ON_EACH(a_receive_alone) {
    expect_eq(post(1, 5, 0, 100), QUEUED);
    expect_eq(arrive(1, 5, 0, 1), 100);
    expect_eq(post(ANY, ANY, 0, 101), QUEUED);
    expect_eq(arrive(1, 5, 1, 2), QUEUED);
    expect_eq(arrive(3, 4, 0, 3), 101);
    expect_eq(take(1, 5, 1), 2);
    expect_eq(post(1, 5, 0, 102), QUEUED);
    expect_eq((long)match_cancel(engine, last_entry), 102);
    expect_eq(arrive(1, 5, 0, 4), QUEUED);
    expect_eq(take(1, 5, 0), 4);
    expect_eq(post(1, 5, 3, 103), QUEUED);
    expect_eq((long)match_drain_receives(engine, 2), NONE);
    expect_eq((long)match_drain_receives(engine, 3), 103);
    expect_eq((long)match_drain_receives(engine, 3), NONE);
}

/* It keeps its handle and its place when others come. */
ON_EACH(a_receive_that_is_not_alone_any_more) {
    expect_eq(post(1, 1, 0, 100), QUEUED);
    expect_eq(post(2, 2, 0, 101), QUEUED);
    expect_eq(arrive(1, 1, 0, 1), 100);
    expect_eq(arrive(2, 2, 0, 2), 101);
    expect_eq(post(1, 5, 0, 102), QUEUED);
    match_entry first = last_entry;
    expect_eq(post(ANY, 5, 0, 103), QUEUED);
    expect_eq(post(1, 5, 0, 104), QUEUED);
    match_check(engine);
    expect_eq((long)match_cancel(engine, first), 102);
    expect_eq(arrive(1, 5, 0, 3), 103);
    expect_eq(arrive(1, 5, 0, 4), 104);
    expect_eq(post(1, 5, 0, 105), QUEUED);
    expect_eq(arrive(1, 6, 0, 5), QUEUED);
    expect_eq(post(1, 5, 0, 106), QUEUED);
    expect_eq(arrive(1, 5, 0, 6), 105);
    expect_eq(arrive(1, 5, 0, 7), 106);
    expect_eq(take(1, 6, 0), 5);
}

TEST(engines_know_nothing_of_each_other)
{
    struct match *other;
    open_engine("fast", false);
    expect_eq(match_open(NULL, &other), 0);
    expect_eq(post(1, 1, 1, 5), QUEUED);
    void *item = NULL;
    expect_eq(match_arrive(other, 1, 1, 1, &item, &item), 0);
    expect_eq(arrive(1, 1, 1, 6), 5);
    match_close(other);
    close_engine();
}
