/* ex_prepare.c: messages with a negotiated payload, in two steps: gex_AM_Prepare, gex_AM_Commit.
 *
 * A request takes its slot in the first step, and a reply has a buffer anyway. If the program gives no buffer, it writes its
 * payload into that of the slot, or of the reply, which is sent or read by the target without a copy. For a Long message the
 * same buffer is the source of the put. A thread has one such message at a time: its state is a static of the thread. */
#include "gas/ex/ex.h"

#include <string.h>

#include "base/compiler.h"
#include "gas/am/am.h"
#include "gas/memory/gas_memory.h"

struct gasnetc_prepared {
    enum gasnetc_kind kind;
    bool is_open, is_reply;
    bool is_own; /* the buffer is the library's */
    int rank, slot;
    struct am_token *token;
    void *buffer;
    size_t bytes; /* that may be sent */
    void *dest;   /* as given in the first step, or NULL */
    unsigned count;
    gex_Event_t *lc_opt;
};
static _Thread_local struct gasnetc_prepared prepared;

static const char *const prepare_calls[2][3] = {
    {NULL, "gex_AM_PrepareRequestMedium", "gex_AM_PrepareRequestLong"},
    {NULL, "gex_AM_PrepareReplyMedium", "gex_AM_PrepareReplyLong"}};
static const char *const commit_calls[2][3] = {
    {NULL, "gex_AM_CommitRequestMedium", "gex_AM_CommitRequestLong"},
    {NULL, "gex_AM_CommitReplyMedium", "gex_AM_CommitReplyLong"}};

/* ---- the first step ---- */

static void prepare_check(const char *call, const struct gasnetc_prepared *p, size_t least, size_t most_given,
                          gex_Flags_t flags) {
    size_t most = p->kind == GASNETC_LONG && !p->is_own ? (size_t)AM_LONG : (size_t)AM_MEDIUM;
    gas_ex_flags(call, flags,
                 GEX_FLAG_IMMEDIATE | GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC |
                     EX_SEGMENT_FLAGS);
    if (UNLIKELY(prepared.is_open))
        gas_fail(call, "this thread has prepared a message that is neither committed nor cancelled");
    if (UNLIKELY(p->is_own && p->lc_opt))
        gas_fail(call, "lc_opt must be NULL if client_buf is");
    if (!p->is_own)
        gas_ex_check_lc(call, p->lc_opt, p->is_reply ? EX_NOW | EX_EVENT : EX_NOW | EX_GROUP | EX_EVENT);
    if (UNLIKELY(least > most || least > most_given))
        gas_fail(call, "least_payload is %zu bytes: the maximum is %zu, and most_payload is %zu", least, most,
                 most_given);
    if (UNLIKELY(p->count > AM_ARGS))
        gas_fail(call, "%u arguments: 0 to %d are allowed", p->count, AM_ARGS);
}

static gex_AM_SrcDesc_t prepare_open(const struct gasnetc_prepared *p, const void *client_buf, void *own,
                                     size_t most) {
    size_t limit = p->kind == GASNETC_LONG && !p->is_own ? (size_t)AM_LONG : (size_t)AM_MEDIUM;
    prepared = *p;
    prepared.is_open = true;
    prepared.buffer = p->is_own ? own : (void *)client_buf;
    prepared.bytes = most < limit ? most : limit;
    gas_am_context.held |= AM_PREPARED;
    return &prepared;
}

static gex_AM_SrcDesc_t request_prepare(enum gasnetc_kind kind, gex_TM_t tm, gex_Rank_t rank,
                                        const void *client_buf, size_t least, size_t most, void *dest_addr,
                                        gex_Event_t *lc_opt, gex_Flags_t flags, unsigned numargs) {
    const char *call = prepare_calls[false][kind];
    struct gasnetc_prepared p = {.kind = kind,
                                 .is_own = !client_buf,
                                 .rank = (int)gas_ex_checked_rank(call, tm, rank),
                                 .dest = dest_addr,
                                 .count = numargs,
                                 .lc_opt = lc_opt};
    if (LIKELY(gas_ex_checks))
        prepare_check(call, &p, least, most, flags);
    gas_need_free(call);
    p.slot = gas_am_take_slot(!(flags & GEX_FLAG_IMMEDIATE));
    if (p.slot < 0)
        return GEX_AM_SRCDESC_NO_OP;
    return prepare_open(&p, client_buf, gas_box_slot_data(gas_job.world->local, p.slot, AM_REQUEST), most);
}

static gex_AM_SrcDesc_t reply_prepare(enum gasnetc_kind kind, gex_Token_t token, const void *client_buf,
                                      size_t least, size_t most, void *dest_addr, gex_Event_t *lc_opt,
                                      gex_Flags_t flags, unsigned numargs) {
    const char *call = prepare_calls[true][kind];
    struct am_token *t = token;
    if (UNLIKELY(gas_am_check_token(call, t) != GASNET_OK))
        gas_ex_end(call);
    struct gasnetc_prepared p = {.kind = kind,
                                 .is_reply = true,
                                 .is_own = !client_buf,
                                 .rank = (int)t->message->source,
                                 .token = t,
                                 .dest = dest_addr,
                                 .count = numargs,
                                 .lc_opt = lc_opt};
    if (LIKELY(gas_ex_checks))
        prepare_check(call, &p, least, most, flags);
    return prepare_open(&p, client_buf, t->reply_data, most);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                             size_t least_payload, size_t most_payload, gex_Event_t *lc_opt,
                                             gex_Flags_t flags, unsigned int numargs) {
    return request_prepare(GASNETC_MEDIUM, tm, rank, client_buf, least_payload, most_payload, NULL, lc_opt,
                           flags, numargs);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                           size_t least_payload, size_t most_payload, void *dest_addr,
                                           gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs) {
    return request_prepare(GASNETC_LONG, tm, rank, client_buf, least_payload, most_payload, dest_addr, lc_opt,
                           flags, numargs);
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
    return reply_prepare(GASNETC_MEDIUM, token, client_buf, least_payload, most_payload, NULL, lc_opt, flags,
                         numargs);
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf, size_t least_payload,
                                         size_t most_payload, void *dest_addr, gex_Event_t *lc_opt,
                                         gex_Flags_t flags, unsigned int numargs) {
    return reply_prepare(GASNETC_LONG, token, client_buf, least_payload, most_payload, dest_addr, lc_opt,
                         flags, numargs);
}

