/* directory.c: the directory: holders of each page, and one transaction per page at a time.
 *
 * Layout in memory, one contiguous block without pointers:
 *
 *      struct pages_directory | slots: a word per node | requests: window per node | entries: one per page
 *
 * Requests wait in the queue of their page, linked by number. Each node has `window` requests of its own, and `slots`
 * has a bit for each that is in use. A node never has more than that many open, so a free one always exists. A request
 * leaves the queue when its transaction starts, that is, before the requester can get its answer and send another
 * request.
 *
 * An entry has a bit for each node that holds a copy (`holders`, including the owner), the transaction under way, and
 * the set of events that it waits for (`awaits`). Every message or I/O completion removes one event. Until the
 * transaction ends, `known` keeps the state from before it, with two exceptions: WRITEBACK_DATA removes the owner, and a
 * remote write appoints an owner and makes it the only holder. In `holders` a bit is cleared when the IACK or
 * WRITEBACK_DATA of that node arrives.
 *
 * Idle pages with queued requests are in the FIFO list `ready`. This is fair to nodes at each page, and to pages at the
 * home.
 *
 * `turn` implements F (protocol.h): the next holder to serve is the first one at or after `turn`, round robin by node
 * number. The node that received a copy last serves next, as its copy is likely still in its CPU caches. Then follows
 * its successor, so k requests are served by k different holders, unless new holders arrive in between. */
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "pages/protocol/directory_internal.h"

size_t pages_directory_bytes(const struct pages_limits *l) {
    if (!l->nodes || l->nodes > PAGES_NODES || !l->window || l->window > PAGES_WINDOW || !l->pages ||
        l->pages == UINT32_MAX || l->home >= l->nodes)
        return 0;
    return sizeof(struct pages_directory) + l->nodes * sizeof(uint64_t) +
           (size_t)l->nodes * l->window * sizeof(struct directory_request) +
           (size_t)l->pages * pages_entry_bytes((l->nodes + 63) / 64);
}

struct pages_directory *pages_directory_open(void *memory, const struct pages_limits *limits) {
    struct pages_directory *d = memory;
    d->limits = *limits;
    d->words = (limits->nodes + 63) / 64;
    return d;
}

void pages_directory_hand_over(struct pages_directory *d, bool hand_over) {
    d->limits.hand_over = hand_over;
}

/* ---- output ---- */

/* Returns F and advances the turn. `but`: a node to skip, if another holder exists. */
static uint16_t take_turn(const struct pages_directory *d, struct directory_entry *e, uint32_t but) {
    uint32_t node = pages_holder_next(d, e, e->turn);
    if (node == but)
        node = pages_holder_next(d, e, node + 1);
    e->turn = (uint16_t)((node + 1) % d->limits.nodes);
    return (uint16_t)node;
}

static struct pages_message *directory_say(const struct pages_directory *d, uint32_t page,
                                           enum pages_kind kind, uint16_t to, struct pages_output *out) {
    struct pages_message *m = &out->messages[out->count++];
    *m = (struct pages_message){
        .kind = (uint8_t)kind, .from = d->limits.home, .to = to, .home = d->limits.home, .page = page};
    return m;
}

static struct pages_message *forward(const struct pages_directory *d, uint32_t page,
                                     struct directory_entry *e, enum pages_kind kind, uint16_t to,
                                     struct pages_output *out) {
    struct pages_message *m = directory_say(d, page, kind, to, out);
    m->peer = e->requester;
    e->source = to;
    return m;
}

static void directory_send_data(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                                enum pages_state as, struct pages_output *out) {
    struct pages_message *m = directory_say(d, page, PAGES_DATA, e->requester, out);
    m->state = (uint8_t)as;
    m->flags = (uint8_t)((as == PAGES_M ? PAGES_GRANTED : 0) | (e->flags & PAGES_OVERWRITE));
    e->awaits = UNBLOCK;
}

static void do_io(uint32_t page, struct directory_entry *e, enum pages_io io, struct pages_output *out) {
    out->io = io;
    out->page = page;
    out->cookie = e->cookie;
    out->requester = e->requester;
    e->awaits |= io == PAGES_READ ? READ : io == PAGES_WRITE ? WRITTEN : APPLIED_HERE;
}

