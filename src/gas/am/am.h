/* am.h: active messages: handlers, sending, polling, and messages to other nodes. */
#ifndef HEARTH_GAS_AM_H
#define HEARTH_GAS_AM_H

#include "base/compiler.h"
#include "gas/am/message.h"
#include "gas/process/context.h"

/* Internal handlers, below those of the program (128 to 255). */
enum { AM_BARRIER = 1, AM_LEAVE, AM_COLL, AM_PEER_COMPLETE, AM_FIRST = 128, AM_LAST = 255 };

typedef void am_handler(void); /* called with the arguments of the message */
void gas_am_register(int index, am_handler *fn);
am_handler *gas_am_registered(int index);
/* Declares how the handler is called; messages that differ end the job. flags: GEX_FLAG_AM_*. */
void gas_am_expect(int index, unsigned count, unsigned flags);
/* Both, for a handler of ours, which gets requests of this kind: GEX_FLAG_AM_SHORT or GEX_FLAG_AM_MEDIUM. */
void gas_am_register_own(int index, am_handler *fn, unsigned count, unsigned kind);

/* The token of a handler; on the stack of the thread that runs it. */
struct am_token {
    const struct am_message *message;
    enum am_where where;
    bool replied;
    struct am_message *reply; /* buffer for the reply */
    char *reply_data;
};

/* ---- running handlers: run.c ---- */

/* Calls the handler of a message, whose Medium payload is at `data`. */
void gas_am_run(const struct am_message *m, char *data, struct am_token *token, enum am_where where);

/* ---- sending: am.c ---- */

enum { AM_LONG = 0x7fffffff }; /* bytes of payload of a Long message */

/* Checks the arguments of a message of the program. Returns GASNET_OK, or an error code after a line. */
int gas_am_check(const char *call, int rank, int handler, enum gasnetc_kind kind, const void *source,
                 size_t bytes, const void *to, int count);
/* The same for the token of a reply. */
int gas_am_check_token(const char *call, const struct am_token *t);

/* Send a message whose arguments were checked. gas_am_request without `waits` returns false, and has no effect, if it would
 * have to wait for a slot. The reply leaves when the handler returns. */
bool gas_am_request(int rank, int handler, enum gasnetc_kind kind, const void *source, size_t nbytes,
                    void *dest_addr, bool waits, int count, const gasnet_handlerarg_t *args);
void gas_am_reply(struct am_token *t, int handler, enum gasnetc_kind kind, const void *source, size_t nbytes,
                  void *dest_addr, int count, const gasnet_handlerarg_t *args);

/* The steps of a request: a slot (-1: none is free, and the caller does not wait); the message in it; the announcement. */
int gas_am_take_slot(bool waits);
void gas_am_write(struct am_message *m, int handler, enum gasnetc_kind kind, size_t bytes, const void *to,
                  int count, const gasnet_handlerarg_t *args);
void gas_am_post(int slot, int rank);

/* Sends an internal request to a handler below 128, with up to AM_ARGS arguments. Waits for a slot, and polls
 * meanwhile. */
void gas_am_send(int rank, int handler, int count, const int32_t *args);
/* The same with a payload of at most AM_MEDIUM bytes. The buffer may be reused on return. */
void gas_am_send_data(int rank, int handler, const void *data, size_t bytes, int count, const int32_t *args);
/* The same, but returns false if no slot is free. */
bool gas_am_send_if_possible(int rank, int handler, int count, const int32_t *args);

/* ---- polling: am_poll.c ---- */

/* gas_fail if this thread runs a handler: handlers must not communicate or wait. gas_breach if it holds a handler-safe
 * lock or interrupts. Called first in every call that communicates or waits. */
void gas_need_free(const char *call);

/* Runs the handlers of messages that have arrived and drives the network. Every wait loop calls it in each round.
 * Returns whether anything happened. Not inside handlers. */
bool gas_poll(void);

/* The same for calls that do not wait: it does not poll the network, which would cost more than some of these calls. */
bool gas_poll_quickly(void);

/* One idle round of a wait: returns immediately, or sleeps until a message arrives or some time has passed, as set by
 * gasnet_set_waitmode. `round` counts the rounds: 0 at first, kept by the caller. */
void gas_poll_rest(unsigned *round);

/* What a poll advances besides messages. The rooms above, whose waits poll, put their functions here before the first poll. */
struct gas_tended {
    _Atomic unsigned open;     /* collective operations that are not complete */
    bool (*collectives)(void); /* advances them; returns whether anything happened */
    void (*operations)(void);  /* advances operations of the calling thread in pages */
};
extern struct gas_tended gas_tended HIDDEN;

/* ---- to and from other nodes: am_remote.c, am_pull.c ---- */

int gas_remote_open(void);
/* Sends the request in one of this rank's slots to another node. It has left on return. */
void gas_remote_request(int slot, int rank);
/* Sends the reply in this place (or the notice that there is none) to the source of the request; then frees the place. */
void gas_remote_reply(int place);

/* Fetches parked requests while places are free. Returns whether anything happened. */
bool gas_pull_tend(void);
/* Whether fetches are under way; they progress while this rank polls. */
bool gas_pull_is_busy(void);

#endif
