/* unit_pages_directory_alone.c: tests the home's side of the protocol without cooperation: the home serves all requests, and
 * holders never serve each other. */
#include "directory_help.h"

TEST(small_put_to_what_is_shared_without_cooperation)
{
    open_with(false, true);
    give_first(0);
    send(PAGES_GETS, 1);
    send(PAGES_WRITEBACK_DATA, 0);
    finish(PAGES_READ);
    send(PAGES_UNBLOCK, 1);
    skip_all();
    send_flagged(PAGES_SMALL, 1, PAGES_WRITES); /* from one of the sharers */
    expect_said(PAGES_INV, 0, 0);
    expect_said(PAGES_INV, 1, 0);
    send(PAGES_IACK, 1);
    expect_silence();
    send(PAGES_IACK, 0);
    finish(PAGES_APPLY);
    expect_said(PAGES_ANSWER, 1, 0);
    expect_known(PAGES_UNCACHED, 0, 0);
}

TEST(readers_are_served_by_the_home)
{
    open_with(false, true);
    give_first(0);
    for (int dirty = 1; dirty >= 0; dirty--) {
        open_with(false, true);
        give_first(0);
        send(PAGES_GETS, 2);
        expect_said(PAGES_RECALL_S, 0, 2);
        expect_silence();
        send_flagged(PAGES_WRITEBACK_DATA, 0, dirty ? PAGES_DIRTY : 0);
        finish(dirty ? PAGES_WRITE : PAGES_READ);
        struct pages_message m = next();
        expect(m.kind == PAGES_DATA && m.to == 2 && m.state == PAGES_S);
        send(PAGES_UNBLOCK, 2);
        expect_known(PAGES_SHARED, 2, 0);
        send(PAGES_GETS, 3);
        finish(PAGES_READ);
        expect_said(PAGES_DATA, 3, 0);
        send(PAGES_UNBLOCK, 3);
        expect_known(PAGES_SHARED, 3, 0);
    }
}

TEST(writers_are_served_by_the_home)
{
    open_with(false, true);
    give_first(0);
    send(PAGES_GETX, 2);
    expect_said(PAGES_RECALL_X, 0, 2);
    send_flagged(PAGES_WRITEBACK_DATA, 0, PAGES_DIRTY);
    finish(PAGES_WRITE);
    struct pages_message m = next();
    expect(m.kind == PAGES_DATA && m.to == 2 && m.state == PAGES_M && m.flags == PAGES_GRANTED);
    send(PAGES_UNBLOCK, 2);
    expect_known(PAGES_EXCLUSIVE, 1, 2);
}

TEST(home_reads_while_others_drop_theirs)
{
    for (int order = 0; order < 2; order++) {
        open_with(false, true);
        give_first(0);
        send(PAGES_GETS, 1);
        send(PAGES_WRITEBACK_DATA, 0);
        finish(PAGES_READ);
        send(PAGES_UNBLOCK, 1);
        skip_all();
        send(PAGES_GETX, 2);
        expect_said(PAGES_INV, 0, 0);
        expect_said(PAGES_INV, 1, 0);
        if (order)
            finish(PAGES_READ);
        send(PAGES_IACK, 0);
        send(PAGES_IACK, 1);
        expect_eq(looked, order ? heard_count - 1 : heard_count);
        if (!order)
            finish(PAGES_READ);
        struct pages_message m = next();
        expect(m.kind == PAGES_DATA && m.state == PAGES_M && m.flags == PAGES_GRANTED);
        send(PAGES_UNBLOCK, 2);
        expect_known(PAGES_EXCLUSIVE, 1, 2);
    }
}
