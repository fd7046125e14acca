/* unit_pages_directory_refused.c: tests that the home refuses limits that are not sound, and messages that no client of ours
 * sends. */
#include <errno.h>

#include "directory_help.h"

TEST(limits_that_are_not_sound)
{
    struct pages_limits good = {.nodes = 2, .window = 1, .pages = 1}, bad;
    expect(pages_directory_bytes(&good) != 0);
    bad = good, bad.nodes = 0;
    expect_eq(pages_directory_bytes(&bad), 0);
    bad = good, bad.nodes = PAGES_NODES + 1;
    expect_eq(pages_directory_bytes(&bad), 0);
    bad = good, bad.window = 0;
    expect_eq(pages_directory_bytes(&bad), 0);
    bad = good, bad.window = PAGES_WINDOW + 1;
    expect_eq(pages_directory_bytes(&bad), 0);
    bad = good, bad.pages = 0;
    expect_eq(pages_directory_bytes(&bad), 0);
    bad = good, bad.home = 2;
    expect_eq(pages_directory_bytes(&bad), 0);
}

TEST(nonsense_is_refused)
{
    open_with(true, true);
    give_copies(3, false);
    uint64_t before[1024];
    memcpy(before, memory, sizeof before);
    for (uint8_t kind = PAGES_FWD_S; kind < PAGES_KINDS; kind++)
        for (uint16_t from = 0; from <= NODES; from++)
            expect_eq(receive((struct pages_message){.kind = kind, .from = from}), -EPROTO);
    expect_eq(receive((struct pages_message){.kind = PAGES_GETS, .from = NODES}), -EPROTO);
    expect(!memcmp(before, memory, sizeof before));
    expect_silence();
}

TEST(acknowledgements_of_those_who_were_not_asked)
{
    open_with(true, true);
    give_copies(3, false);
    send(PAGES_GETX, 4);
    expect_said(PAGES_FWD_X, 2, 4);
    expect_eq(receive((struct pages_message){.kind = PAGES_IACK, .from = 2}), -EPROTO);
    expect_eq(receive((struct pages_message){.kind = PAGES_IACK, .from = 3}), -EPROTO);
    expect_eq(receive((struct pages_message){.kind = PAGES_IACK, .from = 4}), -EPROTO);
    expect_eq(receive((struct pages_message){.kind = PAGES_UNBLOCK, .from = 4}), -EPROTO);
    send(PAGES_IACK, 0);
    expect_eq(receive((struct pages_message){.kind = PAGES_IACK, .from = 0}), -EPROTO);
    send(PAGES_IACK, 1);
    expect_eq(receive((struct pages_message){.kind = PAGES_UNBLOCK, .from = 3}), -EPROTO);
    send(PAGES_UNBLOCK, 4);
}

TEST(more_requests_than_the_window)
{
    open_with(true, true);
    send(PAGES_SMALL, 0); /* a request in progress does not count */
    send(PAGES_SMALL, 0);
    send(PAGES_SMALL, 0);
    expect_eq(receive((struct pages_message){.kind = PAGES_SMALL, .from = 0}), -EPROTO);
    send(PAGES_SMALL, 2);
    for (int i = 0; i < 4; i++)
        finish(PAGES_APPLY);
    expect_known(PAGES_UNCACHED, 0, 0);
}

TEST(copy_asked_for_by_who_has_one)
{
    struct pages_message messages[NODES + 1], m = {.kind = PAGES_GETS, .from = 2, .to = HOME, .home = HOME};
    struct pages_output out = {.messages = messages};
    open_with(true, true);
    give_copies(3, false);
    m.page = PAGE;
    expect_eq(pages_directory_receive(d, &m, &out), 0);
    expect_eq(pages_directory_start(d, &out), -EPROTO);
    expect_eq(out.page, PAGE);
    expect_eq(out.refused, 2);
    expect_eq(out.count, 0);
    expect_known(PAGES_SHARED, 3, 0);
    expect_eq(pages_directory_start(d, &out), 0);
}
