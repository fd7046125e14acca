/* unit_net_flow.c: tests flow control: credits, order, turns, acknowledgements, and refusals, one behaviour per test. */
#include "test.h"

#include "flow_help.h"

/* Linked with --wrap=calloc: fails on demand, and counts. */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static bool no_memory;
static size_t allocated;

void *__wrap_calloc(size_t n, size_t size) {
    allocated += n * size;
    return no_memory ? NULL : __real_calloc(n, size);
}

/* ---- limits and memory ---- */

static int open_with(uint32_t buffers, uint32_t bytes, uint32_t pool_buffers, uint32_t pool_buffer_bytes) {
    struct flow_limits l = {.buffers = buffers,
                            .bytes = bytes,
                            .pool_buffers = pool_buffers,
                            .pool_buffer_bytes = pool_buffer_bytes};
    struct flow_client c;
    struct flow_helper *h;
    int err = net_flow_client_open(&c, &l);
    expect_eq(net_flow_helper_open(&l, 1, &h), err);
    if (!err) {
        net_flow_client_close(&c);
        net_flow_helper_close(h);
    }
    return err;
}

TEST(limits_are_checked)
{
    expect_eq(open_with(1, 64, 0, 0), 0);
    expect_eq(open_with(FLOW_BUFFERS, 64, FLOW_POOL, 64), 0);
    expect_eq(open_with(1, UINT32_MAX - 63, 1, UINT32_MAX - 63), 0);
    expect_eq(open_with(0, 64, 0, 0), -EINVAL);
    expect_eq(open_with(FLOW_BUFFERS + 1, 64, 0, 0), -EINVAL);
    expect_eq(open_with(1, 0, 0, 0), -EINVAL);
    expect_eq(open_with(1, 96, 0, 0), -EINVAL);
    expect_eq(open_with(1, 64, FLOW_POOL + 1, 64), -EINVAL);
    expect_eq(open_with(1, 128, 1, 64), -EINVAL);
    expect_eq(open_with(1, 64, 1, 100), -EINVAL);
    struct flow_helper *h;
    struct flow_limits l = {.buffers = 1, .bytes = 64};
    expect_eq(net_flow_helper_open(&l, 0, &h), -EINVAL);
}

TEST(a_silent_client_costs_a_pointer)
{
    struct flow_limits l = {.buffers = 1024, .bytes = 64, .pool_buffers = 64, .pool_buffer_bytes = 64};
    struct flow_helper *h;
    allocated = 0;
    expect_eq(net_flow_helper_open(&l, 1000000, &h), 0);
    expect(allocated <= 1000000 * 8 + 4096);
    net_flow_helper_check(h);
    net_flow_helper_close(h);
    net_flow_helper_close(NULL);
}

TEST(memory_runs_out)
{
    struct flow_client c;
    struct flow_helper *h;
    open_all(2, 2);
    no_memory = true;
    expect_eq(net_flow_client_open(&c, &limits), -ENOMEM);
    expect_eq(net_flow_helper_open(&limits, 1, &h), -ENOMEM);
    expect(take(0, false, 10));
    expect_eq(arrive(0), -ENOMEM);
    check_all();
    expect(!has_turn());
    no_memory = false;
    expect_eq(arrive(0), 0);
    serve_and_hear(0);
    expect(net_flow_is_idle(&clients[0]));
    /* A known client needs no allocation. */
    no_memory = true;
    put(0, false, 1000);
    serve_and_hear(0);
    no_memory = false;
    close_all();
}

/* ---- credits ---- */

TEST(one_buffer_one_block)
{
    open_all(1, 0);
    for (unsigned i = 0; i < 5; i++) {
        expect(take(0, false, 1000));
        expect_eq(room, S);
        expect_eq(ticket.number, i);
        expect_eq(ticket.own, 0);
        expect_eq(ticket.flags, FLOW_OWN);
        expect_eq(ticket.pool_buffers, 0);
        expect_eq(ticket.following, 0); /* there are no pool buffers to ask for */
        expect(!net_flow_is_idle(&clients[0]));
        expect(!take(0, false, 1000));
        expect(!take(0, true, 1000));
        expect_eq(clients[0].waits, i + 1); /* once for each wait */
        expect_eq(arrive(0), 0);
        expect(!place.pooled);
        expect(!net_flow_is_done(&clients[0], i));
        serve_and_hear(0);
        expect_eq(ack.done, i + 1);
        expect_eq(ack.granted, 0);
        expect(net_flow_is_done(&clients[0], i));
        expect(net_flow_is_idle(&clients[0]));
    }
    expect_eq(net_flow_helper_counts(helper).refused, 0);
    close_all();
}

