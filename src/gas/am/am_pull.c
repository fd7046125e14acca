/* am_pull.c: fetches parked requests from other nodes, for which no place was free, when this rank polls.
 *
 *      parked --> a place is free: taken, and requested --> the answer is in the place --> queue
 *
 * They are queued in the order in which they were parked, whichever answer arrives first, and the helper parks later
 * requests behind them: so the messages of a sender keep their order. The helper of the sender's node answers from the
 * sender's slot in shared memory; the sender itself need not do anything. */
#include <pthread.h>
#include <string.h>

#include "base/compiler.h"
#include "gas/memory/ask.h"
#include "gas/am/am_remote.h"

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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the ring; taken before the lock of ask.c */

bool gas_pull_is_busy(void) {
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

static size_t pull_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct pull *p = op->arg;
    size_t bytes = op->left < answer_room ? (size_t)op->left : answer_room;
    (void)room;
    struct remote_pull_header h = {.rank = p->from.source, .slot = p->from.slot, .offset = p->asked};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->answer_bytes = bytes;
    p->asked += bytes;
    return bytes;
}

/* The message, then its payload. */
static void pull_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    const struct pull *p = op->arg;
    struct am_message *m = &gas_box_mine()->places[p->place].request;
    size_t head = offset < sizeof *m ? sizeof *m - offset : 0;
    head = head < bytes ? head : bytes;
    if (head > 0)
        memcpy((char *)m + offset, data, head);
    if (bytes > head)
        memcpy(gas_box_place_data(gas_job.world->local, p->place, AM_REQUEST) + (offset + head - sizeof *m),
               (const char *)data + head, bytes - head);
}

static bool pull_start(void) {
    struct am_box *b = gas_box_mine();
    int place = gas_box_has_parked() ? gas_bits_take(&b->free_places) : -1;
    if (place < 0)
        return false;
    unsigned under_way = atomic_load_explicit(&count, memory_order_relaxed);
    struct pull *p = &pulls[(first + under_way) % AM_PLACES];
    gas_box_take_parked(&p->from); /* exists: only the holder of the lock takes them */
    p->place = place;
    p->asked = 0;
    b->places[place].slot = p->from.slot;
    p->op = (struct net_op){.handler = GAS_AM_PULL,
                            .fetches = true,
                            .left = sizeof(struct am_message) + p->from.bytes,
                            .next = pull_next,
                            .take = pull_take,
                            .arg = p};
    gas_ask_start((int)gas_job.world->node_of[p->from.source], &p->op);
    atomic_store_explicit(&count, under_way + 1, memory_order_relaxed);
    return true;
}

/* The helper validated the header that it parked. The message itself was read from the sender's slot later, so it is
 * validated here. */
static void check_pulled(const struct pull *p) {
    const struct am_message *m = &gas_box_mine()->places[p->place].request;
    if (UNLIKELY(!gas_remote_is_valid(m, p->from.source) || gas_remote_payload(m) != p->from.bytes))
        gas_fail("active message", "invalid message header from node %u", p->from.source);
}

static bool pull_finish(void) {
    unsigned under_way = atomic_load_explicit(&count, memory_order_relaxed);
    struct pull *p = &pulls[first];
    if (under_way == 0 || !gas_ask_is_done(&p->op))
        return false;
    check_pulled(p);
    gas_box_post_remote(gas_job.world->local, p->from.source, p->place);
    gas_box_unpark();
    first = (first + 1) % AM_PLACES;
    atomic_store_explicit(&count, under_way - 1, memory_order_relaxed);
    return true;
}

bool gas_pull_tend(void) {
    bool happened = false;
    gas_am_enter();
    if (pthread_mutex_trylock(&lock) == 0) {
        while (pull_start())
            happened = true;
        while (pull_finish())
            happened = true;
        pthread_mutex_unlock(&lock);
    }
    gas_am_leave();
    return happened;
}