/* ---- in between ---- */

static void prepared_check(const char *call, gex_AM_SrcDesc_t sd) {
    if (UNLIKELY(sd != &prepared || !prepared.is_open))
        gas_fail(call, "%p is not the message that this thread has prepared", (void *)sd);
}

void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) {
    prepared_check("gex_AM_SrcDescAddr", sd);
    return sd->buffer;
}

size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) {
    prepared_check("gex_AM_SrcDescSize", sd);
    return sd->bytes;
}

/* ---- the second step ---- */

static void commit_check(const char *call, gex_AM_SrcDesc_t sd, int is_reply, enum gasnetc_kind kind,
                         int handler, size_t nbytes, void *dest_addr, int count) {
    if (UNLIKELY(sd->is_reply != (is_reply != 0) || sd->kind != kind))
        gas_fail(call, "the message was prepared by %s", prepare_calls[sd->is_reply][sd->kind]);
    if (UNLIKELY(nbytes > sd->bytes))
        gas_fail(call, "%zu bytes: the message was prepared for %zu", nbytes, sd->bytes);
    if (UNLIKELY((unsigned)count != sd->count))
        gas_fail(call, "%d arguments: the message was prepared for %u", count, sd->count);
    if (UNLIKELY(sd->dest && sd->dest != dest_addr))
        gas_fail(call, "dest_addr is %p: the message was prepared for %p", dest_addr, sd->dest);
    if (UNLIKELY(gas_am_check(call, sd->rank, handler, kind, sd->buffer, nbytes, dest_addr, count) !=
                 GASNET_OK))
        gas_ex_end(call);
}

static void prepared_close(void) {
    prepared.is_open = false;
    gas_am_context.held &= ~(unsigned)AM_PREPARED;
}

static void request_commit(const struct gasnetc_prepared *p, int handler, size_t nbytes, void *dest_addr,
                           const gex_AM_Arg_t *args) {
    char *data = gas_box_slot_data(gas_job.world->local, p->slot, AM_REQUEST);
    if (p->kind == GASNETC_LONG && nbytes > 0)
        gas_memory_put(p->rank, dest_addr, p->buffer, nbytes);
    else if (nbytes > 0 && p->buffer != data)
        memcpy(data, p->buffer, nbytes);
    gas_am_write(&gas_box_mine()->slots[p->slot].request, handler, p->kind, nbytes, dest_addr, (int)p->count,
                 args);
    gas_am_post(p->slot, p->rank);
}

void gasnetc_ex_commit(gex_AM_SrcDesc_t sd, int is_reply, enum gasnetc_kind kind, gex_AM_Index_t handler,
                       size_t nbytes, void *dest_addr, int count, const gex_AM_Arg_t *args) {
    const char *call = commit_calls[is_reply != 0][kind];
    prepared_check(call, sd);
    if (LIKELY(gas_ex_checks))
        commit_check(call, sd, is_reply, kind, handler, nbytes, dest_addr, count);
    prepared_close();
    if (sd->is_reply)
        gas_am_reply(sd->token, handler, kind, sd->buffer, nbytes, dest_addr, count, args);
    else
        request_commit(sd, handler, nbytes, dest_addr, args);
    if (sd->lc_opt != GEX_EVENT_NOW && sd->lc_opt != GEX_EVENT_GROUP && sd->lc_opt)
        *sd->lc_opt = GEX_EVENT_INVALID;
}

static int prepared_cancel(const char *call, gex_AM_SrcDesc_t sd, bool is_reply, enum gasnetc_kind kind,
                           gex_Flags_t flags) {
    prepared_check(call, sd);
    gas_ex_flags(call, flags, 0);
    if (UNLIKELY(gas_ex_checks && (sd->is_reply != is_reply || sd->kind != kind)))
        gas_fail(call, "the message was prepared by %s", prepare_calls[sd->is_reply][sd->kind]);
    prepared_close();
    if (!is_reply)
        gas_box_release(gas_box_mine(), sd->slot);
    return GASNET_OK;
}

int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
    return prepared_cancel("gex_AM_CancelRequestMedium", sd, false, GASNETC_MEDIUM, flags);
}

int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
    return prepared_cancel("gex_AM_CancelRequestLong", sd, false, GASNETC_LONG, flags);
}

int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
    return prepared_cancel("gex_AM_CancelReplyMedium", sd, true, GASNETC_MEDIUM, flags);
}

int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
    return prepared_cancel("gex_AM_CancelReplyLong", sd, true, GASNETC_LONG, flags);
}