static void directory_begin(struct pages_output *out) {
    out->count = out->page = out->refused = 0;
    out->io = PAGES_NO_IO;
    out->requester = 0;
    out->cookie = 0;
}

/* Sends INV to all holders except `but` and `nor`. */
static void invalidate(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                       uint32_t but, uint32_t nor, struct pages_output *out) {
    for (uint32_t i = pages_holder_from(d, e, 0); i != NONE; i = pages_holder_from(d, e, i + 1))
        if (i != but && i != nor) {
            directory_say(d, page, PAGES_INV, (uint16_t)i, out)->flags = e->flags & PAGES_OVERWRITE;
            e->acks++;
        }
    if (e->acks)
        e->awaits |= ACKS;
}

/* ---- queues ---- */

static void make_ready(struct pages_directory *d, uint32_t page) {
    if (d->last_ready)
        pages_entry_of(d, d->last_ready - 1)->next_ready = page + 1;
    else
        d->first_ready = page + 1;
    d->last_ready = page + 1;
}

static int directory_enqueue(struct pages_directory *d, struct directory_entry *e,
                             const struct pages_message *m) {
    uint64_t all = UINT64_MAX >> (64 - d->limits.window), free = all & ~d->slots[m->from];
    if (!free)
        return -EPROTO;
    uint32_t slot = (uint32_t)__builtin_ctzll(free), number = m->from * d->limits.window + slot;
    d->slots[m->from] |= UINT64_C(1) << slot;
    *pages_request_of(d, number) = (struct directory_request){
        .cookie = m->cookie, .tag = m->tag, .from = m->from, .kind = m->kind, .flags = m->flags};
    if (e->last)
        pages_request_of(d, e->last - 1)->next = number + 1;
    else
        e->first = number + 1;
    if (!e->last && !e->kind)
        make_ready(d, m->page);
    e->last = number + 1;
    d->open++;
    return 0;
}

/* Turns the next queued request into the transaction under way. */
static void dequeue(struct pages_directory *d, struct directory_entry *e) {
    uint32_t number = e->first - 1;
    struct directory_request *r = pages_request_of(d, number);
    if (!(e->first = r->next))
        e->last = 0;
    e->requester = r->from;
    e->kind = r->kind;
    e->flags = r->flags;
    e->tag = r->tag;
    e->cookie = r->cookie;
    d->slots[r->from] &= ~(UINT64_C(1) << number % d->limits.window);
    *r = (struct directory_request){0};
}

/* Ends the transaction. `known` is the new state of the page; where it depends on the holders, see owned and unowned. */
static void directory_end(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                          enum pages_known known) {
    e->known = (uint8_t)known;
    if (known == PAGES_UNCACHED)
        e->turn = 0;
    if (known == PAGES_UNCACHED || known == PAGES_SHARED)
        e->owner = 0;
    e->kind = e->flags = e->awaits = 0;
    e->requester = e->source = 0;
    e->tag = 0;
    e->cookie = 0;
    d->open--;
    if (e->first)
        make_ready(d, page);
}

static enum pages_known unowned(const struct pages_directory *d, const struct directory_entry *e) {
    return pages_holder_count(d, e) ? PAGES_SHARED : PAGES_UNCACHED;
}

static enum pages_known owned(const struct pages_directory *d, const struct directory_entry *e) {
    return pages_holder_count(d, e) > 1 ? PAGES_OWNED_SHARED : PAGES_EXCLUSIVE;
}

/* ---- starting transactions ---- */

static void start_gets(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                       struct pages_output *out) {
    bool alone = e->known == PAGES_EXCLUSIVE;
    if (e->known == PAGES_UNCACHED || (!d->limits.coop && !alone)) {
        do_io(page, e, PAGES_READ, out);
    } else if (!d->limits.coop) {
        forward(d, page, e, PAGES_RECALL_S, e->owner, out);
        e->awaits = WRITEBACK_DATA;
    } else {
        forward(d, page, e, PAGES_FWD_S, alone ? e->owner : take_turn(d, e, NONE), out);
        e->awaits = UNBLOCK;
    }
}

