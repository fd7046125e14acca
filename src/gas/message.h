/* message.h: active messages in the shared memory of a node.
 *
 * Each rank has a box, which all processes of its node map. In it are
 *
 *      slots    for its own requests: the message and its payload, and the same again for the reply. A
 *               request keeps its slot until its reply was handled, or until it is known that there is
 *               none: a reply always has a place.
 *      places   for requests from other nodes, which the node's helper writes there; the reply to one
 *               leaves from there.
 *      queues   that say what is to be done, in which order: one per rank of the node, with the slots that
 *               hold a request of that rank or its reply; and some for messages of all other nodes, divided
 *               by the rank that sent them.
 *      parked   requests from other nodes for which no place was free: who sent them, and from which slot.
 *               This rank fetches them from there when it polls (pull.c).
 *
 * A request inside the node is never copied: its target runs the handler on the sender's slot. No queue can
 * be full: a cell for every message that can exist.
 *
 *      sender                                       target
 *      slot: message, payload; cell in its queue    takes the cell; handler; reply in the slot; cell in a queue
 *      takes the cell; reply handler; slot is free
 *
 * **Order.** A thread's messages to one rank are in one queue in the order in which it sent them, requests and replies. One
 * thread at a time takes from a queue, and runs the handler before it takes the next. */
#ifndef HEARTH_GAS_MESSAGE_H
#define HEARTH_GAS_MESSAGE_H

#include "gas/inside.h"

enum {
    AM_ARGS = 16,
    AM_MEDIUM = 32768, /* bytes of payload */
    AM_SLOTS = 32,     /* bits of a word */
    AM_PLACES = 32,
    AM_QUEUE = AM_SLOTS + AM_SLOTS, /* cells: requests of the one, replies to the other */
    AM_FAR_QUEUES = 4,              /* for other nodes */
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
    _Atomic uint32_t in_use; /* from when its request leaves until it is free */
};

struct am_place {
    _Alignas(CACHE_LINE) struct message request;
    _Alignas(CACHE_LINE) struct message reply;
    uint32_t slot; /* of the source */
};

/* A ring. 0: empty; otherwise 1 + the slot or place, and AM_IS_REPLY. Who fills a cell releases what it stands for, who
 * empties it acquires that. A writer takes the next number from the tail of the queue, and writes the cell of that number. */
enum { AM_IS_REPLY = 0x40 };
struct am_queue {
    _Alignas(CACHE_LINE) _Atomic uint8_t cells[AM_QUEUE];
};
_Static_assert(AM_PLACES <= AM_SLOTS && AM_QUEUE == CACHE_LINE, "a line each");

/* Of a rank, in shared memory. */
struct am_box {
    _Alignas(
        128) _Atomic uint32_t asleep; /* the rank sleeps, or is about to. Partners: box_wake, box_sleep */
    struct wake wake;
    _Alignas(128) _Atomic uint32_t free_slots;
    _Alignas(128) _Atomic uint32_t free_places; /* taken by helpers, and to pull */
    _Atomic uint32_t parked;                    /* requests that are parked, or being pulled */
    _Atomic uint32_t parked_tail;
    _Atomic uint32_t far_tails[AM_FAR_QUEUES];
    _Atomic int32_t pid;        /* 0: it is not to be sent signals */
    _Atomic int32_t leave_code; /* 1 + the code with which another rank leaves; 0: none has */
    struct am_slot slots[AM_SLOTS];
    struct am_place places[AM_PLACES];
    struct am_queue queues[]; /* [ranks of the node + AM_FAR_QUEUES] */
};

/* Collective. 0 or a negative code after a line, everywhere. */
int box_open(void);

struct am_box *box_of(int local); /* of a rank of this node */
struct am_box *box_mine(void);

/* Payloads, AM_MEDIUM bytes each. */
enum am_data { AM_REQUEST, AM_REPLY };
char *box_slot_data(int local, int slot, enum am_data which);
char *box_place_data(int local, int place, enum am_data which);

/* Of parked requests, a ring: as many cells as there can be requests from other nodes. */
_Atomic uint64_t *box_parked(int local);
uint32_t box_parked_cells(void); /* a power of two */

/* Takes one of the bits that are set; -1: none is. */
int bits_take(_Atomic uint32_t *word);
/* In one order with `asleep`: see box.c. */
static inline void bits_set(_Atomic uint32_t *word, int bit) {
    atomic_fetch_or(word, (uint32_t)1 << bit);
}

/* After something was put into a box: its rank looks, or will not fall asleep. Any thread, any process of the node. */
void box_wake(struct am_box *b);

/* ---- queues: what is `index`, and AM_IS_REPLY ---- */

/* From this rank, or (from a helper, or pulled) from a rank of another node. Both wake the rank. */
void box_post(int local, int what);
void box_post_far(int local, uint32_t source, int what);

/* Takes what came, each with one call of `run` and in order; `queue`: of that rank of the node, or of other nodes. Whether
 * anything was taken. At most one thread at a time is in a queue. */
typedef void box_run(int queue, int what);
bool box_take_all(box_run *run);

int queue_open(void); /* of this process; 0 or -ENOMEM after a line */
/* Whether there is something; QUEUE_TAKEN: only where another thread is. */
enum queue_look { QUEUE_EMPTY, QUEUE_TAKEN, QUEUE_HAS };
enum queue_look queue_look(void);

/* ---- parked requests ---- */

struct am_parked {
    uint32_t source, slot, bytes;
};
void box_park(int local, const struct am_parked *p);
/* The next of this rank, to be pulled: one thread at a time. When it is in a queue, box_unpark. */
bool box_take_parked(struct am_parked *p);
bool box_has_parked(void);
void box_unpark(void);

/* ---- slots ---- */

/* Nobody needs that slot any more; its rank is woken. */
void box_release(struct am_box *b, int slot);

/* Takes a free one of this rank's slots; -1: there is none. Who has to wait for one says so meanwhile, so
 * that box_sleep ends when one becomes free. */
int box_take_slot(void);
void box_wants_slot(int more); /* 1, later -1 */

/* The rank sleeps until something is put into its box, or for so long. One thread at a time; others just wait
 * so long. */
void box_sleep(uint64_t microseconds);

#endif
