/* am.h: active messages: which thread is in which handler, running them, and the way to other nodes. */
#ifndef HEARTH_GAS_AM_H
#define HEARTH_GAS_AM_H

#include "gas/message.h"

/* Handlers of our own, below those of the program (128 to 255). */
enum { AM_FIRST_OWN = 1, AM_BARRIER = 1, AM_LEAVE = 2, AM_COLL = 3, AM_FIRST = 128, AM_LAST = 255 };

typedef void am_handler(void); /* called with what the message says */
void am_register(int index, am_handler *fn);
am_handler *am_registered(int index);

/* ---- where a thread is ---- */

enum am_where { AM_OUTSIDE, AM_IN_REQUEST, AM_IN_REPLY };

/* What a handler is given as its token; lives in the thread that runs it. */
struct am_token {
    const struct message *message;
    enum am_where where;
    bool replied;
    struct message *reply; /* where the reply is to be written */
    char *reply_data;
};

struct am_context {
    enum am_where where;
    struct am_token *token; /* of the handler that runs */
    unsigned locks;         /* handler-safe ones that it holds */
    unsigned held;          /* gasnet_hold_interrupts */
    unsigned inside; /* calls that have locks: am_enter. Read by handlers of signals that interrupt them */
};
/* initial-exec: found without a call in every put and get; so few bytes have room also if the library is loaded late. */
extern _Thread_local struct am_context am_context HIDDEN __attribute__((tls_model("initial-exec")));

static inline void am_enter(void) {
    am_context.inside++;
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void am_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    am_context.inside--;
}

/* Whether this thread may communicate: it runs no handler and holds neither a handler-safe lock nor interrupts. */
static inline bool am_is_free(void) {
    return ((unsigned)am_context.where | am_context.locks | am_context.held) == 0;
}

/* ---- running: run.c ---- */

/* Calls the handler of a message, whose Medium payload is at `data`. */
void am_run(const struct message *m, char *data, struct am_token *token, enum am_where where);

/* ---- sending: am.c ---- */

/* A request of our own to a handler below 128, with any number of arguments; waits for a slot, and polls
 * meanwhile. */
void am_send(int rank, int handler, int count, const int32_t *args);
/* The same with a payload of at most AM_MEDIUM bytes, which is free on return. */
void am_send_data(int rank, int handler, const void *data, size_t bytes, int count, const int32_t *args);
/* The same, but false if there is no slot now. */
bool am_send_if_possible(int rank, int handler, int count, const int32_t *args);

/* ---- to and from other nodes: far.c, pull.c ---- */

int far_open(void);
/* A request in one of this rank's slots: it has left on return. */
void far_request(int slot, int rank);
/* The reply in one of its places (or that there is none), to the source of what is there; the place is free
 * then. */
void far_reply(int place);

/* Fetches requests that are parked, as far as places are free. Whether anything happened. */
bool pull_tend(void);
/* Whether some are on their way: they come while this rank polls. */
bool pull_is_busy(void);

#endif
