/* pages_world.h: a few caches, the directory of their home and the network between them, all in one struct that can
 * be copied, compared and stored: the state that unit_pages_explore explores. It runs the code of src/pages itself.
 *
 * The data is reduced to one bit: whether a copy is *fresh*, equal to what was written last. A write makes all copies
 * stale except the one written to, wherever they are: in frames, in the NVM, in the home's buffer, in messages.
 *
 * A node has one thread that holds at most one pin per page, and in addition one small operation. It writes under a
 * pin at its release, which is the worst time. */
#ifndef HEARTH_TEST_PAGES_WORLD_H
#define HEARTH_TEST_PAGES_WORLD_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/protocol/controller.h"
#include "pages/protocol/directory.h"

enum { WORLD_NODES = 3, WORLD_PAGES = 2, WORLD_MESSAGES = 24, WORLD_DIRECTORY = 640 };

/* What nodes may do on their own. */
enum {
    MAY_READ = 1,
    MAY_WRITE = 2,
    MAY_EVICT = 4,
    MAY_PREFETCH = 8,
    MAY_SMALL_GET = 16,
    MAY_SMALL_PUT = 32,
    MAY_MAP = 64,
    MAY_OVERWRITE = 128,
    MAY_ALL = 255
};

/* Faults of nodes or the network; each must be detected. */
enum fault {
    NO_FAULT,
    OWNED_NOT_WRITTEN, /* an Owned page is evicted without writing it back */
    SHARED_SILENT,     /* a shared copy is dropped without a message */
    GRANTED_EARLY,     /* a write is granted before the invalidations are acknowledged */
    EXCLUSIVE_STORE,   /* E is mapped writable, and a store goes unnoticed */
    FROZEN_READ,       /* a copy is read while its PUT is pending */
    FAULTS
};

struct setup {
    uint32_t nodes, pages;
    uint32_t frames; /* pages that a node may have or have requested at a time; 0: all pages */
    unsigned may;
    bool coop, hand_over;
    bool late;        /* transactions begin some time after they can, not at once */
    bool many_smalls; /* every node may have a small operation pending, not just one node */
    enum fault fault;
};

struct flight {
    struct pages_message m;
    uint64_t fresh; /* of the page that it carries */
};

struct world {
    struct pages_control control[WORLD_PAGES][WORLD_NODES];
    uint8_t fresh[WORLD_PAGES][WORLD_NODES]; /* frames */
    uint8_t nvm[WORLD_PAGES], buffer[WORLD_PAGES], io[WORLD_PAGES];
    uint8_t lowering[WORLD_PAGES][WORLD_NODES]; /* the mapping is being lowered to this level + 1, or 0 */
    uint8_t small[WORLD_NODES];                 /* pending: 1 + 2 * page + writes, or 0 */
    uint8_t early[WORLD_NODES];                 /* a GRANT that was sent too early */
    uint32_t flights;
    uint64_t directory[WORLD_DIRECTORY / 8];
    struct flight flight[WORLD_MESSAGES]; /* last: unused ones are not stored */
};

static struct setup setup;
static struct world now;
static jmp_buf broken; /* where a violated invariant jumps to */
static const char *violation;
static uint8_t state_before; /* of the copy that receives a message */
static bool in_machine;      /* code of src/pages runs: it must not allocate */

static inline void must_hold(bool holds, const char *what) {
    if (holds)
        return;
    violation = what;
    longjmp(broken, 1);
}

static inline struct pages_directory *directory(void) {
    return (struct pages_directory *)now.directory;
}

static inline bool is_frozen(const struct pages_control *c) {
    return c->open == PAGES_PUT && setup.fault != FROZEN_READ;
}

/* The page is being overwritten: its frame may be written to, but not read. */
static inline bool is_filling(const struct pages_control *c) {
    return c->flags & 32 /* FILLING */;
}

/* ---- the network ---- */

static inline bool brings_page(const struct pages_message *m) {
    return (m->kind == PAGES_DATA && !(m->flags & PAGES_OVERWRITE)) ||
           (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY);
}

/* Kept sorted, so that the same messages are the same state. */
static inline void post(const struct pages_message *m, bool fresh) {
    struct flight f = {.m = *m, .fresh = brings_page(m) && fresh};
    must_hold(now.flights < WORLD_MESSAGES, "the network is full");
    uint32_t i = now.flights++;
    for (; i && memcmp(&now.flight[i - 1], &f, sizeof f) > 0; i--)
        now.flight[i] = now.flight[i - 1];
    now.flight[i] = f;
}

static inline struct flight take(uint32_t i) {
    struct flight f = now.flight[i];
    now.flights--;
    memmove(&now.flight[i], &now.flight[i + 1], (now.flights - i) * sizeof f);
    return f;
}

