/* controller.c: state machine of one cached copy of a page.
 *
 * A copy has a state (I S E M O) and, independently, at most one open request:
 *
 *      GETS    from I. DATA ends it.
 *      GETX    from I, S or O. DATA and GRANT end it, in any order; GRANT alone if the copy still exists. While the request
 *              waits in the home's queue, the copy may be lost or change its owner. The directory tracks this, and the
 *              home then sends DATA as well. The page cannot be written before GRANT.
 *      PUT     from S, E, M or O. PUT_ACK or WRITEBACK_REQ ends it. The copy is frozen: no pins, no mapping, but it serves every Fwd.
 *
 * As state and request are independent, the answer to a Fwd depends on the state alone, not on the request under way.
 * There is no table of transient states.
 *
 * At most one Fwd is deferred, and only one that revokes access. It waits for
 *
 *      pins to be released     then for the mapping to be lowered      then it is served
 *      (pins for writing       (to PAGES_TO_READ for FWD_S and
 *      for FWD_S, RECALL_S)     RECALL_S of an M, else to unmapped)
 *
 * Dropping a mapped copy takes the same path: EVICTING until it is unmapped, and only then is PUT sent. If the copy is
 * lost in between, no PUT is needed. */
#include "pages/protocol/controller.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"

enum {
    HAS_DATA = 1,    /* GETX: the page has arrived, but is not readable and not owned until GRANT */
    HAS_GRANT = 2,   /* GETX: the page has not arrived yet */
    EVICTING = 4,    /* PUT is sent once the page is unmapped */
    UNMAPPING = 8,   /* the caller was asked to unmap, and has not reported back */
    OVERWRITES = 16, /* GETX: the page will be overwritten and is not sent */
    FILLING = 32,    /* the page is being overwritten: one pin, and the UNBLOCK is still to be sent */
};

void pages_control_open(struct pages_control *c, uint16_t self, uint16_t home, uint32_t page) {
    *c = (struct pages_control){.self = self, .home = home, .page = page};
}

static void control_say(const struct pages_control *c, struct pages_effects *e, enum pages_kind kind,
                        uint16_t to, uint8_t flags) {
    e->messages[e->count++] = (struct pages_message){
        .kind = (uint8_t)kind, .from = c->self, .to = to, .home = c->home, .page = c->page, .flags = flags};
}

static void control_begin(struct pages_effects *e) {
    e->count = e->actions = 0;
}

static void control_ask(struct pages_control *c, struct pages_effects *e, enum pages_kind kind) {
    c->open = (uint8_t)kind;
    control_say(c, e, kind, c->home, c->flags & OVERWRITES ? PAGES_OVERWRITE : 0);
}

static bool is_dirty(const struct pages_control *c) {
    return c->state == PAGES_M || c->state == PAGES_O;
}

bool pages_control_is_asking(const struct pages_control *c) {
    return c->open || c->flags & (EVICTING | FILLING);
}

/* Pins and states that go together, of those in pages_control_check. */
static inline __attribute__((unused)) bool control_is_sound(const struct pages_control *c) {
    return (!c->writers || c->state == PAGES_M) && (!c->readers || c->state != PAGES_I) &&
           (c->open != PAGES_GETX || c->waiting_writers) &&
           (c->open != PAGES_PUT || !(c->readers | c->writers | c->mapped));
}

/* ---- access ---- */

/* A copy that is being dropped or overwritten, or has a deferred message, accepts no new pins. */
static bool is_closed(const struct pages_control *c) {
    return c->open == PAGES_PUT || c->put_off || c->flags & (EVICTING | OVERWRITES | FILLING);
}

static enum pages_got acquire_to_read(struct pages_control *c, struct pages_effects *e) {
    if (LIKELY(c->state != PAGES_I)) {
        c->readers++;
        return PAGES_HIT;
    }
    if (!c->open)
        control_ask(c, e, PAGES_GETS);
    c->waiting_readers++;
    return PAGES_WAIT;
}

static enum pages_got acquire_to_write(struct pages_control *c, struct pages_effects *e) {
    if (c->state == PAGES_E)
        c->state = PAGES_M; /* silent: the home already assumes that E may be M */
    if (LIKELY(c->state == PAGES_M)) {
        c->writers++;
        return PAGES_HIT;
    }
    if (c->open == PAGES_GETS)
        return PAGES_LATER;
    if (!c->open)
        control_ask(c, e, PAGES_GETX);
    c->waiting_writers++;
    return PAGES_WAIT;
}

enum pages_got pages_control_acquire(struct pages_control *c, bool write, struct pages_effects *e) {
    control_begin(e);
    ASSERT(control_is_sound(c));
    if (UNLIKELY(is_closed(c)))
        return PAGES_LATER;
    return write ? acquire_to_write(c, e) : acquire_to_read(c, e);
}

