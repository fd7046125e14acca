/* unit_match_deep.c: tests the switch of MATCH_FAST between arrays and bins, by its internals. */
#include "test.h"

#include "base/random.h"
#include "match/fast/fast.h"
#include "match_help.h"

static struct fast_queue *receives(void) {
    return &fast_of(engine)->posted;
}

static struct fast_queue *messages(void) {
    return &fast_of(engine)->unexpected;
}

static void post_many(int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++)
        expect_eq(post(i, i % 7, 0, 1 + i), QUEUED);
}

static void arrive_many(int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++)
        expect_eq(arrive(i, i % 7, 0, 1 + i), QUEUED);
}

TEST(deep_queues_go_to_bins_and_short_ones_come_back)
{
    open_engine("fast", false);
    post_many(0, FAST_SLOTS);
    expect(!receives()->binned);
    post_many(FAST_SLOTS, FAST_SLOTS + 1);
    expect(receives()->binned && !messages()->binned);
    match_check(engine);
    int32_t i = 0;
    for (; receives()->binned; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    match_check(engine);
    uint64_t left = counters().posted_now;
    expect(left > 32 && left < 128);
    for (; i < FAST_SLOTS + 1; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect_eq(counters().posted_now, 0);
    close_engine();
}

/* Hysteresis: adding and removing one entry, at any length, does not change the form each time. */
TEST(there_is_a_distance_between_the_two)
{
    open_engine("fast", false);
    unsigned worst = 0;
    for (int32_t length = 0; length < 600; length++) {
        unsigned changes = 0;
        for (unsigned i = 0; i < 400; i++) {
            bool before = receives()->binned;
            expect_eq(post(-5, 5, 5, 5), QUEUED);
            changes += receives()->binned != before;
            before = receives()->binned;
            expect_eq(arrive(-5, 5, 5, 1), 5);
            changes += receives()->binned != before;
        }
        worst = changes > worst ? changes : worst;
        post_many(length, length + 1);
    }
    expect(worst <= 1);
    close_engine();
}

/* A few entries stay and many are added and removed: arrays are compacted, and bins are not used. */
TEST(holes_do_not_make_a_queue_deep)
{
    open_engine("fast", false);
    for (int32_t i = 0; i < 5000; i++) {
        expect_eq(post(1, i, 0, 1 + i), QUEUED);
        if (i >= 90) /* of each pair the second first, then the first */
            expect_eq(arrive(1, (i - 90) ^ 1, 0, 1), 1 + ((i - 90) ^ 1));
        expect(!receives()->binned);
        if (i % 50 == 0)
            match_check(engine);
    }
    close_engine();
}

/* Slots that held a wildcard before a move hold none after it, unless the moved entry has one. */
TEST(wildcards_move_with_their_receives)
{
    open_engine("fast", false);
    for (int32_t i = 0; i < 1000; i++) {
        expect_eq(post(i % 3 ? i : ANY, i % 2 ? i : ANY, (uint32_t)i, 1 + i), QUEUED);
        if (i >= 100)
            expect_eq(arrive(i - 100, i - 100, (uint32_t)i - 100, 1), 1 + i - 100);
        match_check(engine);
    }
    close_engine();
}

TEST(a_queue_emptied_from_the_back_uses_its_slots_again)
{
    open_engine("fast", false);
    post_many(0, 150);
    for (int32_t i = 149; i >= 0; i--)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect_eq(receives()->arrays.tail, 0);
    post_many(0, 150);
    for (unsigned i = 0; i < 1000; i++) {
        expect_eq(post(-7, 0, 0, 9), QUEUED);
        expect_eq(arrive(-7, 0, 0, 1), 9);
    }
    expect_eq(receives()->arrays.tail, 150);
    /* The search back from the last entry skips a whole node of holes. */
    for (int32_t i = 64; i < 128; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    for (int32_t i = 128; i < 150; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect_eq(receives()->arrays.tail, 64);
    match_check(engine);
    for (int32_t i = 0; i < 64; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect_eq(receives()->arrays.tail, 0);
    close_engine();
}

/* Of two entries behind an emptied node the first is found, and the node is not searched again. */
TEST(the_first_node_may_be_empty)
{
    open_engine("fast", false);
    post_many(0, 100);
    for (int32_t i = 0; i < 64; i++)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect_eq(receives()->arrays.first, 1);
    for (int32_t i = 99; i >= 64; i--)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    expect(receives()->arrays.first == 0 && receives()->arrays.tail == 0);
    close_engine();
}

TEST(order_survives_both_ways)
{
    open_engine("fast", false);
    for (unsigned round = 0; round < 3; round++) {
        for (int32_t i = 0; i < 400; i++)
            expect_eq(post(i % 4 == 3 ? ANY : i % 3, i % 5 == 4 ? ANY : i % 2, 0, 1 + i), QUEUED);
        static char taken[400];
        memset(taken, 0, sizeof taken);
        for (unsigned n = 0; n < 400; n++) { /* in every order the first match is taken */
            int32_t source = n % 3, tag = n % 2;
            long first = 0;
            for (int32_t i = 0; i < 400 && !first; i++)
                if (!taken[i] && (i % 4 == 3 || i % 3 == source) && (i % 5 == 4 || i % 2 == tag))
                    first = 1 + i;
            long got = arrive(source, tag, 0, 1000);
            expect_eq(got, first);
            if (got > 0)
                taken[got - 1] = 1;
            else
                expect_eq(take(source, tag, 0), 1000);
        }
        match_check(engine);
        while (match_drain_receives(engine, 0))
            ;
    }
    close_engine();
}

TEST(many_equal_keys_do_not_slow_others_down)
{
    open_engine("fast", false);
    for (int32_t i = 0; i < 20000; i++)
        expect_eq(arrive(1, 1, 1, 1 + i), QUEUED);
    arrive_many(0, 300);
    expect_eq(messages()->bins.keys, 301);
    for (int32_t i = 0; i < 300; i++)
        expect_eq(post(i, i % 7, 0, 1), 1 + i);
    struct match_counters c = counters();
    uint64_t few = c.depth[0] + c.depth[1];
    expect_eq(few, c.posts + c.arrivals); /* one comparison per search */
    for (int32_t i = 0; i < 20000; i++)
        expect_eq(post(1, 1, 1, 1), 1 + i);
    close_engine();
}

TEST(wildcards_find_the_first_of_many_messages)
{
    open_engine("fast", false);
    arrive_many(0, 3000);
    expect_eq(messages()->bins.extra, 0);
    expect_eq(probe(ANY, 3, 0), 4);
    expect_eq(messages()->bins.extra, 1 << KIND_ANY_SOURCE);
    expect_eq(probe(1000, ANY, 0), 1001);
    expect_eq(probe(ANY, ANY, 0), 1);
    expect_eq(probe(ANY, ANY, 1), NONE);
    expect_eq(probe(ANY, 7, 0), NONE);
    expect_eq(messages()->bins.extra, 1 << KIND_ANY_SOURCE | 1 << KIND_ANY_TAG | 1 << KIND_ANY_BOTH);
    match_check(engine);
    for (int32_t i = 0; i < 3000; i += 7) /* the messages of tag 0, in order */
        expect_eq(post(ANY, 0, 0, 1), 1 + i);
    expect_eq(probe(ANY, 0, 0), NONE);
    arrive_many(3000, 3100); /* later messages are found as well */
    expect_eq(take(ANY, 0, 0), 3004);
    expect_eq(take(3098, ANY, 0), 3099);
    expect_eq(take(3098, ANY, 0), NONE);
    match_check(engine);
    for (int32_t i = 1; i < 3000; i += i % 7 == 6 ? 2 : 1)
        expect_eq(post(ANY, ANY, 0, 1), 1 + i);
    close_engine();
}

/* An extra kind that was needed is maintained from the start the next time, and dropped if it is not used. */
TEST(extra_kinds_last_as_long_as_they_are_used)
{
    open_engine("fast", false);
    arrive_many(0, 500);
    expect_eq(probe(ANY, 1, 0), 2);
    while (take(ANY, ANY, 0))
        ;
    arrive_many(0, 500);
    expect_eq(messages()->bins.extra, 1 << KIND_ANY_SOURCE | 1 << KIND_ANY_BOTH);
    for (int32_t i = 499; i >= 0; i--)
        expect_eq(take(i, i % 7, 0), 1 + i);
    arrive_many(0, 500);
    expect_eq(messages()->bins.extra, 0);
    close_engine();
}

TEST(a_receive_with_a_wildcard_is_found_behind_thousands)
{
    open_engine("fast", false);
    post_many(0, 5000);
    expect_eq(post(ANY, 100, 0, 7001), QUEUED);
    expect_eq(post(100, ANY, 0, 7002), QUEUED);
    expect_eq(post(ANY, ANY, 9, 7003), QUEUED);
    expect_eq(arrive(3, 100, 0, 1), 7001);
    expect_eq(arrive(3, 100, 9, 1), 7003);
    expect_eq(arrive(100, 2, 0, 1), 101); /* exact, and posted earlier */
    expect_eq(arrive(100, 2, 0, 1), 7002);
    match_check(engine);
    close_engine();
}

TEST(a_context_is_emptied_without_looking_at_others)
{
    open_engine("fast", false);
    for (int32_t i = 0; i < 20000; i++)
        expect_eq(post(i % 3 ? i : ANY, 1, (uint32_t)(i % 2), 1 + i), QUEUED);
    for (int32_t i = 1; i < 20000; i += 2)
        expect_eq((long)match_drain_receives(engine, 1), 1 + i);
    expect(!match_drain_receives(engine, 1));
    expect_eq(receives()->bins.extra, 1 << KIND_CONTEXT);
    match_check(engine);
    match_entry entries[3];
    for (unsigned i = 0; i < 3; i++) {
        expect_eq(post(5, 5, 1, 30000 + i), QUEUED);
        entries[i] = last_entry;
    }
    match_cancel(engine, entries[1]);
    expect_eq((long)match_drain_receives(engine, 1), 30000);
    expect_eq((long)match_drain_receives(engine, 1), 30002);
    close_engine();
}

TEST(sequence_numbers_do_not_run_out)
{
    open_engine("fast", false);
    post_many(0, 400);
    arrive_many(1000, 1400);
    expect_eq(probe(ANY, ANY, 0), 1001);
    receives()->bins.sequence = messages()->bins.sequence = UINT32_MAX - 20;
    for (int32_t i = 400; i < 500; i++)
        expect_eq(post(i == 450 ? ANY : i, i == 450 ? 9 : i % 7, 0, 1 + i), QUEUED);
    arrive_many(1400, 1500);
    match_check(engine);
    expect_eq(receives()->bins.sequence, 500);
    expect_eq(messages()->bins.sequence, 500);
    for (int32_t i = 1000; i < 1500; i++)
        expect_eq(post(ANY, ANY, 0, 1), 1 + i);
    for (int32_t i = 0; i < 500; i++)
        expect_eq(arrive(i, i == 450 ? 9 : i % 7, 0, 1), 1 + i);
    close_engine();
}

static uint64_t passed(void) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= receives()->bins.mask; i++)
        sum += receives()->bins.bins[i].passed;
    return sum;
}

/* The keys of 600 receives are not spread evenly over 128 bins of 7. */
TEST(full_bins_send_keys_on)
{
    open_engine("fast", false);
    post_many(0, 600);
    expect_eq(receives()->bins.mask, 127);
    uint64_t before = passed();
    expect(before > 10);
    match_check(engine);
    for (int32_t i = 0; i < 600; i += 2)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    match_check(engine);
    expect(receives()->binned && passed() < before);
    for (int32_t i = 599; i >= 0; i -= 2)
        expect_eq(arrive(i, i % 7, 0, 1), 1 + i);
    close_engine();
}

TEST(tens_of_thousands_and_back_in_any_order)
{
    enum { MANY = 50000 };
    struct random dice;
    static int32_t order[MANY];
    random_seed(&dice, 5);
    open_engine("fast", false);
    for (unsigned round = 0; round < 2; round++) {
        post_many(0, MANY);
        match_check(engine);
        for (int32_t i = 0; i < MANY; i++) {
            int32_t k = (int32_t)random_below(&dice, (uint32_t)i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        for (unsigned i = 0; i < MANY; i++)
            expect_eq(arrive(order[i], order[i] % 7, 0, 1), 1 + order[i]);
    }
    expect_eq(counters().posted_now, 0);
    uint64_t bytes = counters().bytes;
    post_many(0, MANY);
    expect_eq(counters().bytes, bytes); /* nothing leaked */
    close_engine();
}