/* ---- reading and writing ---- */

static inline void sort_flights(void) {
    for (uint32_t i = 1; i < now.flights; i++)
        for (uint32_t j = i; j && memcmp(&now.flight[j - 1], &now.flight[j], sizeof now.flight[j]) > 0; j--) {
            struct flight f = now.flight[j];
            now.flight[j] = now.flight[j - 1];
            now.flight[j - 1] = f;
        }
}

/* New data is written to the copy that *at describes, all of it; `written`: a part. */
static inline void overwritten(uint32_t page, uint8_t *at) {
    memset(now.fresh[page], 0, sizeof now.fresh[page]);
    now.nvm[page] = now.buffer[page] = 0;
    for (uint32_t i = 0; i < now.flights; i++)
        if (now.flight[i].m.page == page)
            now.flight[i].fresh = 0;
    *at = 1;
    sort_flights();
}

static inline void written(uint32_t page, uint8_t *at) {
    must_hold(*at, "a write into a stale page");
    overwritten(page, at);
}

/* No other node may be able to read while this one writes. `writer`: a node, or `nodes` for the home itself. */
static inline void must_be_alone(uint32_t page, uint32_t writer) {
    for (uint32_t i = 0; i < setup.nodes; i++) {
        const struct pages_control *c = &now.control[page][i];
        must_hold(i == writer || c->state == PAGES_I || is_frozen(c), "a writer while another has a copy");
    }
}

/* ---- actions that the state machines request ---- */

static inline void do_output(struct pages_output *out) {
    for (uint32_t i = 0; i < out->count; i++) {
        const struct pages_message *m = &out->messages[i];
        if (setup.fault == GRANTED_EARLY && m->kind == PAGES_INV && !now.early[0]) {
            /* notifies all waiting ones at once, and not again */
            for (uint32_t r = 0; r < setup.nodes; r++)
                if (now.control[m->page][r].open == PAGES_GETX &&
                    pages_directory_look(directory(), m->page).busy == PAGES_GETX) {
                    struct pages_message g = *m;
                    g.kind = PAGES_GRANT;
                    g.to = (uint16_t)r;
                    now.early[0] = 1;
                    post(&g, false);
                    break;
                }
        }
        if (m->kind == PAGES_GRANT && now.early[0])
            now.early[0] = 0;
        else
            post(m, now.buffer[m->page]);
        if (m->kind == PAGES_DATA)
            now.buffer[m->page] = 0;
    }
    if (out->io)
        now.io[out->page] = (uint8_t)out->io;
}

/* Returns whether there was one. */
static inline bool start_one(void) {
    struct pages_message messages[WORLD_NODES + 1];
    struct pages_output out = {.messages = messages};
    in_machine = true;
    int got = pages_directory_start(directory(), &out);
    in_machine = false;
    must_hold(got >= 0, "the directory refuses a request");
    must_hold(out.count <= setup.nodes + 1, "too many messages at once");
    do_output(&out);
    pages_directory_check(directory());
    return got;
}

static inline void start_all(void) {
    while (!setup.late && start_one())
        ;
    pages_directory_check(directory());
}

static inline void do_effects(uint32_t page, uint32_t node, const struct pages_effects *e) {
    must_hold(e->count <= 2, "too many messages at once");
    if (e->actions & (PAGES_UNMAP | PAGES_PROTECT)) {
        must_hold(!now.lowering[page][node], "asked twice");
        now.lowering[page][node] = 1 + (e->actions & PAGES_UNMAP ? PAGES_UNMAPPED : PAGES_TO_READ);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        struct pages_message m = e->messages[i];
        bool lost =
            setup.fault == OWNED_NOT_WRITTEN && m.kind == PAGES_WRITEBACK_DATA && state_before == PAGES_O;
        post(&m, now.fresh[page][node] && !lost);
    }
    if (now.control[page][node].state == PAGES_I && !(now.control[page][node].flags & 1 /* HAS_DATA */))
        now.fresh[page][node] = 0;
    pages_control_check(&now.control[page][node]);
}

/* ---- steps ---- */

static inline void receive_at_home(const struct flight *f) {
    struct pages_message messages[WORLD_NODES + 1];
    struct pages_output out = {.messages = messages};
    if (f->m.kind == PAGES_WRITEBACK_DATA && f->m.flags & PAGES_DIRTY)
        now.buffer[f->m.page] = (uint8_t)f->fresh;
    in_machine = true;
    int err = pages_directory_receive(directory(), &f->m, &out);
    in_machine = false;
    must_hold(err == 0, "a message that the directory does not expect");
    must_hold(out.count + (out.io != PAGES_NO_IO) <= 1, "more than one thing to do");
    do_output(&out);
    start_all();
}

