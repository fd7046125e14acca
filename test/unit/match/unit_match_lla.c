/* unit_match_lla.c: tests the internals of the linked list of arrays: contents of a node, widening of entries,
 * allocation of nodes. */
#include "test.h"

#include "base/random.h"
#include "match/lists/lla.h"
#include "match_help.h"

static const struct lla_queue *receives(void) {
    return &lla_of(engine)->posted;
}

static const struct lla_queue *messages(void) {
    return &lla_of(engine)->unexpected;
}

static unsigned nodes_of(const struct lla_queue *q) {
    unsigned count = 0;
    for (const struct lla_node *node = q->first; node; node = node->next)
        count++;
    return count;
}

TEST(nodes_are_whole_lines_and_the_smallest_is_one)
{
    static const unsigned bytes[] = {64, 128, 256, 448, 832, 1600};
    for (unsigned i = 0; i < 6; i++) {
        struct match_options o = {.structure = MATCH_LLA, .k = 2u << i};
        expect_eq(match_open(&o, &engine), 0);
        expect_eq(receives()->pool.size, bytes[i]);
        expect_eq(messages()->pool.size, bytes[i]);
        expect_eq(receives()->capacity[false], 2u << i);
        expect_eq(messages()->capacity[false], 3u << i);
        close_engine();
    }
}

TEST(nodes_are_filled_before_another_is_taken)
{
    open_engine("lla-4", false);
    for (int32_t i = 0; i < 12; i++) {
        expect_eq(post(i, 0, 0, 1), QUEUED);
        expect_eq(nodes_of(receives()), 1 + i / 4);
        expect_eq(arrive(i, 1, 0, 1), QUEUED);
        expect_eq(nodes_of(messages()), 1 + i / 6);
    }
    close_engine();
}

TEST(holes_at_the_ends_are_cut_off_and_others_stay)
{
    match_entry e[8];
    open_engine("lla-8", false);
    for (int32_t i = 0; i < 8; i++) {
        post(i, 0, 0, 1 + i);
        e[i] = last_entry;
    }
    const struct lla_node *node = receives()->first;
    match_cancel(engine, e[3]);
    match_cancel(engine, e[6]);
    expect(node->start == 0 && node->end == 8);
    match_cancel(engine, e[7]);
    expect(node->start == 0 && node->end == 6);
    match_cancel(engine, e[0]);
    match_cancel(engine, e[2]);
    match_cancel(engine, e[1]);
    expect(node->start == 4 && node->end == 6);
    expect_eq(post(9, 0, 0, 10), QUEUED); /* behind the last one left */
    expect(node->start == 4 && node->end == 7);
    expect_eq(arrive(9, 0, 0, 1), 10);
    expect_eq(arrive(5, 0, 0, 1), 6);
    expect_eq(arrive(4, 0, 0, 1), 5);
    expect(node->start == 0 && node->end == 0 && receives()->first == node);
    close_engine();
}

TEST(empty_nodes_go_back_wherever_they_are)
{
    match_entry e[16];
    open_engine("lla-2", false);
    for (int32_t i = 0; i < 16; i++) {
        post(i, 0, 0, 1 + i);
        e[i] = last_entry;
    }
    static const unsigned order[] = {6, 7, 0, 1, 14, 15, 3, 2, 12, 13, 4, 5, 10, 11, 8, 9};
    for (unsigned i = 0; i < 16; i++) {
        match_cancel(engine, e[order[i]]);
        match_check(engine);
        expect_eq(nodes_of(receives()), i < 15 ? 8 - (i + 1) / 2 : 1);
    }
    close_engine();
}

/* However a queue was emptied, it is filled in address order again, except for the few cached nodes. */
TEST(nodes_are_taken_in_address_order)
{
    static match_entry e[4096];
    struct random dice;
    random_seed(&dice, 1);
    open_engine("lla-2", false);
    for (unsigned round = 0; round < 3; round++) {
        for (int32_t i = 0; i < 4096; i++) {
            post(i, 0, 0, 1);
            e[i] = last_entry;
        }
        unsigned jumps = 0;
        for (const struct lla_node *node = receives()->first; node->next; node = node->next)
            jumps += node->next != node + 4; /* a node has the size of four heads */
        expect(jumps <= 4 * POOL_SPARES);    /* to and from each cached node, and a few for the chunks */
        for (unsigned i = 4096; i > 0; i--) {
            unsigned k = random_below(&dice, i);
            match_cancel(engine, e[k]);
            e[k] = e[i - 1];
        }
    }
    close_engine();
}

