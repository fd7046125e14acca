/* replace.h: which copy makes room for another: lists of frames, in the order in which they would go.
 *
 *      lru        new ->[ LRU ]-> victim
 *      lru+fifo   new ->[ LRU ]-> is it the only copy (E, M)? no: victim
 *                                                             yes: ->[ FIFO ]-> victim, if more than half of the frames
 *                                                                               are here, or nothing is in LRU
 *      lru+keep   new ->[ LRU ]-> is it the only copy? no: victim
 *                                                      yes: ->[ FIFO ], while there is room; then victim, or the head of FIFO, if nobody used it
 *                                                           and this one came back, or else one time in eight
 *
 * lru+fifo is the paper's: pages that others have as well go first, because they can be fetched from there. A walk
 * through more than FIFO holds drives all of it through FIFO, and the head has always just gone when its turn comes
 * again. lru+keep lets the newcomer go instead: what is kept stays as long as it is used, and is found by the next walk.
 *
 * How much room what is new has beside what is kept, from an eighth of the frames to all but an eighth, follows from what
 * is seen. Names of pages that had to go are remembered for a while. One that comes back, so soon that three times
 * the room would have kept it, was wanted by somebody who follows a walk, or by a program that has turned to other
 * pages: then what is new gets a frame more. A kept page that was used when a newcomer asks for its place: one less.
 *
 * A use only sets a mark; a frame that is found with it is put at the beginning of LRU again (or, if a newcomer asks
 * for its place in lru+keep, at the end of FIFO). So a hit costs one store, and the order is that of the last use as
 * far as it was looked at.
 *
 * A victim is proposed, not forced: the caller may find that it is in use, and asks for the next. Of n frames each has
 * its turn within 2 n calls. No memory of its own, no pointers: it lies in shared memory under the caller's lock. */
#ifndef HEARTH_PAGES_REPLACE_H
#define HEARTH_PAGES_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum replace_policy { REPLACE_LRU, REPLACE_LRU_FIFO, REPLACE_LRU_KEEP }; /* as in HEARTH_REPLACEMENT */
enum replace_list { REPLACE_NONE, REPLACE_IN_LRU, REPLACE_IN_FIFO };

struct replace_link {
    uint32_t older, newer; /* frame + 1; 0: none */
    uint32_t name;         /* of the page in it */
    uint32_t gone, when; /* not of this frame: name of a page that had to go, and when, in a table by names */
    uint8_t list;
    bool came_back;       /* it had to go, not long ago */
    _Atomic uint8_t used; /* since it was last looked at; set by any thread, without the lock */
};

struct replace {
    enum replace_policy policy;
    uint32_t frames;    /* of the pool */
    uint32_t room;      /* frames for what is new: lru+keep */
    uint32_t victims;   /* proposed so far: a clock */
    uint32_t newcomers; /* that found FIFO full, with a head that nobody used */
    struct {
        uint32_t oldest, newest, count;
    } lists[3];
};

void replace_open(struct replace *r, enum replace_policy policy, uint32_t frames);

/* A frame that holds a page from now on; one that does no more. `links` were all zero at the beginning. */
void replace_add(struct replace *r, struct replace_link *links, uint32_t frame, uint32_t name);
void replace_remove(struct replace *r, struct replace_link *links, uint32_t frame);

/* Proposes a victim: it stays in its list, as the newest. `is_only(arg, frame)`: nobody else has its page. False:
 * there is no frame in the lists. */
bool replace_propose(struct replace *r, struct replace_link *links,
                     bool (*is_only)(void *arg, uint32_t frame), void *arg, uint32_t *frame);

/* What a page is remembered by, never 0; two may have the same. */
static inline uint32_t replace_name(uint16_t home, uint32_t page) {
    return (uint32_t)random_mix((uint64_t)page << 16 | home) | UINT32_C(1) << 31;
}

/* Nodes that walk through the same pages hold the same copies, and would drop them at the same time. So of the copies of a
 * page, that of one node, which follows from its number, is taken for the only one: together the nodes hold more
 * than one of them could. */
static inline bool replace_is_keeper(uint16_t home, uint32_t page, uint32_t nodes, uint32_t self) {
    uint64_t x = ((uint64_t)page << 16 | home) * UINT64_C(0x9e3779b97f4a7c15);
    return nodes > 1 && (x >> 32) % nodes == self;
}

/* Whether the lists are whole. */
bool replace_check(const struct replace *r, const struct replace_link *links);

#endif
