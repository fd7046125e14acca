/* unit_net_flow_grants.c: tests size hints, grants of pool buffers, and their return, one behaviour per test. */
#include "test.h"

#include "flow_help.h"

/* ---- size hints and grants ---- */

TEST(what_credits_carry_is_no_intimation)
{
    open_all(2, 4);
    put(0, false, 2 * S);
    expect_eq(ticket.following, 0);
    put(0, false, S);
    expect_eq(ticket.following, 0);
    serve_and_hear(0);
    serve_and_hear(0);
    put(0, false, 2 * S + 1);
    expect_eq(ticket.following, 1);
    put(0, false, S + 1); /* gives the same hint */
    expect_eq(ticket.following, 1);
    expect_eq(clients[0].size_hints, 2);
    limits.size_hint = false;
    net_flow_client_close(&clients[1]);
    expect_eq(net_flow_client_open(&clients[1], &limits), 0);
    put(1, false, 1000000);
    expect_eq(ticket.following, 0);
    close_all();
}

TEST(a_grant_is_what_will_be_needed)
{
    open_all(1, 8);
    static const struct {
        uint64_t following;
        unsigned pool_buffers;
    } cases[] = {{1, 1},          {POOLED, 1},  {POOLED + 1, 2},    {7 * POOLED + 1, 8},
                 {8 * POOLED, 8}, {8000000, 8}, {UINT64_MAX - S, 8}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(0, false, S + cases[i].following);
        expect_eq(ticket.following, cases[i].following);
        serve_and_hear(0);
        expect_eq(ack.granted, bits(cases[i].pool_buffers));
        expect_eq(net_flow_give_back(&clients[0]), ack.granted);
        expect_eq(net_flow_give_back(&clients[0]), 0);
        expect_eq(net_flow_returned(helper, 0, ack.granted), 0);
    }
    expect_eq(clients[0].grants, sizeof cases / sizeof *cases);
    expect_eq(net_flow_helper_counts(helper).granted, sizeof cases / sizeof *cases);
    close_all();
}

TEST(the_rest_goes_into_the_spares_and_is_acknowledged_once)
{
    open_all(1, 4);
    give(0, 3);
    uint64_t left = 2 * POOLED + 100;
    for (unsigned i = 0; i < 3; i++, left -= POOLED) {
        put(0, false, left);
        expect_eq(room, POOLED);
        expect(place.pooled);
        expect_eq(place.index, i);
        expect_eq(ticket.flags, i == 2 ? FLOW_LAST : 0);
        expect_eq(ticket.pool_buffers, UINT64_C(1) << i);
        expect_eq(ticket.following, left > POOLED + S ? left - POOLED - S : 0); /* one credit is available */
    }
    expect_eq(clients[0].credits, 1); /* unchanged */
    expect(!serve(0, false));
    expect(!serve(0, false));
    serve_and_hear(0);
    expect_eq(ack.done, 4);
    expect(net_flow_is_idle(&clients[0]));
    close_all();
}

TEST(the_last_gives_the_rest_back)
{
    open_all(1, 4);
    give(0, 4);
    put(0, false, POOLED); /* ends exactly at the end of the pool buffer */
    expect_eq(ticket.flags, FLOW_LAST);
    expect_eq(ticket.pool_buffers, bits(4));
    expect_eq(place.index, 0);
    expect_eq(net_flow_give_back(&clients[0]), 0);
    serve_and_hear(0);
    give(1, 4);
    put(1, false, POOLED + 1);
    expect_eq(ticket.flags, 0);
    put(1, false, 1);
    expect_eq(ticket.flags, FLOW_LAST);
    expect_eq(ticket.pool_buffers, bits(4) & ~UINT64_C(1));
    expect(!serve(1, false));
    serve_and_hear(1);
    give(2, 4);
    close_all();
}

