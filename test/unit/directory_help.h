/* directory_help.h: a directory of one home, for tests of the home's side of the protocol: messages to it, and what it says
 * and does in return. */
#ifndef HEARTH_TEST_DIRECTORY_HELP_H
#define HEARTH_TEST_DIRECTORY_HELP_H

#include "pages/protocol/directory.h"
#include "test.h"

enum { NODES = 5, HOME = 1, PAGE = 3, ROOM = 64 };

static struct pages_directory *d;
static uint64_t memory[1024];
/* Messages since the last check, and the I/O requested. `looked`: how many of them next() has returned. */
static struct pages_message heard[ROOM];
static unsigned heard_count, looked;
static enum pages_io io;
static uint64_t io_cookie;

static inline void collect(const struct pages_output *out) {
    for (uint32_t i = 0; i < out->count; i++)
        heard[heard_count++ % ROOM] = out->messages[i];
    if (!out->io)
        return;
    expect_eq(out->page, PAGE);
    io = out->io;
    io_cookie = out->cookie;
}

static inline void start_all(void) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    while (pages_directory_start(d, &out) > 0)
        collect(&out);
    pages_directory_check(d);
}

static inline int receive(struct pages_message m) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    m.home = m.to = HOME;
    m.page = PAGE;
    int err = pages_directory_receive(d, &m, &out);
    collect(&out);
    start_all();
    return err;
}

static inline void send_flagged(enum pages_kind kind, uint16_t from, uint8_t flags) {
    expect_eq(receive((struct pages_message){.kind = (uint8_t)kind, .from = from, .flags = flags}), 0);
}

static inline void send(enum pages_kind kind, uint16_t from) {
    send_flagged(kind, from, 0);
}

static inline void finish(enum pages_io what) {
    struct pages_message messages[NODES + 1];
    struct pages_output out = {.messages = messages};
    expect_eq(io, what);
    io = PAGES_NO_IO;
    expect_eq(pages_directory_finished(d, PAGE, &out), 0);
    collect(&out);
    start_all();
}

static inline void open_with(bool coop, bool hand_over) {
    struct pages_limits limits = {
        .nodes = NODES, .window = 2, .pages = 8, .home = HOME, .coop = coop, .hand_over = hand_over};
    memset(memory, 0, sizeof memory);
    expect(pages_directory_bytes(&limits) && pages_directory_bytes(&limits) <= sizeof memory);
    d = pages_directory_open(memory, &limits);
    heard_count = looked = 0;
    io = PAGES_NO_IO;
}

static inline struct pages_message next(void) {
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

static inline void expect_silence(void) {
    expect_eq(looked, heard_count);
    expect_eq(io, PAGES_NO_IO);
}

static inline void expect_known(enum pages_known known, uint32_t holders, uint32_t owner) {
    struct pages_look look = pages_directory_look(d, PAGE);
    expect_eq(look.known, known);
    expect_eq(look.holders, holders);
    expect_eq(look.owner, owner);
    expect_eq(look.busy, PAGES_NOTHING);
    expect(pages_directory_is_idle(d));
}

static inline void skip_all(void) {
    looked = heard_count;
}

/* The node gets its first copy, which is E. */
static inline void give_first(uint16_t node) {
    send(PAGES_GETS, node);
    finish(PAGES_READ);
    send(PAGES_UNBLOCK, node);
    skip_all();
}

/* Gives copies to `count` nodes. `dirty`: node 0 has written the page. */
static inline void give_copies(unsigned count, bool dirty) {
    give_first(0);
    for (uint16_t i = 1; i < count; i++) {
        send(PAGES_GETS, i);
        send_flagged(PAGES_UNBLOCK, i, dirty && i == 1 ? PAGES_DIRTY : 0);
    }
    skip_all();
    expect_known(dirty ? PAGES_OWNED_SHARED : PAGES_SHARED, count, 0);
}

#endif