static void directory_grant(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                            struct pages_output *out) {
    directory_say(d, page, PAGES_GRANT, e->requester, out);
    e->awaits = UNBLOCK;
}

/* One holder sends its copy, all others drop theirs. If there is only one holder, its DATA carries the grant. */
static void take_over(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                      struct pages_output *out) {
    uint16_t source = e->known == PAGES_EXCLUSIVE ? e->owner : take_turn(d, e, NONE);
    struct pages_message *m = forward(d, page, e, PAGES_FWD_X, source, out);
    invalidate(d, page, e, source, NONE, out);
    if (!e->acks) {
        m->flags = PAGES_GRANTED;
        e->awaits = UNBLOCK;
    }
}

/* No data moves. directory_send_data sends no page either. */
static void start_overwrite(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                            struct pages_output *out) {
    invalidate(d, page, e, NONE, NONE, out);
    if (!e->acks)
        directory_send_data(d, page, e, PAGES_M, out);
}

static void start_getx(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                       struct pages_output *out) {
    if (e->flags & PAGES_OVERWRITE) {
        start_overwrite(d, page, e, out);
    } else if (pages_holder_has(e, e->requester)) {
        invalidate(d, page, e, e->requester, NONE, out);
        if (!e->acks)
            directory_grant(d, page, e, out);
    } else if (e->known != PAGES_UNCACHED && d->limits.coop) {
        take_over(d, page, e, out);
    } else if (e->known == PAGES_EXCLUSIVE) {
        forward(d, page, e, PAGES_RECALL_X, e->owner, out);
        e->awaits = WRITEBACK_DATA;
    } else {
        invalidate(d, page, e, NONE, NONE, out);
        do_io(page, e, PAGES_READ, out);
    }
}

static void acknowledge_put(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                            bool is_owned, struct pages_output *out) {
    uint16_t leaver = e->requester;
    directory_say(d, page, PAGES_PUT_ACK, leaver, out);
    pages_holder_drop(e, leaver);
    directory_end(d, page, e, is_owned ? owned(d, e) : unowned(d, e));
}

static void directory_start_put(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                                struct pages_output *out) {
    bool is_owned = e->known == PAGES_EXCLUSIVE || e->known == PAGES_OWNED_SHARED;
    if (!is_owned || e->owner != e->requester) { /* a sharer, or it has lost its copy in the meantime */
        acknowledge_put(d, page, e, is_owned, out);
    } else if (e->known == PAGES_OWNED_SHARED && d->limits.hand_over) {
        forward(d, page, e, PAGES_OWN, take_turn(d, e, e->requester), out);
        e->awaits = OWNED;
    } else {
        forward(d, page, e, PAGES_WRITEBACK_REQ, e->requester, out);
        e->awaits = WRITEBACK_DATA;
    }
}

static void forward_small(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                          uint16_t to, struct pages_output *out) {
    struct pages_message *m = forward(d, page, e, PAGES_FWD_SMALL, to, out);
    m->tag = e->tag;
    m->flags = e->flags;
    m->cookie = e->cookie;
    e->awaits = APPLIED;
}

/* Makes one sharer the owner, so that a put needs no NVM access. The home is preferred if it is a sharer. */
static void appoint_owner(const struct pages_directory *d, struct directory_entry *e) {
    e->owner = pages_holder_has(e, d->limits.home) ? d->limits.home : take_turn(d, e, NONE);
    e->known = (uint8_t)owned(d, e);
}

static void start_small(const struct pages_directory *d, uint32_t page, struct directory_entry *e,
                        struct pages_output *out) {
    bool writes = e->flags & PAGES_WRITES;
    if (writes && e->known == PAGES_SHARED && d->limits.coop)
        appoint_owner(d, e);
    if (e->known == PAGES_UNCACHED || (e->known == PAGES_SHARED && !writes && !d->limits.coop))
        do_io(page, e, PAGES_APPLY, out);
    else if (e->known == PAGES_EXCLUSIVE)
        forward_small(d, page, e, e->owner, out);
    else if (!writes)
        forward_small(d, page, e, take_turn(d, e, NONE), out);
    else
        invalidate(d, page, e, e->known == PAGES_OWNED_SHARED ? e->owner : NONE, NONE, out);
}

