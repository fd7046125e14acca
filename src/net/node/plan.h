/* plan.h: the layout of a segment.
 *
 *      | control | doorbells | boxes' shared parts | ring of the queue | ring of box 0 | ring of box 1 | ...
 *
 * The parts before the rings are grouped into cache lines by writer: the owner of the segment, one of the others, or
 * all. */
#ifndef HEARTH_NET_NODE_PLAN_H
#define HEARTH_NET_NODE_PLAN_H

#include "base/compiler.h"
#include "net/node/box.h"
#include "net/node/queue.h"
#include "net/shm/segment.h"
#include "net/shm/wake.h"

struct plan {
    uint32_t count, header_bytes; /* as in net_options */
    uint32_t queue_bytes, box_bytes;
    uint32_t boxes;
};

struct control {
    /* Written before the segment is announced, and read-only from then on. */
    struct segment_token token;
    struct plan plan;
    uint64_t probe; /* address of a copy of the token in the owner's private memory, to test pulling */
    uint64_t base;  /* of the segment, in the owner */

    _Alignas(2 * CACHE_LINE) _Atomic uint32_t inside; /* written by the owner */
    _Alignas(2 * CACHE_LINE) struct wake wake;
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t
        offer; /* what the owner offers to share; 0: nothing, or it was claimed */
    /* Boxes assigned to writers so far; concurrent requests may push it beyond the number of boxes. */
    _Alignas(2 * CACHE_LINE) _Atomic uint32_t taken;
    struct queue_shared queue;
};

/* The best layout for these options: returns 0, or -EINVAL after logging one line. */
int net_plan_make(struct plan *p, const struct net_options *options);

/* Whether the plan is a usable layout of this many bytes, within the bounds that net_plan_make keeps. */
bool net_plan_is_valid(const struct plan *p, size_t bytes);

/* Bytes of the segment; at most 1 GiB for a plan of net_plan_make. */
size_t net_plan_bytes(const struct plan *p);

/* The largest payload that both the boxes and the queue accept: a power of two. */
size_t net_plan_eager(const struct plan *p);

/* The parts of the segment. */
_Atomic uint16_t *net_plan_doorbells(const struct plan *p, void *base);
struct box_shared *net_plan_boxes(const struct plan *p, void *base);
char *net_plan_queue(const struct plan *p, void *base);
char *net_plan_box(const struct plan *p, void *base, uint32_t box);

static inline size_t net_plan_header_room(const struct plan *p) {
    return round_up(p->header_bytes, 8);
}

#endif