TEST(the_last_may_come_first)
{
    open_all(1, 4);
    give(0, 3);
    struct flow_ticket sent[2];
    expect(take(0, false, POOLED + 1));
    sent[0] = ticket;
    expect(take(0, false, 1));
    sent[1] = ticket;
    expect_eq(sent[1].flags, FLOW_LAST);
    expect_eq(net_flow_arrive(helper, 0, &sent[1], &place), 0);
    check_all();
    expect(!has_turn());
    give(1, 2); /* the third buffer was returned; the one that the first block needs is reserved for it */
    expect_eq(clients[1].grant, 12);
    expect_eq(net_flow_arrive(helper, 0, &sent[0], &place), 0);
    expect(!serve(0, false));
    serve_and_hear(0);
    expect(net_flow_is_idle(&clients[0]));
    give(2, 2);
    close_all();
}

/* Each block that is done frees its buffer, which the operation gets again, until all of it is on its way. */
TEST(a_long_operation_is_granted_more_as_buffers_become_free)
{
    open_all(1, 4);
    give(0, 4);
    uint64_t left = 10 * POOLED;
    for (unsigned i = 0; i < 4; i++, left -= POOLED)
        put(0, false, left);
    expect_eq(ticket.flags, FLOW_LAST);
    expect_eq(ticket.following, 6 * POOLED - S); /* one credit is available */
    expect(!take(0, false, left));               /* own buffers are smaller */
    for (unsigned i = 0; i < 6; i += 2) {
        expect(!serve(0, false));
        serve_and_hear(0);
        expect_eq(ack.granted, i % 4 ? 12 : 3);
        for (unsigned k = 0; k < 2; k++, left -= POOLED) {
            put(0, false, left);
            expect_eq(place.index, (i + k) % 4);
        }
    }
    expect_eq(left, 0);
    for (unsigned i = 0; i < 4; i++)
        expect_eq(serve(0, false), i == 3); /* one message for both grants */
    hear(0);
    expect_eq(ack.granted, 0);
    expect(net_flow_is_idle(&clients[0]));
    expect_eq(clients[0].grants, 4);
    close_all();
}

TEST(a_client_with_buffers_gets_no_more_while_another_waits)
{
    open_all(1, 2);
    give(0, 2);
    put(0, false, 10 * POOLED);
    put(0, false, 9 * POOLED);
    put(1, false, S + POOLED);
    serve_and_hear(0);
    expect_eq(ack.granted, 1); /* nobody was refused yet */
    serve_and_hear(1);
    expect_eq(net_flow_helper_counts(helper).refused, 1);
    put(1, false, S + POOLED);
    serve_and_hear(0);
    expect_eq(ack.granted, 0);
    put(0, false, 8 * POOLED);
    serve_and_hear(1);
    expect_eq(ack.granted, 2);
    put(1, false, POOLED);
    serve_and_hear(0);
    expect_eq(ack.granted, 1); /* client 1 has what it needs */
    close_all();
}

/* A client that waited, and ended its operation without pool buffers, waits no longer. */
TEST(a_refused_client_may_do_without)
{
    open_all(1, 2);
    give(0, 2);
    put(0, false, 10 * POOLED);
    put(1, false, S + POOLED);
    put(0, false, 9 * POOLED);
    expect_eq(net_flow_turn(helper, &turn), true);
    expect_eq(net_flow_turn(helper, &turn), true);
    expect_eq(turn.client, 1);
    expect(net_flow_done(helper, 1, false, &ack));
    expect_eq(ack.granted, 0);
    hear(1);
    put(1, false, 1);
    expect(net_flow_done(helper, 0, false, &ack));
    expect_eq(ack.granted, 1);
    hear(0);
    close_all();
}

TEST(the_next_operation_asks_with_the_last_block_before_it)
{
    open_all(2, 4);
    expect(take(0, false, 1));
    expect_eq(net_flow_hint(&clients[0], S), 0); /* one credit is available */
    ticket.following = net_flow_hint(&clients[0], S + 2 * POOLED);
    expect_eq(ticket.following, 2 * POOLED);
    expect_eq(arrive(0), 0);
    serve_and_hear(0);
    expect_eq(ack.granted, 3);
    put(0, false, S + 2 * POOLED);
    expect(place.pooled);
    close_all();
}

