/* service_small.c: remote operations: sent from the slots of the requesters, kept by the home until their transaction
 * starts, and applied where the page is. */
#include <string.h>

#include "pages/service/service.h"

/* ---- requests ---- */

/* Sends the whole list. */
static unsigned ask_for(struct service *s, uint32_t first) {
    unsigned asked = 0;
    for (uint32_t i = first, next; i; i = next, asked++) {
        const struct pool_small *m = &s->pool->smalls[i - 1];
        next = m->next;
        struct pages_message message = {
            .kind = PAGES_SMALL,
            .from = s->self,
            .to = m->home,
            .home = m->home,
            .page = m->page,
            .tag = i - 1,
            .flags = (uint8_t)((m->writes ? PAGES_WRITES : 0) | (m->updates ? PAGES_UPDATES : 0))};
        pages_service_send(s, &message, (struct load){.kind = LOAD_SLOT, .index = i - 1});
    }
    return asked;
}

static unsigned small_hold_back(struct service *s, uint32_t first) {
    unsigned held = 0;
    for (uint32_t i = first, next; i; i = next, held++) {
        next = s->pool->smalls[i - 1].next;
        s->pool->smalls[i - 1].next = s->held.small;
        s->held.small = i;
    }
    s->held.count += held;
    return held;
}

unsigned pages_small_ask(struct service *s) {
    return (s->held.on ? small_hold_back : ask_for)(s, pages_pool_take_smalls(s->pool));
}

void pages_small_release(struct service *s) {
    uint32_t first = s->held.small;
    s->held.small = 0;
    s->held.count -= ask_for(s, first);
}

void pages_small_answered(struct service *s, const struct wire *w, const char *data) {
    uint32_t slot = w->message.tag;
    const struct pool_small *m = slot < POOL_SMALLS ? &s->pool->smalls[slot] : NULL;
    if (!m || atomic_load(&m->state) != SMALL_ASKED || w->whole != pages_pool_small_answer(m)) {
        pages_service_fail(s, "node %u sent an answer that was not requested", w->message.from);
        return;
    }
    memcpy(pages_pool_small_data(s->pool, (int)slot), data, w->whole);
    pages_pool_small_done(s->pool, (int)slot);
}

/* ---- arriving messages ---- */

/* No message may make this process access memory outside of the page, or a word that is not aligned. */
static bool update_is_sound(const struct service *s, const struct wire *w, const char *data) {
    size_t page = s->pool->page_bytes;
    struct pages_update u;
    if (w->bytes != sizeof u || !s->events.update)
        return false;
    memcpy(&u, data, sizeof u);
    return (u.bytes == 4 || u.bytes == 8) && w->offset % u.bytes == 0 && w->offset <= page - u.bytes;
}

/* For a remote operation that reads, only the answer carries bytes. */
bool pages_small_is_sound(const struct service *s, const struct wire *w, const char *data, size_t bytes) {
    const struct pages_message *m = &w->message;
    size_t page = s->pool->page_bytes;
    bool brings = m->kind == PAGES_ANSWER || m->flags & PAGES_WRITES;
    if (w->whole != bytes || bytes != (brings ? w->bytes : 0) || w->bytes > s->pool->shared->small_bytes)
        return false;
    if (m->kind != PAGES_ANSWER && m->flags & PAGES_UPDATES)
        return m->flags & PAGES_WRITES && update_is_sound(s, w, data);
    return w->offset <= page && w->bytes <= page - w->offset;
}

/* ---- the home ---- */

uint32_t pages_small_keep(struct service *s, const struct wire *w, const char *data) {
    uint32_t index = pages_bounce_take(&s->bounces);
    struct bounce *p = pages_bounce_of(&s->bounces, index);
    p->offset = w->offset;
    p->bytes = w->bytes;
    p->updates = w->message.flags & PAGES_UPDATES;
    memcpy(p->data, data, w->whole);
    return index;
}

/* Updates the word, and makes its previous value the answer. */
static void small_update(struct service *s, char *word, const char *data, struct bounce *answer) {
    struct pages_update u;
    memcpy(&u, data, sizeof u);
    uint64_t old = s->events.update(word, &u);
    memcpy(answer->data, &old, sizeof old);
    answer->offset = 0;
    answer->bytes = sizeof old;
}

void pages_small_apply(struct service *s, char *page, struct bounce *p, bool writes) {
    if (p->updates) {
        small_update(s, page + p->offset, p->data, p);
    } else if (writes) {
        memcpy(page + p->offset, p->data, p->bytes);
        p->bytes = 0; /* size of the answer */
    } else {
        memcpy(p->data, page + p->offset, p->bytes);
    }
}

/* ---- a holder ---- */

void pages_small_serve(struct service *s, char *page, const struct wire *w, const char *data,
                       struct load *answer) {
    bool writes = w->message.flags & PAGES_WRITES;
    *answer = (struct load){.kind = LOAD_BOUNCE, .index = pages_bounce_take(&s->bounces)};
    struct bounce *p = pages_bounce_of(&s->bounces, answer->index);
    p->offset = w->offset;
    p->bytes = writes ? 0 : w->bytes;
    p->updates = false;
    if (w->message.flags & PAGES_UPDATES)
        small_update(s, page + w->offset, data, p);
    else if (writes)
        memcpy(page + w->offset, data, w->bytes);
    else
        memcpy(p->data, page + w->offset, w->bytes);
}
