/* service_home.c: the home: messages to the directory of this node's pages, and its transactions. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "pages/service/service.h"

/* ---- transactions ---- */

struct work *pages_home_work(struct service *s, uint32_t page) {
    for (int i = 0; i < SERVICE_WORKS; i++)
        if (s->home.works[i].taken && !s->home.works[i].over && s->home.works[i].page == page)
            return &s->home.works[i];
    return NULL;
}

static void take_work(struct service *s, uint32_t page) {
    struct work *w = s->home.works;
    while (w->taken)
        w++;
    *w = (struct work){
        .taken = true, .page = page, .frame = POOL_NO_FRAME, .buffer = w->buffer, .memory = w->buffer};
    s->home.works_taken++;
}

static void give_if_free(struct service *s, struct work *w) {
    if (!w->over || w->sends > 0)
        return;
    w->taken = false;
    s->home.works_taken--;
    if (w->holds)
        pages_cache_left(s, (uint32_t)w->frame);
}

void pages_home_left(struct service *s, uint32_t work) {
    s->home.works[work].sends--;
    give_if_free(s, &s->home.works[work]);
}

static bool home_is_busy(const struct service *s, uint32_t page) {
    return pages_directory_look(s->home.directory, page).busy != PAGES_NOTHING;
}

static void end_if_over(struct service *s, uint32_t page) {
    struct work *w = home_is_busy(s, page) ? NULL : pages_home_work(s, page);
    if (!w)
        return;
    log_trace(LOG_PAGES, "page %u: its transaction is over", page);
    w->over = true;
    give_if_free(s, w);
}

/* ---- actions of the directory ---- */

static struct load home_load_of(const struct service *s, const struct pages_message *m) {
    if (m->kind == PAGES_DATA) {
        const struct work *w = pages_home_work((struct service *)s, m->page);
        return (struct load){.kind = LOAD_WORK,
                             .index = (uint32_t)(w - s->home.works),
                             .zero = w->zero || m->flags & PAGES_OVERWRITE};
    }
    if (m->kind == PAGES_FWD_SMALL || m->kind == PAGES_ANSWER)
        return (struct load){.kind = LOAD_BOUNCE, .index = (uint32_t)m->cookie - 1};
    return (struct load){0};
}

static void perform(struct service *s, const struct pages_output *out, uint32_t page) {
    if (out->io != PAGES_NO_IO)
        pages_io_begin(s, pages_home_work(s, page), out->io, out->cookie, out->requester);
    for (uint32_t i = 0; i < out->count; i++)
        pages_service_send(s, &out->messages[i], home_load_of(s, &out->messages[i]));
    end_if_over(s, page);
}

/* Starts the transactions that can start. Each gets a buffer. */
unsigned pages_home_begin(struct service *s) {
    unsigned begun = 0;
    if (!s->home.directory)
        return 0;
    for (; s->home.works_taken < s->home.works_most; begun++) {
        struct pages_output out = {.messages = s->home.messages};
        int status = pages_directory_start(s->home.directory, &out);
        if (status == 0)
            break;
        if (status < 0) {
            pages_service_fail(s, "page %u of this node: node %u requests a copy that it already holds",
                               out.page, out.refused);
            break;
        }
        uint32_t page = out.count ? out.messages[0].page : out.page;
        if (home_is_busy(s, page))
            take_work(s, page);
        perform(s, &out, page);
    }
    return begun;
}

void pages_home_finished(struct service *s, struct work *w) {
    struct pages_message one[1];
    struct pages_output out = {.messages = one};
    uint32_t page = w->page;
    log_trace(LOG_PAGES, "page %u: its transfer from or to the NVM is complete", page);
    if (pages_directory_finished(s->home.directory, page, &out) != 0)
        pages_service_fail(s, "page %u of this node: I/O completion without I/O", page);
    else
        perform(s, &out, page);
}

/* ---- messages ---- */

static void home_receive_message(struct service *s, const struct pages_message *m) {
    struct pages_message one[1];
    struct pages_output out = {.messages = one};
    if (pages_directory_receive(s->home.directory, m, &out) != 0)
        pages_service_refuse(s, m);
    else
        perform(s, &out, m->page);
}

char *pages_home_place(struct service *s, uint32_t page) {
    const struct work *w = pages_home_work(s, page);
    return w ? w->buffer : NULL;
}

/* A page returns to the home, in pieces. From a frame of this node it is written without a copy. */
static void home_take_back(struct service *s, const struct wire *wire, const char *data) {
    const struct pages_message *m = &wire->message;
    struct work *w = pages_home_work(s, m->page);
    if (!w || w->came + wire->bytes > s->pool->page_bytes) {
        pages_service_refuse(s, m);
        return;
    }
    w->zero = false;
    w->memory = w->buffer;
    w->frame = POOL_NO_FRAME;
    if (m->from == s->self) {
        w->memory = (char *)data;
        w->frame = (data - s->pool->memory) / (ptrdiff_t)s->pool->page_bytes;
        w->holds = true; /* it is written, and possibly sent, from there */
        s->pool->frames[w->frame].sends++;
    } else if (data != w->buffer + wire->offset) { /* otherwise it was received in place */
        memcpy(w->buffer + wire->offset, data, wire->bytes);
    }
    w->came += wire->bytes;
    if (w->came < wire->whole)
        return;
    w->came = 0;
    pages_pool_count(&s->pool->shared->counts.written_back);
    home_receive_message(s, m);
}

/* Whether to prefetch a page that is about to be requested into this node's own pool. This is done where other nodes
 * would otherwise wait for the NVM repeatedly: for remote operations on a page without copies, and, without
 * cooperation, for all reads, so that the pages the home holds are served from memory. */
static bool is_for_pool(const struct service *s, const struct pages_message *m) {
    struct pages_look look = pages_directory_look(s->home.directory, m->page);
    if (look.busy != PAGES_NOTHING || pages_directory_holds(s->home.directory, m->page, s->self))
        return false;
    if (m->kind == PAGES_SMALL)
        return look.known == PAGES_UNCACHED;
    return m->kind == PAGES_GETS && !s->coop && m->from != s->self &&
           (look.known == PAGES_UNCACHED || look.known == PAGES_SHARED);
}

static void home_take_request(struct service *s, const struct wire *w, const char *data) {
    struct pages_message m = w->message;
    if (is_for_pool(s, &m) && pages_pool_prefetch(s->pool, s->self, m.page))
        pages_cache_look_after(s); /* its request is queued before the other node's */
    if (m.kind == PAGES_SMALL)
        m.cookie = (uint64_t)pages_small_keep(s, w, data) + 1;
    home_receive_message(s, &m);
}

bool pages_home_has(const struct service *s, const struct pages_message *m) {
    uint32_t pages = s->stores.locals > 0 ? s->stores.homes[s->stores.locals - 1].first +
                                                s->stores.homes[s->stores.locals - 1].pages
                                          : 0;
    return s->home.directory && m->home == s->self && m->page < pages;
}

void pages_home_take(struct service *s, const struct wire *w, const char *data) {
    const struct pages_message *m = &w->message;
    log_trace(LOG_PAGES, "page %u: message %u from node %u to its home", m->page, m->kind, m->from);
    if (!pages_home_has(s, m) || (m->kind == PAGES_SMALL && !pages_bounce_is_left(&s->bounces)))
        pages_service_refuse(s, m);
    else if (pages_class_of((enum pages_kind)m->kind) == PAGES_REQ)
        home_take_request(s, w, data);
    else if (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY)
        home_take_back(s, w, data);
    else
        home_receive_message(s, m);
}