TEST(what_was_granted_is_not_granted_twice)
{
    open_all(2, 4);
    put(0, false, 2 * S + POOLED);
    put(0, false, S + POOLED);
    serve_and_hear(0);
    expect_eq(ack.granted, 1);
    serve_and_hear(0);
    expect_eq(ack.granted, 0);
    expect_eq(net_flow_helper_counts(helper).refused, 0); /* there was nothing to refuse */
    close_all();
}

TEST(the_newest_block_says_what_is_needed)
{
    open_all(3, 4);
    for (int i = 0; i < 3; i++)
        put(0, false, (uint64_t)(3 - i) * S + POOLED); /* all three ask for one */
    serve(0, false);
    expect_eq(net_flow_returned(helper, 0, ack.granted), 0);
    expect(serve(0, false)); /* returned: not offered again */
    expect_eq(ack.granted, 0);
    close_all();
}

/* The same blocks, with and without size hints: the same number of messages. */
static uint64_t messages_of(bool size_hint, uint32_t buffers) {
    open_all(buffers, 1);
    if (size_hint)
        give(3, 1); /* none is left for others */
    uint64_t before = net_flow_helper_counts(helper).acks;
    for (uint64_t left = 20 * S; left;) {
        for (; left && take(0, false, size_hint ? left : 0); left -= S)
            expect_eq(arrive(0), 0);
        while (net_flow_turn(helper, &turn))
            if (net_flow_done(helper, turn.client, false, &ack))
                hear(0);
    }
    expect(net_flow_is_idle(&clients[0]));
    expect_eq(net_flow_helper_counts(helper).refused > 0, size_hint);
    uint64_t count = net_flow_helper_counts(helper).acks - before;
    close_all();
    return count;
}

TEST(a_refusal_costs_no_message)
{
    for (uint32_t buffers = 1; buffers < 9; buffers++)
        expect_eq(messages_of(true, buffers), messages_of(false, buffers));
    expect_eq(messages_of(true, 1), 20);
    expect(messages_of(true, 8) < 20);
}

TEST(sixty_four_spares)
{
    open_all(1, 64);
    give(0, 64);
    expect_eq(clients[0].grant, UINT64_MAX);
    for (unsigned i = 0; i < 64; i++) {
        put(0, false, 100 * POOLED);
        expect_eq(place.index, i);
        expect_eq(ticket.flags, i == 63 ? FLOW_LAST : 0);
    }
    expect_eq(ticket.following, 99 * POOLED - S);
    expect(!take(0, false, 36 * POOLED));
    for (unsigned i = 0; i < 64; i++)
        expect_eq(serve(0, false), i == 31 || i == 63);
    expect_eq(ack.granted, bits(32) << 32);
    expect_eq(net_flow_acknowledge(&clients[0], &ack), 0);
    expect(net_flow_is_idle(&clients[0]));
    expect_eq(net_flow_give_back(&clients[0]), bits(32) << 32);
    close_all();
}

TEST(a_small_operation_ends_an_old_grant)
{
    open_all(2, 2);
    give(0, 2);
    put(0, false, 1);
    expect(place.pooled);
    expect_eq(ticket.flags, FLOW_LAST);
    expect_eq(ticket.pool_buffers, 3);
    serve_and_hear(0);
    give(1, 2);
    close_all();
}

/* ---- operations that fetch ---- */

TEST(a_fetch_is_answered_into_all_spares_at_once)
{
    open_all(1, 4);
    put(0, true, S + 3 * POOLED);
    expect_eq(room, S);
    expect_eq(ticket.following, 3 * POOLED);
    expect(serve(0, true));
    hear(0);
    put(0, true, 3 * POOLED);
    expect_eq(room, 3 * POOLED);
    expect_eq(ticket.flags, FLOW_OWN | FLOW_LAST);
    expect_eq(ticket.pool_buffers, 7);
    expect(!place.pooled);
    expect(serve(0, true));
    expect_eq(turn.ticket.pool_buffers, 7);
    hear(0);
    expect(net_flow_is_idle(&clients[0]));
    /* Its replies have not been sent yet. */
    give(1, 1);
    expect_eq(clients[1].grant, 8);
    put(2, false, 100 * POOLED);
    serve_and_hear(2);
    expect_eq(ack.granted, 0);
    expect_eq(net_flow_helper_counts(helper).refused, 1);
    net_flow_release(helper, 2);
    check_all();
    net_flow_release(helper, 5);
    check_all();
    give(3, 3);
    close_all();
}

