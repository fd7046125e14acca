/* am.c: the calls for active message requests and replies.
 *
 * message.h defines slots, places, cells and boxes. A request is written into one of this rank's slots, and announced by a
 * cell in the target's box or a message to the target's node (am_remote.c). While no slot is free the sender polls, because
 * other ranks may wait for it. A reply is written into the request's slot, or, if the request came from another node, into
 * the place where it arrived. It is announced when the request's handler returns. Until then the handler may use the
 * request's payload; after that the slot may be reused at any time.
 *
 * The payload of a Long message is put into the target's segment first, and is complete there before the message is
 * sent. */
#include "gas/am/am.h"

#include <string.h>

#include "gas/memory/gas_memory.h"

/* ---- checks ---- */

static const char *place_name(void) {
    return gas_am_context.where == AM_IN_REQUEST ? "the handler of a request" : "the handler of a reply";
}

static __attribute__((noinline, cold)) void say_not_free(const char *call) {
    if (gas_am_context.where != AM_OUTSIDE)
        gas_fail(call,
                 "not in %s: handlers do not communicate, poll or wait; the handler of a request may reply",
                 place_name());
    if (gas_am_context.locks > 0)
        gas_breach(call, "not while the thread holds a handler-safe lock: unlock it first");
    if (gas_am_context.held & AM_HELD)
        gas_breach(call, "not between gasnet_hold_interrupts and gasnet_resume_interrupts");
    if (gas_am_context.held & AM_PREPARED)
        gas_breach(call, "not between gex_AM_Prepare and gex_AM_Commit");
}

/* Called in every put and get, so it costs one branch. */
void gas_need_free(const char *call) {
    if (UNLIKELY((unsigned)gas_am_context.where | gas_am_context.locks | gas_am_context.held))
        say_not_free(call);
}

static bool in_segment(int rank, const void *address, size_t bytes) {
    const gasnet_seginfo_t *s = &gas_job.segments[rank];
    uintptr_t offset = (uintptr_t)address - (uintptr_t)s->addr;
    return offset <= s->size && bytes <= s->size - offset;
}

int gas_am_check(const char *call, int rank, int handler, enum gasnetc_kind kind, const void *source,
                 size_t bytes, const void *to, int count) {
    if (UNLIKELY(handler < AM_FIRST))
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "handler %d is not a handler of the program: its handlers are 128 to 255", handler);
    if (UNLIKELY(count < 0 || count > AM_ARGS))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "%d arguments: 0 to 16 are allowed", count);
    if (kind == GASNETC_SHORT)
        return GASNET_OK;
    size_t most = kind == GASNETC_MEDIUM ? (size_t)AM_MEDIUM : (size_t)AM_LONG;
    if (UNLIKELY(bytes > most))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "a payload of %zu bytes: the maximum is %zu", bytes,
                          most);
    if (UNLIKELY(bytes > 0 && !source))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "a payload of %zu bytes at address NULL", bytes);
    if (UNLIKELY(kind == GASNETC_LONG && bytes > 0 && !in_segment(rank, to, bytes)))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "%zu bytes at %p do not lie in the segment of node %d",
                          bytes, to, rank);
    return GASNET_OK;
}

void gas_am_write(struct am_message *m, int handler, enum gasnetc_kind kind, size_t bytes, const void *to,
                  int count, const gasnet_handlerarg_t *args) {
    m->source = (uint32_t)gas_job.rank;
    m->handler = (uint8_t)handler;
    m->kind = (uint8_t)kind;
    m->count = (uint8_t)count;
    m->bytes = (uint32_t)bytes;
    m->address = (uint64_t)(uintptr_t)to;
    memcpy(m->args, args, (size_t)count * sizeof *args);
}

/* ---- requests ---- */

static int wait_for_slot(void) {
    unsigned round = 0;
    int slot;
    gas_box_wants_slot(1);
    while ((slot = gas_box_take_slot()) < 0)
        if (!gas_poll())
            gas_poll_rest(&round);
    gas_box_wants_slot(-1);
    return slot;
}

int gas_am_take_slot(bool waits) {
    int slot = gas_box_take_slot();
    return LIKELY(slot >= 0) || !waits ? slot : wait_for_slot();
}

/* Inside the node the cell alone releases the message. A release of in_use would wait for the slot's cache line, which the
 * target's core has read last, and only then request the cell's line. */
void gas_am_post(int slot, int rank) {
    _Atomic uint32_t *in_use = &gas_box_mine()->slots[slot].in_use;
    if (gas_same_node((gasnet_node_t)rank)) {
        atomic_store_explicit(in_use, 1, memory_order_relaxed);
        gas_box_post((int)gas_job.world->local_of[rank], slot);
    } else {
        atomic_store_explicit(in_use, 1, memory_order_release); /* pairs with arrive_slot_of */
        gas_remote_request(slot, rank);
    }
}

static void send_short(int slot, int rank, int handler, int count, const int32_t *args) {
    gas_am_write(&gas_box_mine()->slots[slot].request, handler, GASNETC_SHORT, 0, NULL, count, args);
    gas_am_post(slot, rank);
}

void gas_am_send(int rank, int handler, int count, const int32_t *args) {
    send_short(gas_am_take_slot(true), rank, handler, count, args);
}

void gas_am_send_data(int rank, int handler, const void *data, size_t bytes, int count, const int32_t *args) {
    int slot = gas_am_take_slot(true);
    if (bytes > 0)
        memcpy(gas_box_slot_data(gas_job.world->local, slot, AM_REQUEST), data, bytes);
    gas_am_write(&gas_box_mine()->slots[slot].request, handler, GASNETC_MEDIUM, bytes, NULL, count, args);
    gas_am_post(slot, rank);
}

