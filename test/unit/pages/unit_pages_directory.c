/* unit_pages_directory.c: tests the home's side of the protocol, transaction by transaction as in the table of
 * protocol.h. */
#include <errno.h>

#include "directory_help.h"

TEST(first_reader_gets_it_exclusively)
{
    open_with(true, true);
    send(PAGES_GETS, 4);
    expect_eq(looked, heard_count);
    finish(PAGES_READ);
    struct pages_message m = next();
    expect(m.kind == PAGES_DATA && m.to == 4 && m.state == PAGES_E && !m.flags);
    send(PAGES_UNBLOCK, 4);
    expect_silence();
    expect_known(PAGES_EXCLUSIVE, 1, 4);
}

static void expect_empty_data(uint16_t to) {
    struct pages_message m = next();
    expect(m.kind == PAGES_DATA && m.to == to && m.state == PAGES_M);
    expect_eq(m.flags, PAGES_GRANTED | PAGES_OVERWRITE);
    expect_silence();
    expect(pages_directory_look(d, PAGE).overwrites);
    send(PAGES_UNBLOCK, to);
    expect_silence();
    expect_known(PAGES_EXCLUSIVE, 1, to);
    expect(!pages_directory_look(d, PAGE).overwrites);
}

/* Nothing is read, and no holder sends its copy, in any state of the page. */
TEST(page_that_is_overwritten_is_not_read)
{
    for (int coop = 0; coop < 2; coop++) {
        open_with(coop, true);
        send_flagged(PAGES_GETX, 4, PAGES_OVERWRITE);
        expect_empty_data(4);
        open_with(coop, true);
        give_first(0); /* in E or M: only its holder knows */
        send_flagged(PAGES_GETX, 4, PAGES_OVERWRITE);
        struct pages_message m = next();
        expect(m.kind == PAGES_INV && m.to == 0 && m.flags == PAGES_OVERWRITE);
        expect_silence();
        send(PAGES_IACK, 0);
        expect_empty_data(4);
    }
    for (int dirty = 0; dirty < 2; dirty++) {
        open_with(true, true);
        give_copies(3, dirty);
        send_flagged(PAGES_GETX, 4, PAGES_OVERWRITE);
        for (uint16_t i = 0; i < 3; i++)
            expect_said(PAGES_INV, i, 0);
        for (uint16_t i = 3; i > 0; i--) {
            expect_silence();
            send(PAGES_IACK, (uint16_t)(i - 1));
        }
        expect_empty_data(4);
    }
}

TEST(home_is_a_client_like_any_other)
{
    open_with(true, true);
    give_first(HOME);
    expect_known(PAGES_EXCLUSIVE, 1, HOME);
    send(PAGES_GETX, 2);
    expect_said(PAGES_FWD_X, HOME, 2);
}

TEST(second_reader_is_served_by_the_owner)
{
    for (int dirty = 0; dirty < 2; dirty++) {
        open_with(true, true);
        give_first(2);
        send(PAGES_GETS, 3);
        expect_said(PAGES_FWD_S, 2, 3);
        expect_silence();
        send_flagged(PAGES_UNBLOCK, 3, dirty ? PAGES_DIRTY : 0);
        expect_known(dirty ? PAGES_OWNED_SHARED : PAGES_SHARED, 2, dirty ? 2 : 0);
    }
}

TEST(newest_serves_first)
{
    open_with(true, true);
    give_copies(2, false);
    for (uint16_t i = 2; i < NODES; i++) {
        send(PAGES_GETS, i);
        expect_said(PAGES_FWD_S, i - 1, i);
        send(PAGES_UNBLOCK, i);
    }
}

TEST(writer_of_what_nobody_has)
{
    open_with(true, true);
    send(PAGES_GETX, 0);
    finish(PAGES_READ);
    struct pages_message m = next();
    expect(m.kind == PAGES_DATA && m.to == 0 && m.state == PAGES_M && m.flags == PAGES_GRANTED);
    send(PAGES_UNBLOCK, 0);
    expect_known(PAGES_EXCLUSIVE, 1, 0);
}

TEST(sole_holder_passes_the_page_and_the_grant)
{
    open_with(true, true);
    give_first(4);
    send(PAGES_GETX, 0);
    struct pages_message m = next();
    expect(m.kind == PAGES_FWD_X && m.to == 4 && m.peer == 0 && m.flags == PAGES_GRANTED);
    expect_silence();
    send(PAGES_UNBLOCK, 0);
    expect_known(PAGES_EXCLUSIVE, 1, 0);
}