TEST(replies_may_leave_before_all_is_done)
{
    open_all(1, 2);
    give(0, 2);
    put(0, true, 2 * POOLED);
    expect(net_flow_turn(helper, &turn));
    net_flow_release(helper, 1);
    check_all();
    expect(net_flow_done(helper, 0, true, &ack));
    net_flow_release(helper, 2);
    hear(0);
    give(0, 2);
    close_all();
}

TEST(a_fetch_with_a_grant_waits_for_a_credit)
{
    open_all(2, 2);
    put(0, false, 2 * S + POOLED);
    put(0, false, S + POOLED);
    serve_and_hear(0);
    expect_eq(clients[0].grant, 1);
    put(0, true, 1); /* ends the grant */
    expect(!take(0, true, 1));
    serve_and_hear(0);
    expect(take(0, true, 1));
    expect_eq(ticket.pool_buffers, 0);
    close_all();

    open_all(1, 2);
    put(0, false, S + POOLED);
    expect(serve(0, false));
    struct flow_ack granting = ack;
    granting.done = 0; /* as if the credit came later */
    expect_eq(net_flow_acknowledge(&clients[0], &granting), 0);
    expect_eq(clients[0].credits, 0);
    expect(!take(0, true, 100));
    expect_eq(clients[0].grant, 1); /* kept */
    expect_eq(clients[0].waits, 1);
    ack.granted = 0;
    hear(0);
    expect(take(0, true, 100));
    expect_eq(ticket.flags, FLOW_OWN | FLOW_LAST);
    close_all();
}

/* ---- returning buffers ---- */

TEST(what_is_not_needed_is_given_back)
{
    open_all(1, 4);
    expect_eq(net_flow_give_back(&clients[0]), 0);
    give(0, 4);
    expect_eq(net_flow_give_back(&clients[0]), 15);
    expect_eq(clients[0].grant, 0);
    put(0, false, 1); /* uses one of its own buffers again */
    expect(!place.pooled);
    serve_and_hear(0);
    expect_eq(net_flow_returned(helper, 0, 15), 0);
    check_all();
    give(1, 4);
    close_all();
}

TEST(the_rest_of_a_grant_in_use_is_given_back)
{
    open_all(1, 4);
    give(0, 2);
    put(0, false, POOLED + 1);
    expect_eq(net_flow_give_back(&clients[0]), 2);
    expect_eq(net_flow_returned(helper, 0, 2), 0);
    check_all();
    expect(!serve(0, false));
    give(1, 4);
    close_all();
}

/* ---- pool buffers for pieces of answers ---- */

/* What is claimed is not granted, until it is released. */
TEST(a_piece_of_an_answer_takes_a_free_buffer)
{
    uint32_t index;
    open_all(1, 4);
    give(0, 3);
    expect(net_flow_claim(helper, &index));
    expect_eq(index, 3);
    net_flow_helper_check(helper);
    expect(!net_flow_claim(helper, &index));
    put(1, false, S + POOLED);
    serve_and_hear(1);
    expect_eq(ack.granted, 0);
    net_flow_release(helper, 8);
    net_flow_helper_check(helper);
    expect(net_flow_claim(helper, &index));
    expect_eq(index, 3);
    net_flow_release(helper, 8);
    close_all();
}

TEST(without_size_hints_no_buffer_is_claimed)
{
    struct flow_limits l = {.buffers = 1, .bytes = 64, .pool_buffers = 4, .pool_buffer_bytes = 64};
    struct flow_helper *h;
    uint32_t index;
    expect_eq(net_flow_helper_open(&l, 1, &h), 0);
    expect(!net_flow_claim(h, &index));
    net_flow_helper_close(h);
}