bool gas_am_send_if_possible(int rank, int handler, int count, const int32_t *args) {
    int slot = gas_box_take_slot();
    if (slot >= 0)
        send_short(slot, rank, handler, count, args);
    return slot >= 0;
}

/* Without `waits` the slot is taken first, so that nothing is written if there is none. */
static inline __attribute__((always_inline)) bool request_send(int rank, int handler, enum gasnetc_kind kind,
                                                               const void *source, size_t nbytes,
                                                               void *dest_addr, bool waits, int count,
                                                               const gasnet_handlerarg_t *args) {
    int slot = waits && kind == GASNETC_LONG ? -1 : gas_am_take_slot(waits);
    if (UNLIKELY(slot < 0 && !waits))
        return false;
    if (kind == GASNETC_LONG && nbytes > 0)
        gas_memory_put(rank, dest_addr, source, nbytes);
    if (kind == GASNETC_LONG && waits)
        slot = gas_am_take_slot(true);
    if (kind == GASNETC_MEDIUM && nbytes > 0)
        memcpy(gas_box_slot_data(gas_job.world->local, slot, AM_REQUEST), source, nbytes);
    gas_am_write(&gas_box_mine()->slots[slot].request, handler, kind, nbytes, dest_addr, count, args);
    gas_am_post(slot, rank);
    return true;
}

bool gas_am_request(int rank, int handler, enum gasnetc_kind kind, const void *source, size_t nbytes,
                    void *dest_addr, bool waits, int count, const gasnet_handlerarg_t *args) {
    return request_send(rank, handler, kind, source, nbytes, dest_addr, waits, count, args);
}

int gasnetc_request(gasnet_node_t dest, gasnet_handler_t handler, enum gasnetc_kind kind, void *source,
                    size_t nbytes, void *dest_addr, int count, const gasnet_handlerarg_t *args) {
    static const char *const calls[] = {"gasnet_AMRequestShort", "gasnet_AMRequestMedium",
                                        "gasnet_AMRequestLong"};
    const char *call = calls[kind];
    if (UNLIKELY(!gas_is_attached()))
        return gas_leave_or_refuse(call);
    if (UNLIKELY(dest >= (gasnet_node_t)gas_job.size))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "there is no node %u: the job has %d", dest,
                          gas_job.size);
    gas_need_free(call);
    int rank = (int)dest, status = gas_am_check(call, rank, handler, kind, source, nbytes, dest_addr, count);
    if (UNLIKELY(status != GASNET_OK))
        return status;
    request_send(rank, handler, kind, source, nbytes, dest_addr, true, count, args);
    return GASNET_OK;
}

/* ---- replies ---- */

int gas_am_check_token(const char *call, const struct am_token *t) {
    if (UNLIKELY(!t || t != gas_am_context.token))
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "the token does not belong to the handler that this thread runs");
    if (UNLIKELY(t->where != AM_IN_REQUEST))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "the handler of a reply must not reply");
    if (UNLIKELY(t->replied))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "the handler has already replied: it may reply once");
    return GASNET_OK;
}

void gas_am_reply(struct am_token *t, int handler, enum gasnetc_kind kind, const void *source, size_t nbytes,
                  void *dest_addr, int count, const gasnet_handlerarg_t *args) {
    if (kind == GASNETC_LONG && nbytes > 0)
        gas_memory_put((int)t->message->source, dest_addr, source, nbytes);
    else if (kind == GASNETC_MEDIUM && nbytes > 0 && source != t->reply_data)
        memcpy(t->reply_data, source, nbytes);
    gas_am_write(t->reply, handler, kind, nbytes, dest_addr, count, args);
    t->replied = true;
}

int gasnetc_reply(gasnet_token_t token, gasnet_handler_t handler, enum gasnetc_kind kind, void *source,
                  size_t nbytes, void *dest_addr, int count, const gasnet_handlerarg_t *args) {
    static const char *const calls[] = {"gasnet_AMReplyShort", "gasnet_AMReplyMedium", "gasnet_AMReplyLong"};
    const char *call = calls[kind];
    struct am_token *t = token;
    int status = gas_am_check_token(call, t);
    if (UNLIKELY(status != GASNET_OK))
        return status;
    status = gas_am_check(call, (int)t->message->source, handler, kind, source, nbytes, dest_addr, count);
    if (UNLIKELY(status != GASNET_OK))
        return status;
    gas_am_reply(t, handler, kind, source, nbytes, dest_addr, count, args);
    return GASNET_OK;
}

/* ---- queries ---- */

int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *source) {
    const struct am_token *t = token;
    if (UNLIKELY(!t || t != gas_am_context.token || !source))
        return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_AMGetMsgSource",
                          "the token does not belong to the handler that this thread runs");
    *source = t->message->source;
    return GASNET_OK;
}
ALSO(int, AMGetMsgSource, (gasnet_token_t token, gasnet_node_t *source));

size_t gasnet_AMMaxArgs(void) {
    return AM_ARGS;
}
ALSO(size_t, AMMaxArgs, (void));

size_t gasnet_AMMaxMedium(void) {
    return AM_MEDIUM;
}
ALSO(size_t, AMMaxMedium, (void));

size_t gasnet_AMMaxLongRequest(void) {
    return AM_LONG;
}
ALSO(size_t, AMMaxLongRequest, (void));

size_t gasnet_AMMaxLongReply(void) {
    return AM_LONG;
}
ALSO(size_t, AMMaxLongReply, (void));
