/* service_send.c: outgoing and incoming messages. A page is sent in pieces, one after the other: the next piece is
 * passed to the network when the network has taken the previous one. */
#include <string.h>

#include "pages/service/service.h"

static bool brings_page(const struct pages_message *m) {
    return m->kind == PAGES_DATA || (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY);
}

/* ---- payloads stay in place until they have left ---- */

static void sending_hold(struct service *s, struct load load) {
    if (load.kind == LOAD_FRAME)
        s->pool->frames[load.index].sends++;
    else if (load.kind == LOAD_WORK)
        s->home.works[load.index].sends++;
}

static void sending_let_go(struct service *s, struct load load) {
    if (load.kind == LOAD_FRAME)
        pages_cache_left(s, load.index);
    else if (load.kind == LOAD_WORK)
        pages_home_left(s, load.index);
    else if (load.kind == LOAD_BOUNCE)
        pages_bounce_give(&s->bounces, load.index);
}

/* Returns the payload of a message and describes it in the wire header. */
static const char *sending_describe(const struct service *s, const struct pages_message *m, struct load load,
                                    struct wire *w) {
    const struct pool_small *small;
    const struct bounce *bounce;
    *w = (struct wire){.message = *m};
    w->message.cookie = 0;
    switch (load.kind) {
    case LOAD_FRAME:
    case LOAD_WORK:
        w->zero = load.zero;
        w->whole = load.zero || !brings_page(m) ? 0 : (uint32_t)s->pool->page_bytes;
        return load.kind == LOAD_FRAME ? pages_pool_memory(s->pool, load.index)
                                       : s->home.works[load.index].memory;
    case LOAD_BOUNCE:
        bounce = pages_bounce_of(&s->bounces, load.index);
        w->offset = bounce->offset;
        w->bytes = bounce->bytes;
        w->whole = m->kind == PAGES_ANSWER || m->flags & PAGES_WRITES ? bounce->bytes : 0;
        return bounce->data;
    case LOAD_SLOT:
        small = &s->pool->smalls[load.index];
        w->offset = small->offset;
        w->bytes = small->bytes;
        w->whole = small->writes ? small->bytes : 0;
        return pages_pool_small_data(s->pool, (int)load.index);
    default:
        return NULL;
    }
}

/* ---- to other nodes ---- */

static struct sending *take_sending(struct service *s) {
    uint32_t index = s->sends.free ? s->sends.free - 1 : s->sends.made;
    if (s->sends.free)
        s->sends.free = s->sends.all[index].next;
    else if (s->sends.made == s->sends.most)
        return NULL;
    else
        s->sends.made++;
    return &s->sends.all[index];
}

static void give_sending(struct sending *x) {
    struct service *s = x->service;
    x->next = s->sends.free;
    s->sends.free = (uint32_t)(x - s->sends.all) + 1;
}

/* Passes on as much as the network accepts. */
static void push(struct sending *x) {
    struct service *s = x->service;
    struct wire *w = &x->wire;
    bool pieces = brings_page(&w->message);
    int status;
    do {
        uint32_t piece = w->whole - x->sent < s->sends.piece ? w->whole - x->sent : s->sends.piece;
        if (pieces) {
            w->offset = x->sent;
            w->bytes = piece;
        }
        status = net_channel_send(s->channel, w->message.to, w, sizeof *w, piece ? x->memory + x->sent : NULL,
                                  piece, &x->link);
        if (status < 0) {
            pages_service_fail(s, "node %d cannot be reached: %s", w->message.to, strerror(-status));
            return;
        }
        x->sent += piece;
        if (status == 1)
            return; /* on_sent continues */
    } while (x->sent < w->whole);
    sending_let_go(s, x->load);
    give_sending(x);
}

static void on_sent(struct link_send *link, int status) {
    struct sending *x = (struct sending *)((char *)link - offsetof(struct sending, link));
    if (status == 0 && x->sent < x->wire.whole) {
        push(x);
        return;
    }
    sending_let_go(x->service, x->load); /* a failed node is reported separately */
    give_sending(x);
}

static void send_alone(struct service *s, const struct wire *w, const char *memory, struct load load) {
    struct sending *x = take_sending(s);
    if (!x) {
        pages_service_fail(s, "more messages under way than the maximum");
        return;
    }
    *x = (struct sending){.link.sent = on_sent, .service = s, .wire = *w, .load = load, .memory = memory};
    push(x);
}

