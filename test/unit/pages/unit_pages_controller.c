/* unit_pages_controller.c: tests the cache's side of the protocol, rule by rule. */
#include <errno.h>

#include "pages/protocol/controller.h"
#include "test.h"

enum { SELF = 3, HOME = 1, PAGE = 9, PEER = 7 };

static struct pages_control c;
static struct pages_effects e;

static int receive_for(enum pages_kind kind, uint8_t state, uint8_t flags, uint16_t peer) {
    struct pages_message m = {.kind = (uint8_t)kind,
                              .from = HOME,
                              .to = SELF,
                              .home = HOME,
                              .page = PAGE,
                              .state = state,
                              .flags = flags,
                              .peer = peer,
                              .tag = 44};
    int err = pages_control_receive(&c, &m, &e);
    pages_control_check(&c);
    return err;
}

static int receive(enum pages_kind kind) {
    return receive_for(kind, 0, 0, PEER);
}

/* Checks the message of the last step; there must be exactly one. */
static void expect_said(enum pages_kind kind, uint16_t to, uint8_t flags) {
    expect_eq(e.count, 1);
    expect_eq(e.messages[0].kind, kind);
    expect_eq(e.messages[0].to, to);
    expect_eq(e.messages[0].flags, flags);
    expect(e.messages[0].from == SELF && e.messages[0].home == HOME && e.messages[0].page == PAGE);
}

static enum pages_got acquire(bool write) {
    enum pages_got got = pages_control_acquire(&c, write, &e);
    pages_control_check(&c);
    return got;
}

static void release(bool write) {
    pages_control_release(&c, write, &e);
    pages_control_check(&c);
}

/* An unpinned copy in this state. */
static void open_in(enum pages_state state) {
    pages_control_open(&c, SELF, HOME, PAGE);
    if (state == PAGES_I)
        return;
    bool write = state == PAGES_M || state == PAGES_O;
    expect_eq(acquire(write), PAGES_WAIT);
    expect_eq(
        write ? receive_for(PAGES_DATA, PAGES_M, PAGES_GRANTED, 0) : receive_for(PAGES_DATA, state, 0, 0), 0);
    release(write);
    if (state == PAGES_O)
        expect_eq(receive(PAGES_FWD_S), 0);
    expect_eq(c.state, state);
    expect(pages_control_is_idle(&c));
}

static void open_mapped(enum pages_state state, enum pages_level level) {
    open_in(state);
    expect_eq(acquire(level == PAGES_TO_WRITE), PAGES_HIT);
    pages_control_map(&c, level);
    release(level == PAGES_TO_WRITE);
}

TEST(read_from_nothing)
{
    open_in(PAGES_I);
    expect_eq(acquire(false), PAGES_WAIT);
    expect_said(PAGES_GETS, HOME, 0);
    expect_eq(acquire(false), PAGES_WAIT); /* joins the pending request */
    expect_eq(e.count, 0);
    expect_eq(acquire(true), PAGES_LATER);
    expect_eq(receive_for(PAGES_DATA, PAGES_S, PAGES_DIRTY, 0), 0);
    expect_said(PAGES_UNBLOCK, HOME, PAGES_DIRTY); /* the flag of the holder's message */
    expect_eq(e.actions, PAGES_READY | PAGES_RETRY);
    expect_eq(c.readers, 2);
    release(false);
    release(false);
    expect(pages_control_is_idle(&c));
}

TEST(prefetch_is_a_read_that_nobody_waits_for)
{
    open_in(PAGES_I);
    expect(pages_control_prefetch(&c, &e));
    expect_said(PAGES_GETS, HOME, 0);
    expect(!pages_control_prefetch(&c, &e));
    expect_eq(receive_for(PAGES_DATA, PAGES_E, 0, 0), 0);
    expect_said(PAGES_UNBLOCK, HOME, 0);
    expect(pages_control_is_idle(&c) && c.state == PAGES_E);
    expect(!pages_control_prefetch(&c, &e));
    open_in(PAGES_I);
    expect(pages_control_prefetch(&c, &e));
    expect_eq(acquire(false), PAGES_WAIT); /* a thread needs it after all */
    expect_eq(receive_for(PAGES_DATA, PAGES_E, 0, 0), 0);
    expect_eq(c.readers, 1);
}

