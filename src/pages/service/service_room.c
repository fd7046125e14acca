/* service_room.c: space on the NVM before a checkpoint: for each dirty copy, the home reserves the location that it
 * will be written to.
 *
 * If a home has no space, nothing has been dropped or written yet, and the job can continue. A node has at most AT_ONCE
 * of these requests under way, fewer than the PAGES_WINDOW requests for which each home reserves messages; no rank uses
 * the segments meanwhile. */
#include "pages/service/service.h"

enum { AT_ONCE = PAGES_WINDOW / 2, MOST_ERROR = 4095 /* of Linux */ };

static void room_ask(struct service *s, uint16_t home, uint32_t page) {
    struct pages_message m = {
        .kind = SERVICE_RESERVE, .home = home, .page = page, .from = s->self, .to = home};
    s->room.asked++;
    pages_service_send(s, &m, (struct load){0});
}

bool pages_room_for_all(struct service *s, int *status) {
    uint32_t frames = s->pool->shared->frames, page;
    uint16_t home;
    if (s->room.next == 0) {
        pages_behind_retry(s);
        s->room.status = pages_io_reserve_behind(s);
    }
    while (s->room.next < frames && s->room.asked < AT_ONCE && s->room.status == 0)
        if (pages_pool_is_dirty(s->pool, s->room.next++, &home, &page))
            room_ask(s, home, page);
    if (s->room.asked > 0 || (s->room.next < frames && s->room.status == 0))
        return false;
    *status = s->room.status;
    s->room.next = 0;
    s->room.status = 0;
    return true;
}

static void room_answer(struct service *s, const struct pages_message *m) {
    struct pages_message back = *m;
    back.kind = SERVICE_RESERVED;
    back.from = s->self;
    back.to = m->from;
    back.tag = (uint32_t)-pages_io_reserve_page(s, m->page);
    pages_service_send(s, &back, (struct load){0});
}

void pages_room_take(struct service *s, const struct pages_message *m) {
    bool asks = m->kind == SERVICE_RESERVE;
    if (asks ? !pages_home_has(s, m) : s->room.asked == 0 || m->tag > MOST_ERROR) {
        pages_service_refuse(s, m);
    } else if (asks) {
        room_answer(s, m);
    } else {
        s->room.asked--;
        if (s->room.status == 0)
            s->room.status = -(int)m->tag;
    }
}