enum pages_got pages_control_overwrite(struct pages_control *c, struct pages_effects *e) {
    control_begin(e);
    if (is_closed(c))
        return PAGES_LATER;
    if (c->state == PAGES_I && !c->open)
        c->flags |= OVERWRITES;
    return acquire_to_write(c, e);
}

bool pages_control_prefetch(struct pages_control *c, struct pages_effects *e) {
    control_begin(e);
    if (c->state != PAGES_I || c->open)
        return false;
    control_ask(c, e, PAGES_GETS);
    return true;
}

void pages_control_map(struct pages_control *c, enum pages_level level) {
    ASSERT(c->readers || c->writers);
    ASSERT(level != PAGES_TO_WRITE || c->writers);
    if (level > c->mapped)
        c->mapped = (uint8_t)level;
}

/* ---- serving forwarded messages ---- */

static void lose(struct pages_control *c, struct pages_effects *e) {
    ASSERT(!c->readers && !c->writers && !c->mapped);
    c->state = PAGES_I;
    if (!c->open && !(c->flags & EVICTING))
        e->actions |= PAGES_FREED;
}

static void control_send_data(struct pages_control *c, struct pages_effects *e, uint16_t to,
                              enum pages_state as, uint8_t flags) {
    control_say(c, e, PAGES_DATA, to, flags);
    e->messages[e->count - 1].state = (uint8_t)as;
}

/* Returns the copy, or its content only, to the home. */
static void bring_back(struct pages_control *c, struct pages_effects *e, enum pages_state keep) {
    control_say(c, e, PAGES_WRITEBACK_DATA, c->home, is_dirty(c) ? PAGES_DIRTY : 0);
    if (keep == PAGES_I)
        lose(c, e);
    else
        c->state = (uint8_t)keep;
}

static void control_serve(struct pages_control *c, enum pages_kind kind, uint16_t peer, uint8_t flags,
                          struct pages_effects *e) {
    switch (kind) {
    case PAGES_FWD_S:
        control_send_data(c, e, peer, PAGES_S, is_dirty(c) ? PAGES_DIRTY : 0);
        c->state = is_dirty(c) ? PAGES_O : PAGES_S;
        break;
    case PAGES_FWD_X:
        control_send_data(c, e, peer, PAGES_M, flags & PAGES_GRANTED);
        lose(c, e);
        break;
    case PAGES_INV:
        control_say(c, e, PAGES_IACK, c->home, 0);
        lose(c, e);
        break;
    case PAGES_RECALL_S:
        bring_back(c, e, PAGES_S);
        break;
    default: /* PAGES_RECALL_X */
        bring_back(c, e, PAGES_I);
    }
}

/* True if readers may keep the copy. */
static bool is_gentle(enum pages_kind kind) {
    return kind == PAGES_FWD_S || kind == PAGES_RECALL_S;
}

static bool is_pinned_against(const struct pages_control *c, enum pages_kind kind) {
    return c->writers || (!is_gentle(kind) && c->readers);
}

static enum pages_level highest_for(enum pages_kind kind) {
    return is_gentle(kind) ? PAGES_TO_READ : PAGES_UNMAPPED;
}

/* True if the page is mapped at most at this level. Otherwise asks the caller to lower it. */
static bool control_lower(struct pages_control *c, enum pages_level level, struct pages_effects *e) {
    if (c->mapped <= level)
        return !(c->flags & UNMAPPING);
    if (!(c->flags & UNMAPPING)) {
        c->flags |= UNMAPPING;
        e->actions |= level == PAGES_UNMAPPED ? PAGES_UNMAP : PAGES_PROTECT;
    }
    return false;
}

/* Serves the deferred message if nothing blocks it any more. */
static void resume(struct pages_control *c, struct pages_effects *e) {
    enum pages_kind kind = (enum pages_kind)c->put_off;
    if (LIKELY(!kind) || is_pinned_against(c, kind) || !control_lower(c, highest_for(kind), e))
        return;
    uint16_t peer = c->put_off_peer;
    uint8_t flags = c->put_off_flags;
    c->put_off = c->put_off_flags = 0;
    c->put_off_peer = 0;
    control_serve(c, kind, peer, flags, e);
    e->actions |= PAGES_RETRY;
}

void pages_control_release(struct pages_control *c, bool write, struct pages_effects *e) {
    control_begin(e);
    ASSERT(write ? c->writers : c->readers);
    if (write)
        c->writers--;
    else
        c->readers--;
    if (c->flags & FILLING) {
        c->flags &= (uint8_t)~FILLING;
        control_say(c, e, PAGES_UNBLOCK, c->home, 0);
        e->actions |= PAGES_RETRY;
    }
    resume(c, e);
}