TEST(buffers_are_used_in_a_ring)
{
    open_all(3, 0);
    for (unsigned i = 0; i < 10; i++) {
        expect(take(0, i % 2, 1));
        expect_eq(ticket.own, i % 3);
        expect_eq(arrive(0), 0);
        expect_eq(place.index, i % 3);
        serve_and_hear(0);
    }
    for (unsigned i = 0; i < 3; i++)
        put(0, false, 1);
    expect(!take(0, false, 1));
    expect(take(1, false, 1)); /* the credits of another client are its own */
    close_all();
}

TEST(an_empty_block_is_a_block)
{
    open_all(2, 1);
    put(0, false, 0);
    expect_eq(ticket.following, 0);
    put(0, true, 0);
    serve_and_hear(0);
    expect(serve(0, true));
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    close_all();
}

/* ---- order and turns ---- */

TEST(blocks_are_done_in_order)
{
    struct flow_ticket sent[4];
    open_all(4, 0);
    for (int i = 0; i < 4; i++) {
        expect(take(0, false, 1));
        sent[i] = ticket;
    }
    static const int order[] = {3, 1, 0, 2};
    for (int i = 0; i < 4; i++) {
        expect_eq(net_flow_arrive(helper, 0, &sent[order[i]], &place), 0);
        expect_eq(place.index, order[i]);
        check_all();
        if (i < 2)
            expect(!has_turn());
    }
    for (unsigned i = 0; i < 4; i++) {
        serve(0, false);
        expect_eq(turn.ticket.number, i);
        expect_eq(turn.place.index, i);
    }
    expect_eq(ack.done, 4);
    close_all();
}

TEST(a_gap_is_waited_for)
{
    struct flow_ticket first;
    open_all(4, 0);
    expect(take(0, false, 1));
    first = ticket;
    put(0, false, 1);
    put(0, false, 1);
    expect(!has_turn());
    expect_eq(net_flow_arrive(helper, 0, &first, &place), 0);
    for (unsigned i = 0; i < 3; i++) {
        serve(0, false);
        expect_eq(turn.ticket.number, i);
    }
    expect(!has_turn());
    close_all();
}

TEST(clients_take_turns)
{
    open_all(4, 0);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            put(c, false, 1);
    for (int i = 0; i < 9; i++) {
        serve(i % 3, false);
        expect_eq(turn.ticket.number, i / 3);
    }
    expect(!has_turn());
    close_all();
}

TEST(several_may_be_at_work)
{
    open_all(2, 0);
    put(0, false, 1);
    put(1, false, 1);
    put(0, false, 1);
    struct flow_turn a, b;
    expect(net_flow_turn(helper, &a));
    expect(net_flow_turn(helper, &b));
    check_all();
    expect_eq(a.client, 0);
    expect_eq(b.client, 1);
    expect(!has_turn()); /* the second block of client 0 comes after its first */
    expect(net_flow_done(helper, 1, false, &ack));
    expect(net_flow_done(helper, 0, false, &ack));
    serve(0, false);
    close_all();
}

TEST(who_is_put_off_comes_again)
{
    open_all(2, 0);
    expect_eq(net_flow_retry(helper), 0);
    for (int c = 0; c < 3; c++)
        put(c, false, 1);
    for (unsigned c = 0; c < 2; c++) {
        expect(net_flow_turn(helper, &turn));
        expect_eq(turn.client, c);
        net_flow_later(helper, c);
        check_all();
    }
    put(0, false, 1); /* a deferred client stays deferred when more of its blocks arrive */
    serve(2, false);
    expect(!has_turn());
    put(2, false, 1);
    expect_eq(net_flow_retry(helper), 2);
    expect_eq(net_flow_retry(helper), 0);
    check_all();
    serve(2, false);
    serve(0, false);
    expect_eq(turn.ticket.number, 0);
    serve(1, false);
    serve(0, false);
    close_all();
}

/* ---- acknowledgements ---- */

TEST(fewer_than_four_buffers_are_acknowledged_one_by_one)
{
    for (uint32_t buffers = 1; buffers < 4; buffers++) {
        open_all(buffers, 0);
        for (uint32_t i = 0; i < buffers; i++)
            put(0, false, 1);
        for (uint32_t i = 0; i < buffers; i++)
            expect(serve(0, false));
        expect_eq(net_flow_helper_counts(helper).acks, buffers);
        expect_eq(net_flow_helper_counts(helper).coalesced, 0);
        close_all();
    }
}