TEST(write_needs_data_and_grant_in_any_order)
{
    for (int order = 0; order < 2; order++) {
        open_in(PAGES_I);
        expect_eq(acquire(true), PAGES_WAIT);
        expect_said(PAGES_GETX, HOME, 0);
        expect_eq(order ? receive(PAGES_GRANT) : receive_for(PAGES_DATA, PAGES_M, 0, 0), 0);
        expect(e.count == 0 && !e.actions && c.state == PAGES_I);
        expect_eq(acquire(false), PAGES_WAIT); /* the data must not be read yet */
        expect_eq(order ? receive_for(PAGES_DATA, PAGES_M, 0, 0) : receive(PAGES_GRANT), 0);
        expect_said(PAGES_UNBLOCK, HOME, 0);
        expect(c.state == PAGES_M && c.writers == 1 && c.readers == 1);
    }
}

/* The page is not sent. Until it is written, no other thread gets a pin, and the home keeps it for this node. */
TEST(overwriting_needs_no_data)
{
    open_in(PAGES_I);
    expect_eq(pages_control_overwrite(&c, &e), PAGES_WAIT);
    pages_control_check(&c);
    expect_said(PAGES_GETX, HOME, PAGES_OVERWRITE);
    expect_eq(acquire(false), PAGES_LATER);
    expect_eq(acquire(true), PAGES_LATER);
    expect_eq(pages_control_overwrite(&c, &e), PAGES_LATER);
    expect_eq(receive(PAGES_GRANT), -EPROTO);
    expect_eq(receive_for(PAGES_DATA, PAGES_M, PAGES_GRANTED, 0), -EPROTO); /* with the page */
    expect_eq(receive_for(PAGES_DATA, PAGES_M, PAGES_GRANTED | PAGES_OVERWRITE, 0), 0);
    expect(e.count == 0 && e.actions == PAGES_READY && c.writers == 1);
    expect(pages_control_is_asking(&c) && !pages_control_is_idle(&c));
    expect_eq(acquire(false), PAGES_LATER);
    expect_eq(receive(PAGES_FWD_S), -EPROTO);
    expect(!pages_control_evict(&c, &e));
    release(true);
    expect_said(PAGES_UNBLOCK, HOME, 0);
    expect_eq(e.actions, PAGES_RETRY);
    expect(pages_control_is_idle(&c) && c.state == PAGES_M && !pages_control_is_asking(&c));
}

TEST(overwriting_a_copy_is_a_write)
{
    open_in(PAGES_E);
    expect_eq(pages_control_overwrite(&c, &e), PAGES_HIT);
    expect(e.count == 0 && c.state == PAGES_M && c.writers == 1);
    open_in(PAGES_S);
    expect_eq(pages_control_overwrite(&c, &e), PAGES_WAIT);
    expect_said(PAGES_GETX, HOME, 0);
    expect_eq(acquire(false), PAGES_HIT);
    release(false);
    expect_eq(receive(PAGES_GRANT), 0);
    expect_said(PAGES_UNBLOCK, HOME, 0);
}

TEST(only_an_overwriting_node_may_invalidate_the_only_copy)
{
    for (int modified = 0; modified < 2; modified++) {
        open_in(modified ? PAGES_M : PAGES_E);
        expect_eq(receive(PAGES_INV), -EPROTO);
        expect_eq(receive_for(PAGES_INV, 0, PAGES_OVERWRITE, PEER), 0);
        expect_said(PAGES_IACK, HOME, 0);
        expect_eq(e.actions, PAGES_FREED);
        expect_eq(c.state, PAGES_I);
    }
}

TEST(first_store_into_exclusive_needs_no_message)
{
    open_in(PAGES_E);
    expect_eq(acquire(true), PAGES_HIT);
    expect(e.count == 0 && c.state == PAGES_M);
}

TEST(copy_becomes_writable_with_a_grant_alone)
{
    for (int owned = 0; owned < 2; owned++) {
        open_in(owned ? PAGES_O : PAGES_S);
        expect_eq(acquire(true), PAGES_WAIT);
        expect_said(PAGES_GETX, HOME, 0);
        expect_eq(acquire(false), PAGES_HIT); /* it can be read meanwhile */
        release(false);
        expect_eq(receive(PAGES_GRANT), 0);
        expect(c.state == PAGES_M && c.writers == 1);
    }
}