void pages_control_unmapped(struct pages_control *c, enum pages_level level, struct pages_effects *e) {
    control_begin(e);
    ASSERT(c->flags & UNMAPPING);
    c->flags &= (uint8_t)~UNMAPPING;
    c->mapped = (uint8_t)level;
    resume(c, e);
    if (!(c->flags & EVICTING))
        return;
    c->flags &= (uint8_t)~EVICTING;
    if (c->state == PAGES_I)
        e->actions |= PAGES_FREED | PAGES_RETRY;
    else
        control_ask(c, e, PAGES_PUT);
}

bool pages_control_evict(struct pages_control *c, struct pages_effects *e) {
    control_begin(e);
    ASSERT(control_is_sound(c));
    if (c->state == PAGES_I || c->open || c->put_off || c->flags || c->readers || c->writers)
        return false;
    if (control_lower(c, PAGES_UNMAPPED, e))
        control_ask(c, e, PAGES_PUT);
    else
        c->flags |= EVICTING;
    return true;
}

/* ---- messages ---- */

/* The request is complete: all waiters get their pins. */
static void be_ready(struct pages_control *c, enum pages_state state, uint8_t flags,
                     struct pages_effects *e) {
    ASSERT(c->open == PAGES_GETS || c->open == PAGES_GETX);
    ASSERT(!c->readers || c->state != PAGES_I);
    c->state = (uint8_t)state;
    c->open = PAGES_NOTHING;
    c->flags &= (uint8_t) ~(HAS_DATA | HAS_GRANT);
    c->readers = (uint16_t)(c->readers + c->waiting_readers);
    c->writers = (uint16_t)(c->writers + c->waiting_writers);
    ASSERT(!c->writers || state == PAGES_M);
    c->waiting_readers = c->waiting_writers = 0;
    control_say(c, e, PAGES_UNBLOCK, c->home, flags & PAGES_DIRTY);
    e->actions |= PAGES_READY | PAGES_RETRY;
}

/* The thread that waits gets its pin, and no other. */
static int control_take_empty(struct pages_control *c, const struct pages_message *m,
                              struct pages_effects *e) {
    if (m->state != PAGES_M || !(m->flags & PAGES_GRANTED))
        return -EPROTO;
    c->state = PAGES_M;
    c->open = PAGES_NOTHING;
    c->flags = FILLING;
    c->writers = c->waiting_writers;
    c->waiting_writers = 0;
    e->actions |= PAGES_READY;
    return 0;
}

static int control_take_data(struct pages_control *c, const struct pages_message *m,
                             struct pages_effects *e) {
    if (c->state != PAGES_I || c->flags & HAS_DATA ||
        !(m->flags & PAGES_OVERWRITE) != !(c->flags & OVERWRITES))
        return -EPROTO;
    if (c->flags & OVERWRITES)
        return control_take_empty(c, m, e);
    if (c->open == PAGES_GETS && (m->state == PAGES_S || m->state == PAGES_E)) {
        be_ready(c, (enum pages_state)m->state, m->flags, e);
        return 0;
    }
    if (c->open != PAGES_GETX || m->state != PAGES_M || (m->flags & PAGES_GRANTED && c->flags & HAS_GRANT))
        return -EPROTO;
    if (m->flags & PAGES_GRANTED || c->flags & HAS_GRANT)
        be_ready(c, PAGES_M, 0, e);
    else
        c->flags |= HAS_DATA;
    return 0;
}

static int take_grant(struct pages_control *c, struct pages_effects *e) {
    if (c->open != PAGES_GETX || c->flags & (HAS_GRANT | OVERWRITES))
        return -EPROTO;
    if (c->state != PAGES_I || c->flags & HAS_DATA)
        be_ready(c, PAGES_M, 0, e);
    else
        c->flags |= HAS_GRANT;
    return 0;
}

static int take_put_ack(struct pages_control *c, struct pages_effects *e) {
    if (c->open != PAGES_PUT)
        return -EPROTO;
    c->open = PAGES_NOTHING;
    c->state = PAGES_I;
    e->actions |= PAGES_FREED | PAGES_RETRY;
    return 0;
}

static int take_writeback_req(struct pages_control *c, struct pages_effects *e) {
    if (c->open != PAGES_PUT || c->state == PAGES_I || c->state == PAGES_S)
        return -EPROTO;
    c->open = PAGES_NOTHING;
    bring_back(c, e, PAGES_I);
    e->actions |= PAGES_RETRY;
    return 0;
}

static int control_take_own(struct pages_control *c, struct pages_effects *e) {
    if (c->state != PAGES_S)
        return -EPROTO;
    c->state = PAGES_O;
    control_say(c, e, PAGES_OWNED, c->home, 0);
    return 0;
}