/* GETS, or GETX to overwrite, from a node that already holds a copy: a correct cache does not send it. */
static int directory_refuse(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                            struct pages_output *out) {
    out->page = page;
    out->refused = e->requester;
    directory_end(d, page, e, (enum pages_known)e->known);
    return -EPROTO;
}

int pages_directory_start(struct pages_directory *d, struct pages_output *out) {
    directory_begin(out);
    if (!d->first_ready)
        return 0;
    uint32_t page = d->first_ready - 1;
    struct directory_entry *e = pages_entry_of(d, page);
    if (!(d->first_ready = e->next_ready))
        d->last_ready = 0;
    e->next_ready = 0;
    dequeue(d, e);
    bool lacks_copy = e->kind == PAGES_GETS || (e->kind == PAGES_GETX && e->flags & PAGES_OVERWRITE);
    if (UNLIKELY(lacks_copy && pages_holder_has(e, e->requester)))
        return directory_refuse(d, page, e, out);
    if (e->kind == PAGES_GETS) {
        start_gets(d, page, e, out);
    } else if (e->kind == PAGES_GETX) {
        start_getx(d, page, e, out);
    } else if (e->kind == PAGES_PUT) {
        directory_start_put(d, page, e, out);
    } else {
        start_small(d, page, e, out);
    }
    return 1;
}

/* ---- continuing transactions ---- */

/* All copies that had to be dropped are gone. */
static void all_acknowledged(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                             struct pages_output *out) {
    if (e->kind == PAGES_SMALL && e->known == PAGES_OWNED_SHARED) {
        e->known = PAGES_EXCLUSIVE;
        forward_small(d, page, e, e->owner, out);
    } else if (e->kind == PAGES_SMALL) {
        do_io(page, e, PAGES_APPLY, out);
    } else if (pages_holder_count(
                   d, e)) { /* a copy is left: the requester's, or that of the holder that sends it */
        directory_grant(d, page, e, out);
    } else if (!e->awaits) {
        directory_send_data(d, page, e, PAGES_M, out);
    }
}

static int take_ack(struct pages_directory *d, const struct pages_message *m, struct directory_entry *e,
                    struct pages_output *out) {
    bool spared = e->kind == PAGES_SMALL ? e->known == PAGES_OWNED_SHARED && m->from == e->owner
                                         : m->from == e->requester;
    if (!(e->awaits & ACKS) || !pages_holder_has(e, m->from) || spared)
        return -EPROTO;
    if (e->kind == PAGES_GETX && !(e->flags & PAGES_OVERWRITE) && d->limits.coop &&
        !pages_holder_has(e, e->requester) && m->from == e->source)
        return -EPROTO;
    pages_holder_drop(e, m->from);
    if (--e->acks)
        return 0;
    e->awaits &= (uint8_t)~ACKS;
    all_acknowledged(d, m->page, e, out);
    return 0;
}

/* The page is back at the home, or was clean. */
static void came_back(struct pages_directory *d, uint32_t page, struct directory_entry *e, bool have_it,
                      struct pages_output *out) {
    if (e->kind == PAGES_PUT)
        directory_end(d, page, e, unowned(d, e));
    else if (!have_it)
        do_io(page, e, PAGES_READ, out);
    else
        directory_send_data(d, page, e, e->kind == PAGES_GETS ? PAGES_S : PAGES_M, out);
}

static int directory_take_back(struct pages_directory *d, const struct pages_message *m,
                               struct directory_entry *e, struct pages_output *out) {
    bool dirty = m->flags & PAGES_DIRTY;
    if (!(e->awaits & WRITEBACK_DATA) || m->from != e->source || (e->known == PAGES_OWNED_SHARED && !dirty))
        return -EPROTO;
    e->awaits = 0;
    if (e->kind != PAGES_GETS)
        pages_holder_drop(e, m->from);
    e->known = (uint8_t)unowned(d, e);
    if (dirty)
        do_io(m->page, e, PAGES_WRITE, out);
    else
        came_back(d, m->page, e, false, out);
    return 0;
}

