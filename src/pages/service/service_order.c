/* service_order.c: orders from the leader of a node to its service, one at a time: for checkpoints, and before the job
 * ends. */
#include <errno.h>

#include "pages/service/service.h"

int pages_service_order(struct mailbox *box, enum service_order what, uint64_t argument) {
    struct mailbox_request request = {.what = what, .words = {argument}};
    int64_t answer;
    int cell = net_mailbox_ask(box, &request);
    if (cell < 0)
        return cell;
    while (!net_mailbox_answered(box, cell, &answer))
        net_mailbox_wait(box, cell, 100000);
    return (int)answer;
}

unsigned pages_order_take(struct service *s) {
    struct mailbox_request request;
    int cell;
    if (s->order.what != ORDER_NOTHING || !net_mailbox_take(s->box, &request, &cell))
        return 0;
    s->order.what = (enum service_order)request.what;
    s->order.argument = request.words[0];
    s->order.cell = cell;
    return 1;
}

/* Starts to drop all dirty copies. Returns whether none is left, and no request is open that could bring one. */
static bool clean(struct service *s) {
    bool all = true;
    pages_cache_release(s, true);
    for (uint32_t i = 0; i < s->pool->shared->frames; i++)
        all &= pages_pool_evict_dirty(s->pool, i) == 0;
    return all;
}

static bool is_idle(struct service *s, int *status) {
    pages_behind_flush(s);
    return pages_io_is_idle(s, status) && s->home.works_taken == 0 && pages_service_open_requests(s) == 0 &&
           (!s->home.directory || pages_directory_is_idle(s->home.directory));
}

static void order_hold(struct service *s, bool on) {
    s->held.on = on;
    if (on)
        return;
    pages_cache_release(s, false);
    pages_small_release(s);
}

/* Runs on all stores, even after one has failed. Returns the first error. */
static int on_all(struct service *s, int (*step)(struct store *store, uint64_t epoch)) {
    int status = 0;
    for (int i = 0; i < s->stores.locals; i++) {
        int one = s->stores.homes[i].store ? step(s->stores.homes[i].store, s->order.argument) : 0;
        status = status ? status : one;
    }
    return status;
}

static int order_compare(const struct service *s) {
    bool changed = false;
    for (int i = 0; i < s->stores.locals; i++)
        changed |= s->stores.homes[i].store && pages_store_is_changed(s->stores.homes[i].store);
    return changed ? -ESTALE : 0;
}

/* Returns whether the order is done, and its result. */
static bool carry_out(struct service *s, int *status) {
    *status = 0;
    switch (s->order.what) {
    case ORDER_HOLD:
        order_hold(s, s->order.argument);
        return true;
    case ORDER_KEEP_OWNED:
        if (s->home.directory)
            pages_directory_hand_over(s->home.directory, s->order.argument);
        return true;
    case ORDER_RESERVE:
        return pages_room_for_all(s, status);
    case ORDER_CLEAN:
        return clean(s);
    case ORDER_IDLE:
        return is_idle(s, status);
    case ORDER_COMPARE:
        *status = order_compare(s);
        return true;
    case ORDER_PREPARE:
        if (!is_idle(s, status))
            return false;
        if (*status != 0)
            return true;
        *status = on_all(s, pages_store_prepare);
        return true;
    case ORDER_COMMIT:
        *status = on_all(s, pages_store_commit);
        return true;
    case ORDER_ABANDON:
        *status = on_all(s, pages_store_abandon);
        return true;
    default:
        *status = -ENOSYS;
        return true;
    }
}

unsigned pages_order_go_on(struct service *s) {
    int status;
    if (s->order.what == ORDER_NOTHING || !carry_out(s, &status))
        return 0;
    s->order.what = ORDER_NOTHING;
    net_mailbox_answer(s->box, s->order.cell, status);
    return 1;
}