TEST(copy_is_lost_while_it_asks_to_write)
{
    open_in(PAGES_S);
    acquire(true);
    expect_eq(receive(PAGES_INV), 0);
    expect_said(PAGES_IACK, HOME, 0);
    expect_eq(e.actions, 0); /* the frame is still needed */
    expect_eq(receive(PAGES_GRANT), 0);
    expect_eq(c.state, PAGES_I);
    expect_eq(receive_for(PAGES_DATA, PAGES_M, 0, 0), 0);
    expect(c.state == PAGES_M && e.actions & PAGES_READY);
}

TEST(dirty_for_modified_and_for_owned)
{
    for (int state = PAGES_S; state <= PAGES_O; state++) {
        open_in((enum pages_state)state);
        expect_eq(receive(PAGES_FWD_S), 0);
        bool dirty = state == PAGES_M || state == PAGES_O;
        expect_said(PAGES_DATA, PEER, dirty ? PAGES_DIRTY : 0);
        expect_eq(e.messages[0].state, PAGES_S);
        expect_eq(c.state, dirty ? PAGES_O : PAGES_S);
    }
}

TEST(copy_is_passed_on)
{
    for (int state = PAGES_S; state <= PAGES_O; state++) {
        open_in((enum pages_state)state);
        expect_eq(receive_for(PAGES_FWD_X, 0, PAGES_GRANTED, PEER), 0);
        expect_said(PAGES_DATA, PEER, PAGES_GRANTED);
        expect_eq(e.messages[0].state, PAGES_M);
        expect_eq(e.actions, PAGES_FREED);
        expect(c.state == PAGES_I && pages_control_is_idle(&c));
    }
}

/* ---- eviction ---- */

TEST(frozen_copy_serves_until_it_may_go)
{
    open_in(PAGES_M);
    expect(pages_control_evict(&c, &e));
    expect_said(PAGES_PUT, HOME, 0);
    expect_eq(acquire(false), PAGES_LATER);
    expect_eq(acquire(true), PAGES_LATER);
    expect(!pages_control_evict(&c, &e) && !pages_control_prefetch(&c, &e));
    expect_eq(receive(PAGES_FWD_S), 0);
    expect_said(PAGES_DATA, PEER, PAGES_DIRTY);
    expect_eq(receive_for(PAGES_FWD_SMALL, 0, PAGES_WRITES, PEER), 0);
    expect(c.state == PAGES_M && e.actions == PAGES_FRAME_APPLY);
    expect_eq(receive(PAGES_WRITEBACK_REQ), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, PAGES_DIRTY);
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
    expect(pages_control_is_idle(&c) && c.state == PAGES_I);
}

TEST(frozen_copy_is_lost)
{
    open_in(PAGES_S);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive(PAGES_INV), 0);
    expect_said(PAGES_IACK, HOME, 0);
    expect_eq(e.actions, 0); /* no request for this page before PUT_ACK */
    expect_eq(acquire(false), PAGES_LATER);
    expect_eq(receive(PAGES_WRITEBACK_REQ), -EPROTO);
    expect_eq(receive(PAGES_PUT_ACK), 0);
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
    expect_eq(acquire(false), PAGES_WAIT);
}

TEST(frozen_copy_becomes_the_owner)
{
    open_in(PAGES_S);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive(PAGES_OWN), 0);
    expect_said(PAGES_OWNED, HOME, 0);
    expect_eq(receive(PAGES_WRITEBACK_REQ), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, PAGES_DIRTY);
}

TEST(exclusive_brings_nothing_back)
{
    open_in(PAGES_E);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive(PAGES_WRITEBACK_REQ), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, 0);
}

TEST(what_is_in_use_is_not_dropped)
{
    open_in(PAGES_I);
    expect(!pages_control_evict(&c, &e));
    open_in(PAGES_S);
    acquire(false);
    expect(!pages_control_evict(&c, &e));
    release(false);
    acquire(true);
    expect(!pages_control_evict(&c, &e));
}

/* ---- pins ---- */

TEST(invalidation_is_acknowledged_when_the_pin_is_gone)
{
    open_in(PAGES_S);
    acquire(false);
    acquire(false);
    expect_eq(receive(PAGES_INV), 0);
    expect_eq(e.count, 0);
    expect_eq(acquire(false), PAGES_LATER); /* no new pin */
    release(false);
    expect_eq(e.count, 0);
    release(false);
    expect_said(PAGES_IACK, HOME, 0);
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
    expect_eq(c.state, PAGES_I);
}

