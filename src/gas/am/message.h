/* message.h: active messages in the shared memory of a node.
 *
 * Each rank has a box, which all processes of its node map. It contains
 *
 *      slots    for its own requests: the message and its payload, and the same again for the reply. A request
 *               keeps its slot until its reply was handled, or until it is known that there is none: so there is
 *               always space for a reply.
 *      places   for requests from other nodes, written by the node's helper; the reply is sent from there.
 *      queues   of pending work, in order: one per rank of the node, with the slots that hold a request of that
 *               rank or its reply; and some for messages of all other nodes, selected by the sending rank.
 *      parked   requests from other nodes for which no place was free: the sender and its slot. This rank
 *               fetches them from there when it polls (am_pull.c).
 *
 * A request inside the node is never copied: its target runs the handler on the sender's slot. A queue cannot overflow:
 * it has a cell for every message that can exist.
 *
 *      sender                                        target
 *      slot: message, payload; cell in its queue     takes the cell; handler; reply in the slot; cell in a queue
 *      takes the cell; reply handler; slot is free
 *
 * **Order.** All messages of a thread to one rank, requests and replies, are in one queue in the order in which it sent
 * them. One thread at a time takes from a queue, and runs the handler before it takes the next. */
#ifndef HEARTH_GAS_MESSAGE_H
#define HEARTH_GAS_MESSAGE_H

#include "base/compiler.h"
#include "gas/process/process.h"

enum {
    AM_ARGS = 16,
    AM_MEDIUM = 32768, /* bytes of payload */
    AM_SLOTS = 32,     /* bits of a word */
    AM_PLACES = 32,
    AM_QUEUE = AM_SLOTS + AM_SLOTS, /* cells: requests of one rank, replies to the other */
    AM_REMOTE_QUEUES = 4,           /* for other nodes */
};

enum { AM_NO_REPLY = 255 }; /* kind of a reply that does not exist */

struct am_message {
    uint32_t source; /* rank */
    uint8_t handler, kind, count;
    uint32_t bytes;
    uint64_t address; /* GASNETC_LONG: of the payload, in the target's segment */
    int32_t args[AM_ARGS];
};

struct am_slot {
    _Alignas(CACHE_LINE) struct am_message request;
    _Alignas(CACHE_LINE) struct am_message reply;
    _Atomic uint32_t in_use; /* from the time its request is sent until the slot is free */
};

struct am_place {
    _Alignas(CACHE_LINE) struct am_message request;
    _Alignas(CACHE_LINE) struct am_message reply;
    uint32_t slot; /* of the source */
};

/* A ring of cells. A cell holds the slot or place, AM_IS_REPLY, and the lap bit AM_LAP (am_queue.c). Writing a cell releases the
 * message it refers to; reading it acquires that message. A writer takes the next number from the tail of the queue, and writes
 * the cell of that number. */
enum { AM_IS_REPLY = 0x40, AM_LAP = 0x80 };
struct am_queue {
    _Alignas(CACHE_LINE) _Atomic uint8_t cells[AM_QUEUE];
};
_Static_assert(AM_PLACES <= AM_SLOTS && AM_QUEUE == CACHE_LINE, "a line each");

/* Of a rank, in shared memory. */
struct am_box {
    /* The rank sleeps or is about to; pairs with gas_box_wake, gas_box_sleep. */
    _Alignas(128) _Atomic uint32_t asleep;
    struct wake wake;
    _Alignas(128) _Atomic uint32_t free_slots;
    _Alignas(128) _Atomic uint32_t free_places; /* taken by helpers, and for pulls */
    _Atomic uint32_t parked;                    /* requests that are parked or being pulled */
    _Atomic uint32_t parked_tail;
    _Atomic uint32_t remote_tails[AM_REMOTE_QUEUES];
    _Atomic int32_t pid;        /* 0: it must not be sent signals */
    _Atomic int32_t leave_code; /* 1 + the exit code of another rank; 0: none has left */
    struct am_slot slots[AM_SLOTS];
    struct am_place places[AM_PLACES];
    struct am_queue queues[]; /* [ranks of the node + AM_REMOTE_QUEUES] */
};

/* Collective. Returns 0, or a negative code after an error line, the same on all ranks. */
int gas_box_open(void);

struct am_box *gas_box_of(int local); /* of a rank of this node */
struct am_box *gas_box_mine(void);

/* Payloads, AM_MEDIUM bytes each. */
enum am_data { AM_REQUEST, AM_REPLY };
char *gas_box_slot_data(int local, int slot, enum am_data which);
char *gas_box_place_data(int local, int place, enum am_data which);

/* Ring of parked requests: as many cells as there can be requests from other nodes. */
_Atomic uint64_t *gas_box_parked(int local);
uint32_t gas_box_parked_cells(void); /* a power of two */

/* Clears and returns one of the bits that are set; -1: none is. */
int gas_bits_take(_Atomic uint32_t *word);
/* Sequentially consistent with `asleep`: see am_box.c. */
static inline void gas_bits_set(_Atomic uint32_t *word, int bit) {
    atomic_fetch_or(word, (uint32_t)1 << bit);
}

/* Called after something was put into a box: its rank will notice it, or not fall asleep. Any thread of any process of
 * the node. */
void gas_box_wake(struct am_box *b);

/* Sends SIGQUIT to that rank of this node, because another rank leaves with this code. Any thread of any process of the
 * node. */
void gas_box_quit(int local, int code);
/* Whether that rank of this node leaves already. */
bool gas_box_is_leaving(int local);

/* ---- queues: `what` is an index, combined with AM_IS_REPLY ---- */

/* Post from this rank, or (by a helper, or pulled) from a rank of another node. Both wake the target rank. */
void gas_box_post(int local, int what);
void gas_box_post_remote(int local, uint32_t source, int what);

/* Takes everything that has arrived, in order, with one call of `run` for each. `queue`: of a rank of the node, or of
 * other nodes. Returns whether anything was taken. At most one thread at a time processes a queue. */
typedef void box_run(int queue, int what);
bool gas_box_take_all(box_run *run);

int gas_queue_open(void); /* of this process; 0, or -ENOMEM after an error line */
/* Whether a queue is non-empty; QUEUE_TAKEN: only queues that other threads process. */
enum queue_look { QUEUE_EMPTY, QUEUE_TAKEN, QUEUE_HAS };
enum queue_look gas_queue_look(void);

/* ---- parked requests ---- */

struct am_parked {
    uint32_t source, slot, bytes;
};
void gas_box_park(int local, const struct am_parked *p);
/* Takes the next parked request of this rank, to be pulled: one thread at a time. Once it is in a queue, call
 * gas_box_unpark. */
bool gas_box_take_parked(struct am_parked *p);
bool gas_box_has_parked(void);
void gas_box_unpark(void);

/* ---- slots ---- */

/* Frees a slot and wakes its rank. */
void gas_box_release(struct am_box *b, int slot);

/* Takes a free slot of this rank; -1: none is free. A thread that waits for one announces this with gas_box_wants_slot, so
 * that gas_box_sleep ends when one becomes free. */
int gas_box_take_slot(void);
void gas_box_wants_slot(int more); /* 1 to start waiting, -1 to end */

/* Sleeps until something is put into the box of this rank, or until the time is over. One thread at a time is woken;
 * others only wait for the time. */
void gas_box_sleep(uint64_t microseconds);

#endif