TEST(from_four_buffers_on_half_are_acknowledged_together)
{
    open_all(4, 0);
    for (int i = 0; i < 4; i++)
        put(0, false, 1);
    for (unsigned i = 0; i < 4; i++) {
        expect_eq(serve(0, false), i % 2);
        expect(i % 2 == 0 || ack.done == i + 1);
    }
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    expect_eq(net_flow_helper_counts(helper).acks, 2);
    expect_eq(net_flow_helper_counts(helper).coalesced, 2);
    put(0, false, 1); /* acknowledged at once, as no other block is pending */
    serve_and_hear(0);
    close_all();
}

TEST(half_of_an_odd_number_is_rounded_up)
{
    open_all(5, 0);
    for (int i = 0; i < 5; i++)
        put(0, false, 1);
    static const bool said[] = {false, false, true, false, true};
    for (int i = 0; i < 5; i++)
        expect_eq(serve(0, false), said[i]);
    close_all();
}

TEST(a_reply_carries_it)
{
    open_all(8, 0);
    for (int i = 0; i < 3; i++)
        put(0, false, 1);
    expect(!serve(0, false));
    expect(serve(0, true));
    expect_eq(ack.done, 2);
    hear(0);
    expect(serve(0, false));
    expect_eq(net_flow_helper_counts(helper).acks, 1); /* the reply was sent anyway */
    expect_eq(net_flow_helper_counts(helper).coalesced, 2);
    close_all();
}

TEST(an_acknowledgement_may_be_overtaken)
{
    open_all(2, 0);
    put(0, false, 1);
    put(0, false, 1);
    expect(serve(0, false));
    struct flow_ack first = ack;
    expect(serve(0, false));
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    ack = first;
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    expect_eq(clients[0].credits, 2);
    close_all();
}

/* ---- numbers that wrap ---- */

TEST(numbers_wrap)
{
    for (uint32_t buffers = 1; buffers < 8; buffers++) {
        first_number = UINT32_MAX - 20;
        open_all(buffers, 3);
        uint32_t first = clients[0].sent, blocks = 0;
        for (uint64_t left = 200 * POOLED; left;) {
            for (; left && take(0, false, left); left -= left < room ? left : room, blocks++) {
                expect_eq(ticket.number, first + blocks);
                expect_eq(arrive(0), 0);
                check_all();
            }
            while (net_flow_turn(helper, &turn))
                if (net_flow_done(helper, 0, false, &ack))
                    hear(0);
            expect(net_flow_is_idle(&clients[0]));
            expect(net_flow_is_done(&clients[0], first + blocks - 1));
            expect(!net_flow_is_done(&clients[0], first + blocks));
        }
        expect(blocks > 40 && clients[0].sent < first);
        close_all();
    }
}

TEST(a_wrap_in_disorder)
{
    struct flow_ticket sent[5];
    first_number = UINT32_MAX - 1;
    open_all(5, 0);
    for (int i = 0; i < 5; i++) {
        expect(take(0, false, 1));
        sent[i] = ticket;
    }
    for (int i = 4; i >= 0; i--)
        expect_eq(net_flow_arrive(helper, 0, &sent[i], &place), 0);
    check_all();
    for (unsigned i = 0; i < 5; i++) {
        serve(0, false);
        expect_eq(turn.ticket.number, UINT32_MAX - 1 + i);
    }
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    close_all();
}

/* ---- messages that no client of ours sends ---- */

/* Refused, without any change of state. */
static void refuse(uint32_t client, struct flow_ticket t) {
    expect_eq(net_flow_arrive(helper, client, &t, &place), -EPROTO);
    net_flow_helper_check(helper);
}

TEST(wrong_blocks_are_refused)
{
    open_all(2, 4);
    refuse(CLIENTS, (struct flow_ticket){.flags = FLOW_OWN});
    refuse(UINT32_MAX, (struct flow_ticket){.flags = FLOW_OWN});
    refuse(0, (struct flow_ticket){.flags = 0});
    refuse(0, (struct flow_ticket){.flags = FLOW_LAST});
    refuse(0, (struct flow_ticket){.flags = 4 | FLOW_OWN});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .own = 2});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .own = UINT16_MAX});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .number = 6}); /* the window is 2 + 4 */
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .number = UINT32_MAX});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .pool_buffers = 1});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN | FLOW_LAST});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN | FLOW_LAST, .pool_buffers = 1});
    refuse(0, (struct flow_ticket){.pool_buffers = 1});
    put(0, false, 1);
    refuse(0, ticket); /* twice */
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .own = 1, .number = 0});
    refuse(0, (struct flow_ticket){.flags = FLOW_OWN, .own = 0, .number = 1}); /* in use */
    serve_and_hear(0);
    refuse(0, ticket); /* already served */
    close_all();
}