TEST(writer_is_waited_for_and_readers_are_not)
{
    open_in(PAGES_M);
    acquire(true);
    acquire(false);
    expect_eq(receive(PAGES_FWD_S), 0);
    expect_eq(e.count, 0);
    expect_eq(receive(PAGES_INV), -EPROTO); /* one transaction at a time */
    release(true);
    expect_said(PAGES_DATA, PEER, PAGES_DIRTY);
    expect_eq(e.actions, PAGES_RETRY);
    expect(c.state == PAGES_O && c.readers == 1);
    expect_eq(receive_for(PAGES_FWD_X, 0, 0, PEER), 0);
    expect_eq(e.count, 0);
    release(false);
    expect_said(PAGES_DATA, PEER, 0);
    expect_eq(c.state, PAGES_I);
}

TEST(who_waited_has_a_pin_before_the_page_can_be_taken)
{
    open_in(PAGES_I);
    acquire(true);
    receive_for(PAGES_DATA, PAGES_M, PAGES_GRANTED, 0);
    expect_eq(receive_for(PAGES_FWD_X, 0, PAGES_GRANTED, PEER), 0);
    expect_eq(e.count, 0);
    release(true);
    expect_said(PAGES_DATA, PEER, PAGES_GRANTED);
}

TEST(small_operations_do_not_wait_for_pins)
{
    open_in(PAGES_M);
    acquire(true);
    expect_eq(receive_for(PAGES_FWD_SMALL, 0, PAGES_WRITES, PEER), 0);
    expect_eq(e.actions, PAGES_FRAME_APPLY);
    expect_eq(e.count, 2);
    expect(e.messages[0].kind == PAGES_ANSWER && e.messages[0].to == PEER && e.messages[0].tag == 44);
    expect(e.messages[1].kind == PAGES_APPLIED && e.messages[1].to == HOME);
}

TEST(small_operation_on_each_state)
{
    for (int state = PAGES_S; state <= PAGES_O; state++) {
        open_in((enum pages_state)state);
        expect_eq(receive(PAGES_FWD_SMALL), 0);
        expect_eq(c.state, state);
        expect_eq(receive_for(PAGES_FWD_SMALL, 0, PAGES_WRITES, PEER), 0);
        expect_eq(c.state, PAGES_M);
    }
}

/* ---- mappings ---- */

TEST(page_is_unmapped_before_it_is_given_away)
{
    open_mapped(PAGES_S, PAGES_TO_READ);
    expect_eq(receive(PAGES_INV), 0);
    expect(e.count == 0 && e.actions == PAGES_UNMAP);
    expect_eq(acquire(false), PAGES_LATER);
    pages_control_unmapped(&c, PAGES_UNMAPPED, &e);
    expect_said(PAGES_IACK, HOME, 0);
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
}

TEST(page_is_protected_before_it_is_copied)
{
    open_mapped(PAGES_M, PAGES_TO_WRITE);
    expect_eq(receive(PAGES_FWD_S), 0);
    expect(e.count == 0 && e.actions == PAGES_PROTECT);
    pages_control_unmapped(&c, PAGES_TO_READ, &e);
    expect_said(PAGES_DATA, PEER, PAGES_DIRTY);
    expect(c.state == PAGES_O && c.mapped == PAGES_TO_READ);
    expect_eq(receive(PAGES_FWD_S), 0); /* now it can be copied at once */
    expect_said(PAGES_DATA, PEER, PAGES_DIRTY);
}

TEST(pins_go_before_mappings)
{
    open_mapped(PAGES_M, PAGES_TO_WRITE);
    acquire(false);
    expect_eq(receive_for(PAGES_FWD_X, 0, PAGES_GRANTED, PEER), 0);
    expect(e.count == 0 && !e.actions);
    release(false);
    expect(e.count == 0 && e.actions == PAGES_UNMAP);
    pages_control_unmapped(&c, PAGES_UNMAPPED, &e);
    expect_said(PAGES_DATA, PEER, PAGES_GRANTED);
}

TEST(page_is_unmapped_before_it_is_put)
{
    open_mapped(PAGES_E, PAGES_TO_READ);
    expect(!pages_control_is_asking(&c));
    expect(pages_control_evict(&c, &e));
    expect(e.count == 0 && e.actions == PAGES_UNMAP && pages_control_is_asking(&c));
    expect_eq(acquire(false), PAGES_LATER);
    pages_control_unmapped(&c, PAGES_UNMAPPED, &e);
    expect_said(PAGES_PUT, HOME, 0);
    expect_eq(e.actions, 0);
}

