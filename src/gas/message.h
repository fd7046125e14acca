/* message.h: active messages in the shared memory of a node.
 *
 * Each rank has a box, which all processes of its node map. In it are
 *
 *      slots    for its own requests: the message and its payload, and the same again for the reply. A
 *               request keeps its slot until its reply was handled, or until it is known that there is
 *               none: a reply always has a place.
 *      places   for requests from other nodes, which the node's helper writes there; the reply to one
 *               leaves from there.
 *      bits     that say what is to be done: which slots of which rank of the node, and which places, hold
 *               a request for this rank; which of its own slots hold a reply; what is free.
 *
 * A request inside the node is never copied: its target runs the handler on the sender's slot. There is no
 * queue that could be full: every message that can exist has its bit.
 *
 *      sender                                       target
 *      slot: message, payload; bit in its inbox     takes the bit; handler; reply in the slot; bit in `replies`
 *      takes the bit; reply handler; slot is free */
#ifndef HEARTH_GAS_MESSAGE_H
#define HEARTH_GAS_MESSAGE_H

#include "gas/inside.h"

enum {
    AM_ARGS = 16,
    AM_MEDIUM = 32768, /* bytes of payload */
    AM_SLOTS = 32,     /* bits of a word */
    AM_PLACES = 32,
};

enum { AM_NO_REPLY = 255 }; /* as the kind of a reply */

struct message {
    uint32_t source; /* rank */
    uint8_t handler, kind, count;
    uint32_t bytes;
    uint64_t address; /* GASNETC_LONG: of the payload, in the target's segment */
    int32_t args[AM_ARGS];
};

struct am_slot {
    _Alignas(CACHE_LINE) struct message request;
    _Alignas(CACHE_LINE) struct message reply;
    _Atomic uint32_t holds; /* who still needs it: the reply, and a request on its way to another node */
};

struct am_place {
    _Alignas(CACHE_LINE) struct message request;
    _Alignas(CACHE_LINE) struct message reply;
    uint32_t slot; /* of the source */
};

/* Of a rank, in shared memory. Its words are changed by exchanges only: who sets a bit releases what it
 * stands for, who clears it acquires that. */
struct am_box {
    _Alignas(128) _Atomic uint32_t replies; /* own slots whose replies are in */
    _Atomic uint32_t arrived;               /* places that hold a request */
    _Alignas(
        128) _Atomic uint32_t asleep; /* the rank sleeps, or is about to. Partners: box_wake, box_sleep */
    struct wake wake;
    _Alignas(128) _Atomic uint32_t free_slots;
    _Alignas(128) _Atomic uint32_t free_places; /* taken by helpers */
    struct am_slot slots[AM_SLOTS];
    struct am_place places[AM_PLACES];
    _Alignas(128) _Atomic uint32_t
        inbox[]; /* [ranks of the node]: slots of that rank which hold a request for this one */
};

/* Collective. 0 or a negative code after a line, everywhere. */
int box_open(void);

struct am_box *box_of(int local); /* of a rank of this node */
struct am_box *box_mine(void);

/* Payloads, AM_MEDIUM bytes each. */
enum am_data { AM_REQUEST, AM_REPLY };
char *box_slot_data(int local, int slot, enum am_data which);
char *box_place_data(int local, int place, enum am_data which);

/* Takes one of the bits that are set; -1: none is. */
int bits_take(_Atomic uint32_t *word);
/* Takes that one; whether it was set. */
static inline bool bits_take_one(_Atomic uint32_t *word, int bit) {
    uint32_t mask = (uint32_t)1 << bit;
    return atomic_fetch_and_explicit(word, ~mask, memory_order_acq_rel) & mask;
}
/* In one order with `asleep`: see box.c. */
static inline void bits_set(_Atomic uint32_t *word, int bit) {
    atomic_fetch_or(word, (uint32_t)1 << bit);
}

/* After a bit was set in a box: its rank looks, or will not fall asleep. Any thread, any process of the node. */
void box_wake(struct am_box *b);

/* One less needs that slot; it is free, and its rank woken, when nobody does. */
void box_release(struct am_box *b, int slot);

/* Takes a free one of this rank's slots; -1: there is none. Who has to wait for one says so meanwhile, so
 * that box_sleep ends when one becomes free. */
int box_take_slot(void);
void box_wants_slot(int more); /* 1, later -1 */

/* Whether there is nothing for this rank to do. */
bool box_is_empty(void);

/* The rank sleeps until something is put into its box, or for so long. One thread at a time; others just wait
 * so long. */
void box_sleep(uint64_t microseconds);

#endif