TEST(wrong_spares_are_refused)
{
    open_all(2, 8);
    give(0, 3);
    give(1, 3);
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 8});  /* granted to another client */
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 64}); /* free */
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = UINT64_C(1) << 63}); /* does not exist */
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 3}); /* two, and not marked as the last */
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 15, .flags = FLOW_LAST});
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 9, .flags = FLOW_LAST | FLOW_OWN, .own = 1});
    refuse(0, (struct flow_ticket){.number = 1, .pool_buffers = 1, .flags = FLOW_OWN, .own = 1});
    put(0, false, POOLED + 1);
    refuse(0, (struct flow_ticket){.number = 2, .pool_buffers = 1}); /* in use */
    struct flow_ticket last = {.number = 4, .pool_buffers = 6, .flags = FLOW_LAST};
    expect_eq(net_flow_arrive(helper, 0, &last, &place), 0);
    refuse(0, (struct flow_ticket){.number = 5, .pool_buffers = 4}); /* the last one returned it */
    refuse(0, (struct flow_ticket){.number = 3, .pool_buffers = 4, .flags = FLOW_LAST});
    refuse(0, (struct flow_ticket){.number = 3, .pool_buffers = 4, .flags = FLOW_LAST | FLOW_OWN, .own = 1});
    close_all();
}

TEST(wrong_notes_are_refused)
{
    open_all(2, 4);
    expect_eq(net_flow_returned(helper, CLIENTS, 1), -EPROTO);
    expect_eq(net_flow_returned(helper, 0, 1), -EPROTO); /* unknown */
    put(0, false, 1);
    expect_eq(net_flow_returned(helper, 0, 1), -EPROTO);
    expect_eq(net_flow_returned(helper, 0, 0), -EPROTO);
    serve_and_hear(0);
    give(0, 2);
    give(1, 2);
    expect_eq(net_flow_returned(helper, 0, 4), -EPROTO); /* granted to another client */
    expect_eq(net_flow_returned(helper, 0, 15), -EPROTO);
    put(0, false, POOLED + 1);
    expect_eq(net_flow_returned(helper, 0, 1), -EPROTO); /* a block arrived in it */
    expect_eq(net_flow_returned(helper, 0, 3), -EPROTO);
    put(0, false, 1);
    expect_eq(net_flow_returned(helper, 0, 2), -EPROTO);
    check_all();
    expect_eq(net_flow_returned(helper, 1, 12), 0);
    expect_eq(net_flow_returned(helper, 1, 12), -EPROTO);
    close_all();
}

static void disbelieve(uint32_t done, uint64_t granted) {
    struct flow_ack wrong = {.done = done, .granted = granted};
    struct flow_client before = clients[0];
    expect_eq(net_flow_acknowledge(&clients[0], &wrong), -EPROTO);
    expect(!memcmp(&before, &clients[0], sizeof before));
}

TEST(wrong_acknowledgements_are_refused)
{
    open_all(2, 2);
    disbelieve(1, 0);
    disbelieve(INT32_MAX, 0);
    disbelieve(0, 1); /* was not requested */
    put(0, false, 2 * S + POOLED);
    disbelieve(2, 0);
    disbelieve(1, 4); /* no such pool buffer */
    serve_and_hear(0);
    expect_eq(ack.granted, 1);
    disbelieve(1, 1); /* has it already */
    disbelieve(1, 3);
    put(0, false, 2 * POOLED);
    disbelieve(1, 3); /* one of the two has a block in flight */
    close_all();
}

TEST(a_buffer_is_granted_again_after_its_block)
{
    open_all(1, 1);
    give(0, 1);
    put(0, false, 10 * POOLED); /* asks again */
    expect_eq(ticket.flags, FLOW_LAST);
    disbelieve(1, 1); /* otherwise the number of blocks in flight would be unbounded */
    serve_and_hear(0);
    expect_eq(ack.granted, 1);
    close_all();
}