static inline void receive_at_cache(const struct flight *f) {
    uint32_t page = f->m.page, node = f->m.to;
    struct pages_control *c = &now.control[page][node];
    struct pages_effects e;
    state_before = c->state;
    in_machine = true;
    int err = pages_control_receive(c, &f->m, &e);
    in_machine = false;
    must_hold(err == 0, "a message that the cache does not expect");
    if (f->m.kind == PAGES_DATA)
        now.fresh[page][node] = (uint8_t)f->fresh;
    if (e.actions & PAGES_FRAME_APPLY && f->m.flags & PAGES_WRITES) {
        must_be_alone(page, node);
        written(page, &now.fresh[page][node]);
    }
    must_hold(!(e.actions & PAGES_FRAME_APPLY) || now.fresh[page][node], "a small get of stale data");
    do_effects(page, node, &e);
}

static inline void deliver(uint32_t i) {
    struct flight f = take(i);
    if (f.m.kind == PAGES_ANSWER) {
        must_hold(now.small[f.m.to] && f.m.tag == now.small[f.m.to], "an answer that nobody waits for");
        now.small[f.m.to] = 0;
    } else if (pages_is_for_home((enum pages_kind)f.m.kind)) {
        receive_at_home(&f);
    } else {
        receive_at_cache(&f);
    }
}

static inline void finish_io(uint32_t page) {
    struct pages_message messages[WORLD_NODES + 1];
    struct pages_output out = {.messages = messages};
    enum pages_io io = (enum pages_io)now.io[page];
    now.io[page] = 0;
    if (io == PAGES_READ)
        now.buffer[page] = now.nvm[page];
    if (io == PAGES_WRITE)
        now.nvm[page] = now.buffer[page];
    in_machine = true;
    int err = pages_directory_finished(directory(), page, &out);
    in_machine = false;
    must_hold(err == 0, "I/O that the directory does not expect");
    must_hold(out.count + (out.io != PAGES_NO_IO) <= 1, "more than one thing to do");
    if (io == PAGES_APPLY) {
        must_hold(out.count == 1 && out.messages[0].kind == PAGES_ANSWER, "no answer");
        must_hold(now.nvm[page], "a small operation on stale data");
        if (out.messages[0].tag % 2 == 0) {
            must_be_alone(page, setup.nodes);
            written(page, &now.nvm[page]);
        }
    }
    do_output(&out);
    if (io == PAGES_WRITE)
        now.buffer[page] = 0;
    start_all();
}

/* Whether the node has the page in a frame, or has a frame for it. */
static inline bool has_frame(uint32_t page, uint32_t node) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < setup.pages; i++) {
        bool uses = now.control[i][node].state != PAGES_I || now.control[i][node].open;
        if (uses && i == page)
            return true;
        used += uses;
    }
    return !setup.frames || used < setup.frames;
}

enum access { TO_READ, TO_WRITE, TO_OVERWRITE };

static inline bool acquire(uint32_t page, uint32_t node, enum access access) {
    struct pages_control *c = &now.control[page][node];
    struct pages_effects e;
    if (!has_frame(page, node) || c->readers || c->writers || c->waiting_readers || c->waiting_writers)
        return false;
    in_machine = true;
    enum pages_got got = access == TO_OVERWRITE ? pages_control_overwrite(c, &e)
                                                : pages_control_acquire(c, access == TO_WRITE, &e);
    in_machine = false;
    do_effects(page, node, &e);
    return got != PAGES_LATER;
}

/* Releases the pin, with the page mapped or not. */
static inline void release(uint32_t page, uint32_t node, bool map) {
    struct pages_control *c = &now.control[page][node];
    struct pages_effects e;
    bool write = c->writers;
    if (write) {
        must_be_alone(page, node);
        (is_filling(c) ? overwritten : written)(page, &now.fresh[page][node]);
    }
    if (map)
        pages_control_map(c, write ? PAGES_TO_WRITE : PAGES_TO_READ);
    in_machine = true;
    pages_control_release(c, write, &e);
    in_machine = false;
    do_effects(page, node, &e);
}

/* The application stores through its mapping. */
static inline bool store(uint32_t page, uint32_t node) {
    const struct pages_control *c = &now.control[page][node];
    bool wrong = setup.fault == EXCLUSIVE_STORE && c->state == PAGES_E && !is_frozen(c);
    if (c->mapped != PAGES_TO_WRITE && !wrong)
        return false;
    must_be_alone(page, node);
    written(page, &now.fresh[page][node]);
    return true;
}

static inline bool evict(uint32_t page, uint32_t node) {
    struct pages_control *c = &now.control[page][node];
    struct pages_effects e;
    if (setup.fault == SHARED_SILENT && c->state == PAGES_S && pages_control_is_idle(c) && !c->mapped) {
        c->state = PAGES_I;
        now.fresh[page][node] = 0;
        return true;
    }
    bool began = pages_control_evict(c, &e);
    do_effects(page, node, &e);
    return began;
}