static void send_away(struct service *s, const struct wire *w, const char *memory, struct load load) {
    s->alive.peers[w->message.to].known = true;
    atomic_fetch_add_explicit(&s->pool->shared->counts.messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->pool->shared->counts.message_bytes, w->whole, memory_order_relaxed);
    if (w->whole == 0 && pages_batch_add(s, w))
        sending_let_go(s, load);
    else
        send_alone(s, w, memory, load);
}

/* ---- to any node ---- */

static void sending_take(struct service *s, const struct wire *w, const char *data) {
    if (w->message.kind >= SERVICE_PING)
        pages_alive_take(s, &w->message);
    else if (w->message.kind >= PAGES_KINDS)
        pages_room_take(s, &w->message);
    else if (pages_is_for_home((enum pages_kind)w->message.kind))
        pages_home_take(s, w, data);
    else
        pages_cache_take(s, w, data);
}

void pages_service_send(struct service *s, const struct pages_message *m, struct load load) {
    struct wire w;
    const char *memory = sending_describe(s, m, load, &w);
    sending_hold(s, load);
    if (m->to != s->self) {
        send_away(s, &w, memory, load);
        return;
    }
    if (brings_page(m))
        w.bytes = w.whole;
    sending_take(s, &w, memory);
    sending_let_go(s, load);
}

/* ---- from other nodes ---- */

/* A message that revokes or grants a copy must come from the page's home. No message may come from ourselves. */
static bool is_sender_sound(const struct service *s, const struct pages_message *m) {
    bool is_from_any =
        pages_is_for_home((enum pages_kind)m->kind) || m->kind == PAGES_DATA || m->kind == PAGES_ANSWER;
    if (m->kind == PAGES_NOTHING || m->kind >= SERVICE_KINDS || m->to != s->self || m->from == s->self ||
        m->from >= s->world->nodes || m->home >= s->world->nodes || m->peer >= s->world->nodes)
        return false;
    return is_from_any || m->from == m->home;
}

/* Checks the destination range of the payload and that it is complete. data: NULL: it has not arrived, and must be a page. */
static bool is_content_sound(const struct service *s, const struct wire *w, const char *data, size_t bytes) {
    const struct pages_message *m = &w->message;
    size_t page = s->pool->page_bytes;
    bool is_inside = w->offset <= page && w->bytes <= page - w->offset;
    if (brings_page(m))
        return w->zero ? m->kind == PAGES_DATA && bytes == 0
                       : w->whole == page && w->bytes == bytes && is_inside;
    if (m->kind != PAGES_SMALL && m->kind != PAGES_FWD_SMALL && m->kind != PAGES_ANSWER)
        return bytes == 0;
    return (data || bytes == 0) && pages_small_is_sound(s, w, data, bytes);
}

static bool message_read(struct service *s, const void *header, size_t header_bytes, const void *data,
                         size_t bytes, struct wire *w) {
    if (header_bytes == sizeof *w)
        memcpy(w, header, sizeof *w);
    if (header_bytes == sizeof *w && is_sender_sound(s, &w->message) && is_content_sound(s, w, data, bytes)) {
        s->alive.peers[w->message.from].pinged = 0;
        return true;
    }
    pages_service_fail(s,
                       "invalid message of %zu + %zu bytes: do all ranks run "
                       "the same version of the library?",
                       header_bytes, bytes);
    return false;
}

static void take_batch(struct service *s, const char *wires, size_t bytes) {
    struct wire w;
    for (; bytes >= sizeof w; bytes -= sizeof w, wires += sizeof w)
        if (message_read(s, wires, sizeof w, NULL, 0, &w))
            sending_take(s, &w, wires);
    if (bytes > 0)
        (void)message_read(s, wires, bytes, NULL, 0, &w); /* reports it */
}

void pages_service_arrived(void *service, const void *header, size_t header_bytes, const void *payload,
                           size_t bytes) {
    struct wire w;
    if (header_bytes == 0 && bytes > 0)
        take_batch(service, payload, bytes);
    else if (message_read(service, header, header_bytes, payload, bytes, &w))
        sending_take(service, &w, payload);
}

void *pages_service_place(void *service, const void *header, size_t header_bytes, size_t bytes) {
    struct service *s = service;
    struct wire w;
    if (!message_read(s, header, header_bytes, NULL, bytes, &w))
        return NULL;
    char *page = NULL;
    if (w.message.kind == PAGES_DATA)
        page = pages_cache_place(s, &w.message);
    else if (brings_page(&w.message) && pages_home_has(s, &w.message))
        page = pages_home_place(s, w.message.page);
    if (!page)
        pages_service_refuse(s, &w.message);
    return page ? page + w.offset : NULL;
}