static int take_owned(struct pages_directory *d, const struct pages_message *m, struct directory_entry *e,
                      struct pages_output *out) {
    if (!(e->awaits & OWNED) || m->from != e->source)
        return -EPROTO;
    e->owner = m->from;
    acknowledge_put(d, m->page, e, true, out);
    return 0;
}

static int take_applied(struct pages_directory *d, const struct pages_message *m, struct directory_entry *e) {
    if (!(e->awaits & APPLIED) || m->from != e->source)
        return -EPROTO;
    directory_end(d, m->page, e, (enum pages_known)e->known);
    return 0;
}

/* The requester is now the newest holder, so it serves next. */
static void settle_gets(struct pages_directory *d, uint32_t page, struct directory_entry *e, bool dirty) {
    enum pages_known known = (enum pages_known)e->known;
    if (known == PAGES_UNCACHED) {
        known = PAGES_EXCLUSIVE;
        e->owner = e->requester;
    } else if (known == PAGES_EXCLUSIVE) {
        known = dirty ? PAGES_OWNED_SHARED : PAGES_SHARED;
    }
    pages_holder_add(e, e->requester);
    e->turn = e->requester;
    directory_end(d, page, e, known);
}

static void settle_getx(struct pages_directory *d, uint32_t page, struct directory_entry *e) {
    memset(e->holders, 0, d->words * sizeof *e->holders);
    pages_holder_add(e, e->requester);
    e->turn = e->owner = e->requester;
    directory_end(d, page, e, PAGES_EXCLUSIVE);
}

static int take_unblock(struct pages_directory *d, const struct pages_message *m, struct directory_entry *e) {
    if (e->awaits != UNBLOCK || m->from != e->requester)
        return -EPROTO;
    if (e->kind == PAGES_GETS)
        settle_gets(d, m->page, e, m->flags & PAGES_DIRTY);
    else
        settle_getx(d, m->page, e);
    return 0;
}

int pages_directory_receive(struct pages_directory *d, const struct pages_message *m,
                            struct pages_output *out) {
    directory_begin(out);
    if (UNLIKELY(m->page >= d->limits.pages || m->from >= d->limits.nodes || m->to != d->limits.home ||
                 m->home != d->limits.home))
        return -EPROTO;
    struct directory_entry *e = pages_entry_of(d, m->page);
    switch (m->kind) {
    case PAGES_GETS:
    case PAGES_GETX:
    case PAGES_PUT:
    case PAGES_SMALL:
        return directory_enqueue(d, e, m);
    case PAGES_IACK:
        return take_ack(d, m, e, out);
    case PAGES_WRITEBACK_DATA:
        return directory_take_back(d, m, e, out);
    case PAGES_OWNED:
        return take_owned(d, m, e, out);
    case PAGES_APPLIED:
        return take_applied(d, m, e);
    case PAGES_UNBLOCK:
        return take_unblock(d, m, e);
    default:
        return -EPROTO;
    }
}

static void directory_answer(struct pages_directory *d, uint32_t page, struct directory_entry *e,
                             struct pages_output *out) {
    struct pages_message *m = directory_say(d, page, PAGES_ANSWER, e->requester, out);
    m->tag = e->tag;
    m->cookie = e->cookie;
    directory_end(d, page, e, unowned(d, e));
}

int pages_directory_finished(struct pages_directory *d, uint32_t page, struct pages_output *out) {
    directory_begin(out);
    struct directory_entry *e = page < d->limits.pages ? pages_entry_of(d, page) : NULL;
    if (!e || !(e->awaits & IO))
        return -EPROTO;
    uint8_t done = e->awaits & IO;
    e->awaits &= (uint8_t)~IO;
    if (done == APPLIED_HERE)
        directory_answer(d, page, e, out);
    else if (done == WRITTEN)
        came_back(d, page, e, true, out);
    else if (e->kind == PAGES_GETS)
        directory_send_data(d, page, e, e->known == PAGES_UNCACHED ? PAGES_E : PAGES_S, out);
    else if (!e->awaits)
        directory_send_data(d, page, e, PAGES_M, out);
    return 0;
}

bool pages_directory_writes(const struct pages_directory *d, uint32_t page) {
    return pages_entry_of(d, page)->flags & PAGES_WRITES;
}