static inline bool prefetch(uint32_t page, uint32_t node) {
    struct pages_effects e;
    if (!has_frame(page, node))
        return false;
    bool asked = pages_control_prefetch(&now.control[page][node], &e);
    do_effects(page, node, &e);
    return asked;
}

static inline void unmapped(uint32_t page, uint32_t node, enum pages_level level) {
    struct pages_effects e;
    now.lowering[page][node] = 0;
    pages_control_unmapped(&now.control[page][node], level, &e);
    do_effects(page, node, &e);
}

static inline bool ask_small(uint32_t page, uint32_t node, bool write) {
    for (uint32_t i = 0; i < setup.nodes; i++)
        if (now.small[i] && (i == node || !setup.many_smalls))
            return false;
    now.small[node] = (uint8_t)(1 + 2 * page + write);
    struct pages_message m = {.kind = PAGES_SMALL,
                              .from = (uint16_t)node,
                              .page = page,
                              .tag = now.small[node],
                              .flags = write ? PAGES_WRITES : 0};
    post(&m, false);
    return true;
}

/* ---- invariants ---- */

/* While a node overwrites the page, nobody needs the latest data. */
static inline void check_page(uint32_t page) {
    bool latest = now.nvm[page] || now.buffer[page] || pages_directory_look(directory(), page).overwrites;
    uint32_t writer = setup.nodes;
    for (uint32_t i = 0; i < setup.nodes; i++) {
        const struct pages_control *c = &now.control[page][i];
        latest |= now.fresh[page][i];
        must_hold(c->state == PAGES_I || is_frozen(c) || is_filling(c) || now.fresh[page][i],
                  "a stale copy can be read");
        if (!is_frozen(c) && (c->state == PAGES_M || c->state == PAGES_E))
            writer = i;
    }
    if (writer != setup.nodes)
        must_be_alone(page, writer);
    for (uint32_t i = 0; i < now.flights; i++)
        latest |= now.flight[i].m.page == page && now.flight[i].fresh;
    must_hold(latest, "the latest data is lost");
}

static inline bool is_quiet(void) {
    for (uint32_t page = 0; page < setup.pages; page++)
        for (uint32_t i = 0; i < setup.nodes; i++)
            if (!pages_control_is_idle(&now.control[page][i]) || now.small[i])
                return false;
    return !now.flights && pages_directory_is_idle(directory());
}

/* If nothing is pending, the directory knows exactly which node has which copy. */
static inline void check_quiet(uint32_t page) {
    struct pages_look look = pages_directory_look(directory(), page);
    uint32_t counts[PAGES_O + 1] = {0};
    for (uint32_t i = 0; i < setup.nodes; i++) {
        uint8_t state = now.control[page][i].state;
        counts[state]++;
        must_hold(pages_directory_holds(directory(), page, i) == (state != PAGES_I), "who has a copy");
        must_hold(!now.buffer[page] && !now.io[page], "a buffer is left over");
    }
    uint32_t sole = counts[PAGES_E] + counts[PAGES_M];
    bool dirty = counts[PAGES_M] || counts[PAGES_O];
    must_hold(dirty || now.nvm[page], "the NVM is older, and nobody knows");
    must_hold(sole + counts[PAGES_O] <= 1 && (!sole || !counts[PAGES_S]), "two who own it");
    must_hold((look.known == PAGES_UNCACHED) == (counts[PAGES_I] == setup.nodes), "not uncached");
    must_hold((look.known == PAGES_SHARED) == (counts[PAGES_S] && !counts[PAGES_O]), "not shared");
    must_hold((look.known == PAGES_OWNED_SHARED) == (counts[PAGES_O] && counts[PAGES_S]), "not owned");
}

static inline void check_world(void) {
    for (uint32_t page = 0; page < setup.pages; page++)
        check_page(page);
    for (uint32_t page = 0; page < setup.pages && is_quiet(); page++)
        check_quiet(page);
}

static inline void open_world(void) {
    struct pages_limits limits = {.nodes = setup.nodes,
                                  .window = 2 * setup.pages,
                                  .pages = setup.pages,
                                  .coop = setup.coop,
                                  .hand_over = setup.hand_over};
    size_t bytes = pages_directory_bytes(&limits);
    memset(&now, 0, sizeof now);
    if (!bytes || bytes > sizeof now.directory)
        abort();
    pages_directory_open(now.directory, &limits);
    for (uint32_t page = 0; page < setup.pages; page++) {
        now.nvm[page] = 1;
        for (uint32_t i = 0; i < setup.nodes; i++)
            pages_control_open(&now.control[page][i], (uint16_t)i, 0, page);
    }
}

#endif
