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
        struct pages_message message = {.kind = PAGES_SMALL,
                                        .from = s->self,
                                        .to = m->home,
                                        .home = m->home,
                                        .page = m->page,
                                        .tag = i - 1,
                                        .flags = m->writes ? PAGES_WRITES : 0};
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
    if (!m || atomic_load(&m->state) != SMALL_ASKED || w->whole != (m->writes ? 0u : m->bytes)) {
        pages_service_fail(s, "node %u sent an answer that was not requested", w->message.from);
        return;
    }
    memcpy(pages_pool_small_data(s->pool, (int)slot), data, w->whole);
    pages_pool_small_done(s->pool, (int)slot);
}

/* ---- the home ---- */

uint32_t pages_small_keep(struct service *s, const struct wire *w, const char *data) {
    uint32_t index = pages_bounce_take(&s->bounces);
    struct bounce *p = pages_bounce_of(&s->bounces, index);
    p->offset = w->offset;
    p->bytes = w->bytes;
    memcpy(p->data, data, w->whole);
    return index;
}

void pages_small_apply(char *page, struct bounce *p, bool writes) {
    if (writes) {
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
    if (writes)
        memcpy(page + w->offset, data, w->bytes);
    else
        memcpy(p->data, page + w->offset, w->bytes);
}
