/* unit_pages_directory.c: tests the home's side of the protocol, transaction by transaction as in the table of
 * protocol.h. */
#include <errno.h>

#include "pages/protocol/directory.h"
#include "test.h"

enum { NODES = 5, HOME = 1, PAGE = 3, ROOM = 64 };

static struct pages_directory *d;
static uint64_t memory[1024];
/* Messages since the last check, and the I/O requested. */
static struct pages_message heard[ROOM];
static unsigned heard_count, looked;
static enum pages_io io;
static uint64_t io_cookie;

static void collect(const struct pages_output *out) {
    for (uint32_t i = 0; i < out->count; i++)
        heard[heard_count++ % ROOM] = out->messages[i];
    if (!out->io)
        return;
    expect_eq(out->page, PAGE);
    io = out->io;
    io_cookie = out->cookie;
}

static void start_all(void) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    while (pages_directory_start(d, &out) > 0)
        collect(&out);
    pages_directory_check(d);
}

static int receive(struct pages_message m) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    m.home = m.to = HOME;
    m.page = PAGE;
    int err = pages_directory_receive(d, &m, &out);
    collect(&out);
    start_all();
    return err;
}

static void send_flagged(enum pages_kind kind, uint16_t from, uint8_t flags) {
    expect_eq(receive((struct pages_message){.kind = (uint8_t)kind, .from = from, .flags = flags}), 0);
}

static void send(enum pages_kind kind, uint16_t from) {
    send_flagged(kind, from, 0);
}

static void finish(enum pages_io what) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    expect_eq(io, what);
    io = PAGES_NO_IO;
    expect_eq(pages_directory_finished(d, PAGE, &out), 0);
    collect(&out);
    start_all();
}

static void open_with(bool coop, bool hand_over) {
    struct pages_limits limits = {
        .nodes = NODES, .window = 2, .pages = 8, .home = HOME, .coop = coop, .hand_over = hand_over};
    memset(memory, 0, sizeof memory);
    expect(pages_directory_bytes(&limits) && pages_directory_bytes(&limits) <= sizeof memory);
    d = pages_directory_open(memory, &limits);
    heard_count = looked = 0;
    io = PAGES_NO_IO;
}

static struct pages_message next(void) {
    expect(looked < heard_count);
    return looked < heard_count ? heard[looked++ % ROOM] : (struct pages_message){0};
}

/* Checks the next message. */
#define expect_said(kind_, to_, peer_)                                                                       \
    do {                                                                                                     \
        struct pages_message m_ = next();                                                                    \
        expect_eq(m_.kind, kind_);                                                                           \
        expect_eq(m_.to, to_);                                                                               \
        expect_eq(m_.peer, peer_);                                                                           \
        expect_eq(m_.from, HOME);                                                                            \
        expect_eq(m_.page, PAGE);                                                                            \
    } while (0)

static void expect_silence(void) {
    expect_eq(looked, heard_count);
    expect_eq(io, PAGES_NO_IO);
}

static void expect_known(enum pages_known known, uint32_t holders, uint32_t owner) {
    struct pages_look look = pages_directory_look(d, PAGE);
    expect_eq(look.known, known);
    expect_eq(look.holders, holders);
    expect_eq(look.owner, owner);
    expect_eq(look.busy, PAGES_NOTHING);
    expect(pages_directory_is_idle(d));
}

static void skip_all(void) {
    looked = heard_count;
}

/* The node gets its first copy, which is E. */
static void give_first(uint16_t node) {
    send(PAGES_GETS, node);
    finish(PAGES_READ);
    send(PAGES_UNBLOCK, node);
    skip_all();
}

/* Gives copies to `count` nodes. `dirty`: node 0 has written the page. */
static void give_copies(unsigned count, bool dirty) {
    give_first(0);
    for (uint16_t i = 1; i < count; i++) {
        send(PAGES_GETS, i);
        send_flagged(PAGES_UNBLOCK, i, dirty && i == 1 ? PAGES_DIRTY : 0);
    }
    skip_all();
    expect_known(dirty ? PAGES_OWNED_SHARED : PAGES_SHARED, count, 0);
}

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

/* ---- without cooperation ---- */

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

/* ---- messages that no client of ours sends ---- */

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
