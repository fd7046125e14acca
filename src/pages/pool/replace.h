/* replace.h: replacement policy of the page pool: lists of frames in eviction order.
 *
 *      lru        new ->[ LRU ]-> victim
 *      lru+fifo   new ->[ LRU ]-> is it the only copy (E, M)? no: victim
 *                                                             yes: ->[ FIFO ]-> victim, if more than half of the frames
 *                                                                               are here, or LRU is empty
 *      lru+keep   new ->[ LRU ]-> is it the only copy? no: victim
 *                                                      yes: ->[ FIFO ], while there is room; then it is the victim,
 *                                                           unless the head of FIFO is unused, and another node has
 *                                                           it too by now, or this page came back (else one time
 *                                                           in eight): then the head is
 *
 * lru+fifo is the policy of the paper: pages that other nodes hold too are evicted first, because they can be fetched
 * from there. A scan of more pages than FIFO holds drives all of them through FIFO, and the head has always just been
 * evicted when it is needed again. lru+keep evicts the new page instead: kept pages stay as long as they are used, and
 * the next scan finds them.
 *
 * The share of the frames for new pages (`room`), from an eighth to all but an eighth, adapts. The names of evicted
 * pages are remembered for a while. If one comes back so soon that three times the room would have kept it, another
 * rank follows the same scan, or the program has moved on to other pages: `room` grows by one frame. If a kept page
 * turns out to be in use when a new page competes for its place, `room` shrinks by one.
 *
 * A use only sets a mark. A frame that is found with the mark moves to the start of LRU (or, when a new page competes
 * for its place in lru+keep, to the end of FIFO). So a hit costs one store, and the order is by last use with the
 * resolution of these inspections.
 *
 * A victim is proposed, not forced: if the caller finds it in use, it asks for the next. Each of n frames is proposed
 * within 2 n calls. No memory of its own, no pointers: the state lies in shared memory under the caller's lock. */
#ifndef HEARTH_PAGES_REPLACE_H
#define HEARTH_PAGES_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum replace_policy { REPLACE_LRU, REPLACE_LRU_FIFO, REPLACE_LRU_KEEP }; /* as in HEARTH_REPLACEMENT */
enum replace_list { REPLACE_NONE, REPLACE_IN_LRU, REPLACE_IN_FIFO };

struct replace_link {
    uint32_t older, newer; /* frame + 1; 0: none */
    uint32_t name;         /* of the page in the frame */
    /* Unrelated to this frame: a hash table of evicted pages, by name: the name, and the time of eviction. */
    uint32_t gone, when;
    uint8_t list;
    bool came_back;       /* it was evicted not long ago */
    _Atomic uint8_t used; /* since the last inspection; set by any thread without the lock */
};

struct replace {
    enum replace_policy policy;
    uint32_t frames;    /* of the pool */
    uint32_t room;      /* frames for new pages: lru+keep */
    uint32_t victims;   /* proposed so far; serves as a clock */
    uint32_t newcomers; /* that found FIFO full with an unused head */
    struct {
        uint32_t oldest, newest, count;
    } lists[3];
};

void pages_replace_open(struct replace *r, enum replace_policy policy, uint32_t frames);

/* A frame begins to hold a page, or ceases to. `links` must be all zero at first. */
void pages_replace_add(struct replace *r, struct replace_link *links, uint32_t frame, uint32_t name);
void pages_replace_remove(struct replace *r, struct replace_link *links, uint32_t frame);

/* Proposes a victim, which stays in its list as the newest. `is_only(arg, frame)`: no other node has its page. False:
 * all lists are empty. */
bool pages_replace_propose(struct replace *r, struct replace_link *links,
                           bool (*is_only)(void *arg, uint32_t frame), void *arg, uint32_t *frame);

/* Hash of a page, never 0. Collisions are possible. */
static inline uint32_t pages_replace_name(uint16_t home, uint32_t page) {
    return (uint32_t)random_mix((uint64_t)page << 16 | home) | UINT32_C(1) << 31;
}

/* Nodes that scan the same pages hold the same copies and would drop them at the same time. So for each page, one node,
 * chosen by the page number, treats its copy as the only one. Together the nodes then hold more pages than one of them
 * could. */
static inline bool pages_replace_is_keeper(uint16_t home, uint32_t page, uint32_t nodes, uint32_t self) {
    uint64_t x = ((uint64_t)page << 16 | home) * UINT64_C(0x9e3779b97f4a7c15);
    return nodes > 1 && (x >> 32) % nodes == self;
}

/* Whether the lists are consistent. */
bool pages_replace_check(const struct replace *r, const struct replace_link *links);

#endif