TEST(entries_widen_when_one_does_not_fit)
{
    open_engine("lla-4", false);
    expect_eq(post(65533, 1, 65533, 1), QUEUED);
    match_entry narrow = last_entry;
    expect_eq(post(1, 1, 1, 2), QUEUED);
    expect(!receives()->wide);
    expect_eq(post(65534, 1, 1, 3), QUEUED);
    expect(receives()->wide && !messages()->wide);
    expect_eq(nodes_of(receives()), 2);
    expect(!receives()->first->wide && receives()->last->wide);
    expect_eq(receives()->capacity[true], 3);
    expect_eq(post(1, 1, 1, 4), QUEUED); /* narrow or not, it goes to the end */
    expect_eq(post(1, 1, 65534, 5), QUEUED);
    expect_eq(post(ANY, 1, 70000, 6), QUEUED);
    expect_eq(nodes_of(receives()), 3);
    match_check(engine);
    expect_eq(arrive(1, 1, 1, 10), 2);
    expect_eq(arrive(1, 1, 1, 11), 4);
    expect_eq(arrive(65534, 1, 1, 12), 3);
    expect_eq(arrive(70000, 1, 70000, 13), 6);
    expect_eq(arrive(1, 1, 65534, 14), 5);
    expect_eq((long)match_cancel(engine, narrow), 1);
    expect_eq(counters().posted_now, 0);
    close_engine();
}

/* A value that does not fit into 16 bits must not match its truncated form. */
TEST(wide_keys_among_narrow_nodes)
{
    open_engine("lla-64", false);
    post(1, 1, 1, 1);
    post(65533, 1, 1, 2);
    post(ANY, 2, 1, 3);
    post(1, 1, 65533, 4);
    for (uint32_t wide = 65534; wide < 65540; wide++) {
        expect_eq(arrive(1, 1, wide, 10), QUEUED);
        expect_eq(arrive((int32_t)wide, 1, 1, 11), QUEUED);
    }
    expect_eq(arrive(65537, 1, 1, 12), QUEUED); /* 1, if truncated to 16 bits */
    expect_eq(arrive(70000, 2, 1, 13), 3);      /* matches by the wildcard */
    expect_eq(probe(1, 1, 1), NONE);
    expect_eq(probe(ANY, ANY, 65534), 10);
    expect_eq(probe(ANY, ANY, 65533), NONE);
    close_engine();
}

/* The key of a hole has a context that nothing matches, not even a receive with two wildcards. */
TEST(holes_match_nothing)
{
    for (unsigned wide = 0; wide < 2; wide++) {
        open_engine("lla-4", false);
        if (wide)
            arrive(70000, 0, 70000, 1);
        for (int32_t i = 0; i < 6; i++)
            arrive(i, 0, 5, 10 + i);
        expect_eq(take(2, 0, 5), 12);
        expect_eq(take(3, 0, 5), 13);
        for (uint32_t context = 65520; context < 65550; context++)
            expect_eq(probe(ANY, ANY, context), NONE);
        expect_eq(probe(ANY, ANY, 0), NONE);
        expect_eq(probe(ANY, ANY, UINT32_MAX), NONE);
        expect_eq(probe(2, ANY, 5), NONE);
        for (int32_t i = 0; i < 6; i++)
            post(100 + i, 0, 6, 20 + i);
        match_entry last = last_entry;
        expect_eq(arrive(102, 0, 6, 1), 22);
        for (uint32_t context = 65520; context < 65550; context++)
            expect_eq(arrive(102, 0, context, 50), QUEUED);
        match_cancel(engine, last);
        close_engine();
    }
}

TEST(an_empty_narrow_node_gives_way_to_a_wide_one)
{
    open_engine("lla-8", false);
    post(1, 1, 1, 1);
    arrive(1, 1, 1, 2);
    expect_eq(nodes_of(receives()), 1);
    post(70000, 1, 1, 3);
    expect_eq(nodes_of(receives()), 1);
    expect(receives()->first->wide);
    match_check(engine);
    expect_eq(arrive(70000, 1, 1, 4), 3);
    close_engine();
}
