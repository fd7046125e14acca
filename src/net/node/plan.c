/* plan.c: divides the segment into the queue and boxes.
 *
 * If every other process can have a box of a useful size, it gets one, and the queue serves little more than
 * messages to oneself. If there are too many processes for that, boxes have the smallest useful size, the senders
 * with the most messages get them, and the rest share a large queue. A box need not be larger than BOX_MOST: beyond
 * it streams get no faster. */
#include "net/node/plan.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"

enum {
    BOX_LEAST = 24 << 10,
    BOX_MOST = 512 << 10,
    QUEUE_LEAST = 4 << 10,
    QUEUE_FEW = 64 << 10, /* if every process has a box */
    QUEUE_MOST = 256 << 10,
    EAGER_MOST = 16 << 10,
    MOST_PROCESSES = 1 << 16,
};
static const size_t most_bytes = (size_t)1 << 30;

static uint64_t power_below(uint64_t n) {
    return n ? (uint64_t)1 << (63 - __builtin_clzll(n)) : 0;
}

static uint32_t queue_within(size_t room, size_t most) {
    return (uint32_t)power_below(room < most ? room : most);
}

static size_t doorbells_bytes(const struct plan *p) {
    return round_up(p->boxes * sizeof(uint16_t), 2 * CACHE_LINE);
}

/* Everything before the rings. */
static size_t plan_fixed_bytes(const struct plan *p) {
    return sizeof(struct control) + doorbells_bytes(p) + p->boxes * sizeof(struct box_shared);
}

size_t net_plan_bytes(const struct plan *p) {
    return plan_fixed_bytes(p) + p->queue_bytes + (size_t)p->boxes * p->box_bytes;
}

_Atomic uint16_t *net_plan_doorbells(const struct plan *p, void *base) {
    return (_Atomic uint16_t *)((char *)base + sizeof(struct control));
}

struct box_shared *net_plan_boxes(const struct plan *p, void *base) {
    return (struct box_shared *)((char *)net_plan_doorbells(p, base) + doorbells_bytes(p));
}

char *net_plan_queue(const struct plan *p, void *base) {
    return (char *)base + plan_fixed_bytes(p);
}

char *net_plan_box(const struct plan *p, void *base, uint32_t box) {
    return net_plan_queue(p, base) + p->queue_bytes + (size_t)box * p->box_bytes;
}

size_t net_plan_eager(const struct plan *p) {
    size_t record = net_queue_most(p->queue_bytes);
    if (p->boxes && net_box_most(p->box_bytes) < record)
        record = net_box_most(p->box_bytes);
    size_t payload = power_below(record - sizeof(struct node_record) - net_plan_header_room(p));
    return payload < EAGER_MOST ? payload : EAGER_MOST;
}

/* A box of a useful size for each of the others, if that fits into the limit. */
static bool divide_among_all(struct plan *p, size_t limit) {
    p->boxes = p->count - 1;
    p->queue_bytes = queue_within(limit / 4, QUEUE_FEW);
    p->box_bytes = 0;
    size_t used = net_plan_bytes(p);
    size_t each = used > limit ? 0 : (limit - used) / (p->boxes ? p->boxes : 1);
    p->box_bytes = (uint32_t)((each < BOX_MOST ? each : BOX_MOST) & ~(size_t)(CACHE_LINE - 1));
    return p->box_bytes >= BOX_LEAST || (!p->boxes && used <= limit);
}

/* As many boxes of the smallest size as fit, possibly none. */
static void divide_among_some(struct plan *p, size_t limit) {
    p->queue_bytes = queue_within(limit / 4, QUEUE_MOST);
    p->box_bytes = BOX_LEAST;
    p->boxes = (uint32_t)(limit / BOX_LEAST);
    while (p->boxes && net_plan_bytes(p) > limit)
        p->boxes--;
}

static bool plan_is_possible(const struct net_options *o) {
    return o->count >= 1 && o->count <= MOST_PROCESSES && o->rank >= 0 && o->rank < o->count &&
           o->header_bytes <= RECORD_MOST_HEADER;
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t plan_whole_pages(size_t limit) {
    size_t page = page_bytes();
    return (limit < most_bytes ? limit : most_bytes) / page * page;
}

int net_plan_make(struct plan *p, const struct net_options *o) {
    if (!plan_is_possible(o)) {
        log_error("shared memory: invalid options: rank %d of %d, headers of %zu bytes", o->rank, o->count,
                  o->header_bytes);
        return -EINVAL;
    }
    size_t limit = plan_whole_pages(o->limit);
    *p = (struct plan){.count = (uint32_t)o->count, .header_bytes = (uint32_t)o->header_bytes};
    if (!divide_among_all(p, limit))
        divide_among_some(p, limit);
    if (p->queue_bytes >= QUEUE_LEAST && net_plan_bytes(p) <= limit)
        return 0;
    log_warn("shared memory: %zu bytes are too few, at least %zu are needed; "
             "messages within the node go through MPI",
             o->limit, (size_t)round_up(4 * QUEUE_LEAST, page_bytes()));
    return -EINVAL;
}

static bool is_queue_size(uint64_t n) {
    return n >= QUEUE_LEAST && n <= QUEUE_MOST && n == power_below(n);
}

bool net_plan_is_valid(const struct plan *p, size_t bytes) {
    return p->header_bytes <= RECORD_MOST_HEADER && is_queue_size(p->queue_bytes) &&
           p->boxes < MOST_PROCESSES &&
           (!p->boxes || (p->box_bytes >= BOX_LEAST && p->box_bytes <= BOX_MOST)) &&
           p->box_bytes % CACHE_LINE == 0 && net_plan_bytes(p) <= bytes;
}