TEST(page_is_taken_while_it_is_unmapped_to_be_put)
{
    open_mapped(PAGES_M, PAGES_TO_WRITE);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive_for(PAGES_FWD_X, 0, PAGES_GRANTED, PEER), 0);
    expect(e.count == 0 && !e.actions); /* the mapper already has the request to unmap it */
    pages_control_unmapped(&c, PAGES_UNMAPPED, &e);
    expect_said(PAGES_DATA, PEER, PAGES_GRANTED); /* no PUT follows, as the page is gone */
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
    expect(pages_control_is_idle(&c));
}

TEST(page_is_copied_while_it_is_unmapped_to_be_put)
{
    open_mapped(PAGES_M, PAGES_TO_WRITE);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive(PAGES_FWD_S), 0);
    pages_control_unmapped(&c, PAGES_UNMAPPED, &e);
    expect_eq(e.count, 2);
    expect(e.messages[0].kind == PAGES_DATA && e.messages[1].kind == PAGES_PUT);
    expect(c.state == PAGES_O && c.open == PAGES_PUT);
}

/* ---- without cooperation ---- */

TEST(recall)
{
    open_in(PAGES_M);
    expect_eq(receive(PAGES_RECALL_S), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, PAGES_DIRTY);
    expect_eq(c.state, PAGES_S);
    open_in(PAGES_E);
    expect_eq(receive(PAGES_RECALL_S), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, 0);
    expect_eq(c.state, PAGES_S);
    open_in(PAGES_M);
    expect(pages_control_evict(&c, &e));
    expect_eq(receive(PAGES_RECALL_X), 0);
    expect_said(PAGES_WRITEBACK_DATA, HOME, PAGES_DIRTY);
    /* Unlike WRITEBACK_REQ, RECALL_X does not end the PUT. */
    expect(c.state == PAGES_I && c.open == PAGES_PUT && !e.actions);
    expect_eq(receive(PAGES_PUT_ACK), 0);
    expect_eq(e.actions, PAGES_FREED | PAGES_RETRY);
}

/* ---- messages that no node of ours sends ---- */

TEST(nonsense_is_refused)
{
    static const uint8_t may_come[][2] = {
        /* state, kind */
        {PAGES_S, PAGES_FWD_S},     {PAGES_S, PAGES_FWD_X},     {PAGES_S, PAGES_INV},
        {PAGES_S, PAGES_OWN},       {PAGES_S, PAGES_FWD_SMALL}, {PAGES_E, PAGES_FWD_S},
        {PAGES_E, PAGES_FWD_X},     {PAGES_E, PAGES_FWD_SMALL}, {PAGES_E, PAGES_RECALL_S},
        {PAGES_E, PAGES_RECALL_X},  {PAGES_M, PAGES_FWD_S},     {PAGES_M, PAGES_FWD_X},
        {PAGES_M, PAGES_FWD_SMALL}, {PAGES_M, PAGES_RECALL_S},  {PAGES_M, PAGES_RECALL_X},
        {PAGES_O, PAGES_FWD_S},     {PAGES_O, PAGES_FWD_X},     {PAGES_O, PAGES_INV},
        {PAGES_O, PAGES_FWD_SMALL}};
    for (uint8_t state = PAGES_I; state <= PAGES_O; state++)
        for (uint8_t kind = 0; kind < PAGES_KINDS; kind++) {
            bool may = false;
            for (size_t i = 0; i < sizeof may_come / sizeof *may_come; i++)
                may |= may_come[i][0] == state && may_come[i][1] == kind;
            open_in((enum pages_state)state);
            struct pages_control before = c;
            expect_eq(receive((enum pages_kind)kind), may ? 0 : -EPROTO);
            expect(may || !memcmp(&before, &c, sizeof c));
        }
}

TEST(messages_for_somebody_else)
{
    open_in(PAGES_S);
    struct pages_message m = {.kind = PAGES_INV, .to = SELF, .home = HOME, .page = PAGE};
    struct pages_message other = m;
    other.page++;
    expect_eq(pages_control_receive(&c, &other, &e), -EPROTO);
    other = m, other.home++;
    expect_eq(pages_control_receive(&c, &other, &e), -EPROTO);
    other = m, other.to++;
    expect_eq(pages_control_receive(&c, &other, &e), -EPROTO);
    expect_eq(pages_control_receive(&c, &m, &e), 0);
}
