/* pull.c: fetches parked requests from other nodes, for which no place was free, when this rank polls.
 *
 *      parked --> a place is free: taken, and requested --> the answer is in the place --> queue
 *
 * They are queued in the order in which they were parked, whichever answer arrives first, and the helper parks later
 * requests behind them: so the messages of a sender keep their order. The helper of the sender's node answers from the
 * sender's slot in shared memory; the sender itself need not do anything. */
#include <pthread.h>
#include <string.h>

#include "gas/rma/ask.h"
#include "gas/am/far.h"
#include "gas/rma/serve.h"

struct pull {
    struct net_op op;
    struct am_parked from;
    int place;
    uint64_t asked; /* bytes */
};

/* A ring of fetches under way, at most one per place. */
static struct pull pulls[AM_PLACES];
static unsigned first;
static _Atomic unsigned count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects these; taken before that of ask.c */

bool pull_is_busy(void) {
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

static size_t next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct pull *p = op->arg;
    size_t bytes = op->left < answer_room ? (size_t)op->left : answer_room;
    (void)room;
    struct far_pull_header h = {.rank = p->from.source, .slot = p->from.slot, .offset = p->asked};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->answer_bytes = bytes;
    p->asked += bytes;
    return bytes;
}

/* The message, then its payload. */
static void take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    const struct pull *p = op->arg;
    struct message *m = &box_mine()->places[p->place].request;
    size_t head = offset < sizeof *m ? sizeof *m - offset : 0;
    head = head < bytes ? head : bytes;
    if (head > 0)
        memcpy((char *)m + offset, data, head);
    if (bytes > head)
        memcpy(box_place_data(gas.world->local, p->place, AM_REQUEST) + (offset + head - sizeof *m),
               (const char *)data + head, bytes - head);
}

static bool start(void) {
    struct am_box *b = box_mine();
    int place = box_has_parked() ? bits_take(&b->free_places) : -1;
    if (place < 0)
        return false;
    unsigned under_way = atomic_load_explicit(&count, memory_order_relaxed);
    struct pull *p = &pulls[(first + under_way) % AM_PLACES];
    box_take_parked(&p->from); /* exists: only the holder of the lock takes them */
    p->place = place;
    p->asked = 0;
    b->places[place].slot = p->from.slot;
    p->op = (struct net_op){.handler = GAS_AM_PULL,
                            .fetches = true,
                            .left = sizeof(struct message) + p->from.bytes,
                            .next = next,
                            .take = take,
                            .arg = p};
    ask_start((int)gas.world->node_of[p->from.source], &p->op);
    atomic_store_explicit(&count, under_way + 1, memory_order_relaxed);
    return true;
}

/* The helper that parked it has seen its header; this came from the sender's slot. */
static void check_pulled(const struct pull *p) {
    const struct message *m = &box_mine()->places[p->place].request;
    if (UNLIKELY(!far_is_sound(m, p->from.source) || far_payload(m) != p->from.bytes))
        gas_fail("active message", "node %u sends what no process of this job would send", p->from.source);
}

static bool finish(void) {
    unsigned under_way = atomic_load_explicit(&count, memory_order_relaxed);
    struct pull *p = &pulls[first];
    if (under_way == 0 || !ask_is_done(&p->op))
        return false;
    check_pulled(p);
    box_post_far(gas.world->local, p->from.source, p->place);
    box_unpark();
    first = (first + 1) % AM_PLACES;
    atomic_store_explicit(&count, under_way - 1, memory_order_relaxed);
    return true;
}

bool pull_tend(void) {
    bool happened = false;
    am_enter();
    if (pthread_mutex_trylock(&lock) == 0) {
        while (start())
            happened = true;
        while (finish())
            happened = true;
        pthread_mutex_unlock(&lock);
    }
    am_leave();
    return happened;
}