TEST(grant_waits_for_all_acknowledgements)
{
    for (int dirty = 0; dirty < 2; dirty++) {
        open_with(true, true);
        give_copies(4, dirty);
        send(PAGES_GETX, 4);
        struct pages_message m = next();
        expect(m.kind == PAGES_FWD_X && m.to == 3 && m.peer == 4 && !m.flags);
        expect_said(PAGES_INV, 0, 0);
        expect_said(PAGES_INV, 1, 0);
        expect_said(PAGES_INV, 2, 0);
        send(PAGES_IACK, 2);
        send(PAGES_IACK, 0);
        expect_silence();
        send(PAGES_IACK, 1);
        expect_said(PAGES_GRANT, 4, 0);
        send(PAGES_UNBLOCK, 4);
        expect_known(PAGES_EXCLUSIVE, 1, 4);
    }
}

TEST(writer_that_has_a_copy_needs_no_data)
{
    open_with(true, true);
    give_copies(3, true);
    send(PAGES_GETX, 1);
    expect_said(PAGES_INV, 0, 0);
    expect_said(PAGES_INV, 2, 0);
    send(PAGES_IACK, 0);
    expect_silence();
    send(PAGES_IACK, 2);
    expect_said(PAGES_GRANT, 1, 0);
    send(PAGES_UNBLOCK, 1);
    expect_known(PAGES_EXCLUSIVE, 1, 1);
    send(PAGES_GETX, 1); /* it has the only copy, in state O: granted at once */
    expect_said(PAGES_GRANT, 1, 0);
    expect_silence();
}

TEST(one_transaction_at_a_time_first_come_first_served)
{
    open_with(true, true);
    give_first(0);
    send(PAGES_GETX, 1);
    send(PAGES_GETX, 2);
    send(PAGES_GETS, 3);
    expect_said(PAGES_FWD_X, 0, 1);
    expect_silence();
    send(PAGES_UNBLOCK, 1);
    expect_said(PAGES_FWD_X, 1, 2);
    expect_silence();
    send(PAGES_UNBLOCK, 2);
    expect_said(PAGES_FWD_S, 2, 3);
    send_flagged(PAGES_UNBLOCK, 3, PAGES_DIRTY);
    expect_known(PAGES_OWNED_SHARED, 2, 2);
}

TEST(request_overtakes_the_unblock_before_it)
{
    open_with(true, true);
    send(PAGES_GETX, 1);
    finish(PAGES_READ);
    skip_all();
    send(PAGES_PUT, 1);
    expect_silence();
    send(PAGES_UNBLOCK, 1);
    expect_said(PAGES_WRITEBACK_REQ, 1, 1);
}

TEST(sharer_leaves)
{
    open_with(true, true);
    give_copies(2, false);
    send(PAGES_PUT, 0);
    expect_said(PAGES_PUT_ACK, 0, 0);
    expect_known(PAGES_SHARED, 1, 0);
    send(PAGES_PUT, 1);
    expect_said(PAGES_PUT_ACK, 1, 0);
    expect_known(PAGES_UNCACHED, 0, 0);
    expect_silence();
}

TEST(put_of_what_was_lost_meanwhile)
{
    open_with(true, true);
    give_first(0);
    send(PAGES_GETX, 1);
    send(PAGES_PUT, 0);
    send(PAGES_UNBLOCK, 1);
    expect_said(PAGES_FWD_X, 0, 1);
    expect_said(PAGES_PUT_ACK, 0, 0);
    expect_known(PAGES_EXCLUSIVE, 1, 1);
    expect_silence();
}

TEST(sole_holder_leaves)
{
    for (int dirty = 0; dirty < 2; dirty++) {
        open_with(true, true);
        give_first(0);
        send(PAGES_PUT, 0);
        expect_said(PAGES_WRITEBACK_REQ, 0, 0);
        send_flagged(PAGES_WRITEBACK_DATA, 0, dirty ? PAGES_DIRTY : 0);
        if (dirty)
            finish(PAGES_WRITE);
        expect_silence(); /* no PUT_ACK, as WRITEBACK_REQ has ended the PUT */
        expect_known(PAGES_UNCACHED, 0, 0);
    }
}

TEST(who_wants_a_page_that_is_being_written_waits)
{
    open_with(true, true);
    give_first(0);
    send(PAGES_PUT, 0);
    send_flagged(PAGES_WRITEBACK_DATA, 0, PAGES_DIRTY);
    skip_all();
    send(PAGES_GETS, 0);
    expect_eq(io, PAGES_WRITE);
    expect_eq(looked, heard_count);
    finish(PAGES_WRITE);
    expect_eq(io, PAGES_READ);
}

