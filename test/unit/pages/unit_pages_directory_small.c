/* unit_pages_directory_small.c: tests small operations, which the home or a holder applies without moving the page. */
#include "directory_help.h"

TEST(k_requests_are_served_by_k_holders)
{
    open_with(true, true);
    give_copies(4, true);
    unsigned served[NODES] = {0};
    for (int i = 0; i < 8; i++) {
        send(PAGES_SMALL, 4);
        struct pages_message m = next();
        expect_eq(m.kind, PAGES_FWD_SMALL);
        if (i == 0)
            expect_eq(m.to, 3); /* the newest sharer */
        served[m.to]++;
        send(PAGES_APPLIED, m.to);
    }
    for (int i = 0; i < 4; i++)
        expect_eq(served[i], 2);
}

TEST(small_operations_of_what_nobody_has)
{
    open_with(true, true);
    for (uint8_t flags = 0; flags <= PAGES_WRITES; flags += PAGES_WRITES) {
        struct pages_message small = {
            .kind = PAGES_SMALL, .from = 2, .flags = flags, .tag = 77, .cookie = 0x1234567890};
        expect_eq(receive(small), 0);
        expect_eq(io_cookie, 0x1234567890);
        finish(PAGES_APPLY);
        struct pages_message m = next();
        expect(m.kind == PAGES_ANSWER && m.to == 2 && m.tag == 77 && m.cookie == 0x1234567890);
        expect_known(PAGES_UNCACHED, 0, 0);
    }
}

TEST(small_put_makes_a_sharer_the_owner)
{
    open_with(true, true);
    give_copies(3, false);
    send_flagged(PAGES_SMALL, 4, PAGES_WRITES);
    struct pages_message a = next(), b = next();
    expect(a.kind == PAGES_INV && b.kind == PAGES_INV);
    uint16_t stays = (uint16_t)(3 - a.to - b.to); /* of 0, 1, 2 */
    send(PAGES_IACK, a.to);
    expect_silence(); /* not before all others have lost their copies */
    send(PAGES_IACK, b.to);
    expect_said(PAGES_FWD_SMALL, stays, 4);
    send(PAGES_APPLIED, stays);
    expect_known(PAGES_EXCLUSIVE, 1, stays);
    expect_silence(); /* the NVM was not read */
}

TEST(small_put_to_the_only_sharer)
{
    open_with(true, true);
    give_copies(2, false);
    send(PAGES_PUT, 0);
    expect_said(PAGES_PUT_ACK, 0, 0);
    send_flagged(PAGES_SMALL, 4, PAGES_WRITES);
    expect_said(PAGES_FWD_SMALL, 1, 4);
    send(PAGES_APPLIED, 1);
    expect_known(PAGES_EXCLUSIVE, 1, 1);
}

TEST(small_put_to_the_dirty_holder)
{
    open_with(true, true);
    give_copies(3, true);
    struct pages_message small = {
        .kind = PAGES_SMALL, .from = 4, .flags = PAGES_WRITES, .tag = 5, .cookie = 9};
    expect_eq(receive(small), 0);
    expect_said(PAGES_INV, 1, 0);
    expect_said(PAGES_INV, 2, 0);
    send(PAGES_IACK, 1);
    expect_silence(); /* not before all others have lost their copies */
    send(PAGES_IACK, 2);
    struct pages_message m = next();
    expect(m.kind == PAGES_FWD_SMALL && m.to == 0 && m.peer == 4 && m.tag == 5 && m.cookie == 9);
    expect_eq(m.flags, PAGES_WRITES);
    send(PAGES_APPLIED, 0);
    expect_known(PAGES_EXCLUSIVE, 1, 0);
    expect_eq(receive(small), 0); /* later small puts invalidate nothing */
    expect_said(PAGES_FWD_SMALL, 0, 4);
    expect_silence();
}

TEST(small_get_disturbs_nobody)
{
    open_with(true, true);
    give_copies(3, true);
    send(PAGES_SMALL, 4);
    expect_said(PAGES_FWD_SMALL, 2, 4);
    send(PAGES_APPLIED, 2);
    expect_known(PAGES_OWNED_SHARED, 3, 0);
    expect_silence();
}