/* Pins do not defer it: concurrent conflicting operations of a program have no defined order. */
static int control_take_small(struct pages_control *c, const struct pages_message *m,
                              struct pages_effects *e) {
    bool writes = m->flags & PAGES_WRITES;
    if (c->state == PAGES_I)
        return -EPROTO;
    if (writes)
        c->state = PAGES_M; /* the home has made sure that no other copy is left */
    e->actions |= PAGES_FRAME_APPLY;
    control_say(c, e, PAGES_ANSWER, m->peer, 0);
    e->messages[e->count - 1].tag = m->tag;
    control_say(c, e, PAGES_APPLIED, c->home, 0);
    return 0;
}

/* Whether a message that revokes access is valid in this state. */
static bool may_come(const struct pages_control *c, enum pages_kind kind, uint8_t flags) {
    if (flags & PAGES_OVERWRITE)
        return kind == PAGES_INV && c->state != PAGES_I;
    switch (kind) {
    case PAGES_FWD_S:
    case PAGES_FWD_X:
        return c->state != PAGES_I;
    case PAGES_INV:
        return c->state == PAGES_S || c->state == PAGES_O;
    default: /* PAGES_RECALL_S, PAGES_RECALL_X */
        return c->state == PAGES_E || c->state == PAGES_M;
    }
}

static int take_away(struct pages_control *c, const struct pages_message *m, struct pages_effects *e) {
    enum pages_kind kind = (enum pages_kind)m->kind;
    if (!may_come(c, kind, m->flags))
        return -EPROTO;
    if (!is_pinned_against(c, kind) && control_lower(c, highest_for(kind), e)) {
        control_serve(c, kind, m->peer, m->flags, e);
        return 0;
    }
    ASSERT(!c->put_off && kind != PAGES_NOTHING);
    c->put_off = (uint8_t)kind;
    c->put_off_flags = m->flags;
    c->put_off_peer = m->peer;
    return 0;
}

int pages_control_receive(struct pages_control *c, const struct pages_message *m, struct pages_effects *e) {
    control_begin(e);
    if (m->page != c->page || m->home != c->home || m->to != c->self || c->put_off || c->flags & FILLING)
        return -EPROTO;
    switch (m->kind) {
    case PAGES_DATA:
        return control_take_data(c, m, e);
    case PAGES_GRANT:
        return take_grant(c, e);
    case PAGES_PUT_ACK:
        return take_put_ack(c, e);
    case PAGES_WRITEBACK_REQ:
        return take_writeback_req(c, e);
    case PAGES_OWN:
        return control_take_own(c, e);
    case PAGES_FWD_SMALL:
        return control_take_small(c, m, e);
    case PAGES_FWD_S:
    case PAGES_FWD_X:
    case PAGES_INV:
    case PAGES_RECALL_S:
    case PAGES_RECALL_X:
        return take_away(c, m, e);
    default:
        return -EPROTO;
    }
}

/* ---- invariants ---- */

static void control_must(bool holds) {
    if (!holds)
        abort();
}

static void check_request(const struct pages_control *c) {
    bool waiting = c->waiting_readers || c->waiting_writers;
    control_must(c->open <= PAGES_PUT && c->state <= PAGES_O);
    control_must(c->open != PAGES_GETS || (c->state == PAGES_I && !c->waiting_writers));
    control_must(c->open != PAGES_GETX || c->waiting_writers);
    control_must(!waiting || c->open == PAGES_GETS || c->open == PAGES_GETX);
    control_must(!(c->flags & (HAS_DATA | HAS_GRANT)) || (c->open == PAGES_GETX && c->state == PAGES_I));
    control_must((c->flags & (HAS_DATA | HAS_GRANT)) != (HAS_DATA | HAS_GRANT));
    control_must(!(c->flags & OVERWRITES) || (c->flags == OVERWRITES && c->open == PAGES_GETX &&
                                              c->waiting_writers == 1 && !c->waiting_readers));
    control_must(!(c->flags & FILLING) ||
                 (c->flags == FILLING && !c->open && c->writers == 1 && !c->readers && !c->mapped));
}

void pages_control_check(const struct pages_control *c) {
    check_request(c);
    control_must(!c->writers || c->state == PAGES_M);
    control_must(!c->readers || c->state != PAGES_I);
    control_must(c->mapped <= (c->state == PAGES_M   ? PAGES_TO_WRITE
                               : c->state == PAGES_I ? PAGES_UNMAPPED
                                                     : PAGES_TO_READ));
    control_must(c->open != PAGES_PUT || (!c->readers && !c->writers && !c->mapped && !c->put_off));
    control_must(!(c->flags & EVICTING) || c->flags & UNMAPPING);
    control_must(!(c->flags & EVICTING) || (!c->open && !c->readers && !c->writers));
    control_must(!(c->flags & UNMAPPING) || c->mapped);
    control_must(!c->put_off || is_pinned_against(c, (enum pages_kind)c->put_off) || c->flags & UNMAPPING);
}