TEST(owner_hands_over)
{
    open_with(true, true);
    give_copies(3, true);
    send(PAGES_PUT, 0);
    expect_said(PAGES_OWN, 2, 0);
    expect_silence();
    send(PAGES_OWNED, 2);
    expect_said(PAGES_PUT_ACK, 0, 0);
    expect_known(PAGES_OWNED_SHARED, 2, 2);
    send(PAGES_PUT, 1); /* a sharer */
    expect_said(PAGES_PUT_ACK, 1, 0);
    expect_known(PAGES_EXCLUSIVE, 1, 2);
    expect_silence();
}

TEST(owner_never_hands_over_to_itself)
{
    open_with(true, true);
    give_copies(2, true);
    send(PAGES_SMALL, 4); /* node 1 has had its turn, so node 0 would be next */
    send(PAGES_APPLIED, 1);
    skip_all();
    send(PAGES_PUT, 0);
    expect_said(PAGES_OWN, 1, 0);
}

TEST(owner_writes_back)
{
    open_with(true, false);
    give_copies(3, true);
    send(PAGES_PUT, 0);
    expect_said(PAGES_WRITEBACK_REQ, 0, 0);
    /* The owner's data must be dirty. */
    expect_eq(receive((struct pages_message){.kind = PAGES_WRITEBACK_DATA, .from = 0}), -EPROTO);
    send_flagged(PAGES_WRITEBACK_DATA, 0, PAGES_DIRTY);
    finish(PAGES_WRITE);
    expect_known(PAGES_SHARED, 2, 0);
}

TEST(pages_take_turns)
{
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    open_with(true, true);
    for (uint32_t page = 0; page < 3; page++)
        for (uint16_t node = 0; node < 2; node++) {
            struct pages_message m = {.kind = PAGES_SMALL,
                                      .from = (uint16_t)(2 * node + page % 2),
                                      .to = HOME,
                                      .home = HOME,
                                      .page = page};
            expect_eq(pages_directory_receive(d, &m, &out), 0);
        }
    for (uint32_t page = 0; page < 3; page++) {
        expect_eq(pages_directory_start(d, &out), 1);
        expect_eq(out.page, page);
    }
    expect_eq(pages_directory_start(d, &out), 0); /* the other requests wait for these */
    expect_eq(pages_directory_finished(d, 1, &out), 0);
    expect_eq(pages_directory_start(d, &out), 1);
    expect_eq(out.page, 1);
    expect_eq(pages_directory_finished(d, 7, &out), -EPROTO);
    expect_eq(pages_directory_finished(d, 8, &out), -EPROTO);
}

TEST(more_nodes_than_a_word_has_bits)
{
    enum { MANY = 200 };
    static uint64_t room[4096];
    static struct pages_message messages[MANY + 1];
    struct pages_limits limits = {.nodes = MANY, .window = 1, .pages = 1, .coop = true};
    struct pages_output out = {.messages = messages};
    expect(pages_directory_bytes(&limits) <= sizeof room);
    struct pages_directory *many = pages_directory_open(room, &limits);
    for (uint16_t i = 0; i < MANY; i++) {
        struct pages_message m = {.kind = PAGES_GETS, .from = i};
        expect_eq(pages_directory_receive(many, &m, &out), 0);
        expect_eq(pages_directory_start(many, &out), 1);
        if (i == 0)
            expect_eq(pages_directory_finished(many, 0, &out), 0);
        else
            expect_eq(out.messages[0].to, i - 1);
        m.kind = PAGES_UNBLOCK;
        expect_eq(pages_directory_receive(many, &m, &out), 0);
    }
    pages_directory_check(many);
    struct pages_message m = {.kind = PAGES_GETX, .from = 130};
    expect_eq(pages_directory_receive(many, &m, &out), 0);
    expect_eq(pages_directory_start(many, &out), 1);
    expect_eq(out.count, MANY - 1);
    for (uint16_t i = 0; i < MANY; i++) {
        m = (struct pages_message){.kind = PAGES_IACK, .from = i};
        expect_eq(pages_directory_receive(many, &m, &out), i == 130 ? -EPROTO : 0);
    }
    expect_eq(out.messages[0].kind, PAGES_GRANT);
    pages_directory_check(many);
}
