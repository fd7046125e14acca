/* ex_am.c: requests and replies with a fixed payload, and their limits.
 *
 * A message is copied or put before the call returns (am.c), so its source may always be changed then: lc_opt is
 * satisfied at once, whatever it is. */
#include "gas/ex/ex.h"

#include "base/compiler.h"
#include "gas/am/am.h"

static const char *const request_calls[] = {"gex_AM_RequestShort", "gex_AM_RequestMedium",
                                            "gex_AM_RequestLong"};
static const char *const reply_calls[] = {"gex_AM_ReplyShort", "gex_AM_ReplyMedium", "gex_AM_ReplyLong"};

static void source_is_free(gex_Event_t *lc_opt) {
    if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_GROUP && lc_opt)
        *lc_opt = GEX_EVENT_INVALID;
}

/* A Short message is not worth a call for what is almost always right. */
static inline void message_check(const char *call, gasnet_node_t node, int handler, enum gasnetc_kind kind,
                                 const void *source, size_t nbytes, const void *dest, int count,
                                 gex_Flags_t flags) {
    gas_ex_flags(call, flags, GEX_FLAG_IMMEDIATE | EX_SEGMENT_FLAGS);
    if (LIKELY(kind == GASNETC_SHORT && handler >= AM_FIRST && (unsigned)count <= AM_ARGS))
        return;
    if (UNLIKELY(gas_ex_checks &&
                 gas_am_check(call, (int)node, handler, kind, source, nbytes, dest, count) != GASNET_OK))
        gas_ex_end(call);
}

/* ---- requests ---- */

int gasnetc_ex_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                             int count, const gex_AM_Arg_t *args) {
    const char *call = request_calls[GASNETC_SHORT];
    gasnet_node_t node = gas_ex_checked_rank(call, tm, rank);
    if (UNLIKELY(!gas_am_is_free()))
        gas_need_free(call);
    message_check(call, node, handler, GASNETC_SHORT, NULL, 0, NULL, count, flags);
    return !gas_am_request((int)node, handler, GASNETC_SHORT, NULL, 0, NULL, !(flags & GEX_FLAG_IMMEDIATE),
                           count, args);
}

int gasnetc_ex_request(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, enum gasnetc_kind kind,
                       const void *source_addr, size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                       gex_Flags_t flags, int count, const gex_AM_Arg_t *args) {
    const char *call = request_calls[kind];
    gasnet_node_t node = gas_ex_checked_rank(call, tm, rank);
    if (UNLIKELY(!gas_am_is_free()))
        gas_need_free(call);
    message_check(call, node, handler, kind, source_addr, nbytes, dest_addr, count, flags);
    if (UNLIKELY(lc_opt != GEX_EVENT_NOW && gas_ex_checks))
        gas_ex_check_lc(call, lc_opt, EX_GROUP | EX_EVENT);
    source_is_free(lc_opt);
    return !gas_am_request((int)node, handler, kind, source_addr, nbytes, dest_addr,
                           !(flags & GEX_FLAG_IMMEDIATE), count, args);
}

/* ---- replies ---- */

/* A reply never waits: it has its own buffer. */
int gasnetc_ex_reply(gex_Token_t token, gex_AM_Index_t handler, enum gasnetc_kind kind,
                     const void *source_addr, size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                     gex_Flags_t flags, int count, const gex_AM_Arg_t *args) {
    const char *call = reply_calls[kind];
    struct am_token *t = token;
    if (UNLIKELY(gas_am_check_token(call, t) != GASNET_OK))
        gas_ex_end(call);
    message_check(call, t->message->source, handler, kind, source_addr, nbytes, dest_addr, count, flags);
    if (UNLIKELY(kind != GASNETC_SHORT && lc_opt != GEX_EVENT_NOW && gas_ex_checks))
        gas_ex_check_lc(call, lc_opt, EX_EVENT);
    source_is_free(lc_opt);
    gas_am_reply(t, handler, kind, source_addr, nbytes, dest_addr, count, args);
    return 0;
}

/* ---- limits ---- */

unsigned int gex_AM_MaxArgs(void) {
    return AM_ARGS;
}

static void limit_check(const char *call, gex_TM_t tm, gex_Rank_t rank, unsigned numargs) {
    gas_need(call, 0);
    if (rank != GEX_RANK_INVALID)
        gas_ex_checked_rank(call, tm, rank);
    if (UNLIKELY(numargs > AM_ARGS))
        gas_fail(call, "%u arguments: 0 to %d are allowed", numargs, AM_ARGS);
}

/* The buffer of the library for a Long message is that of a Medium (ex_prepare.c). */
static size_t limit_of_long(gex_Flags_t flags) {
    return flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC ? AM_MEDIUM : AM_LONG;
}

size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs) {
    (void)lc_opt;
    limit_check("gex_AM_MaxRequestLong", tm, other_rank, numargs);
    return limit_of_long(flags);
}

size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                           unsigned int numargs) {
    (void)lc_opt;
    limit_check("gex_AM_MaxReplyLong", tm, other_rank, numargs);
    return limit_of_long(flags);
}

size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                               gex_Flags_t flags, unsigned int numargs) {
    (void)lc_opt, (void)flags;
    limit_check("gex_AM_MaxRequestMedium", tm, other_rank, numargs);
    return AM_MEDIUM;
}

size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs) {
    (void)lc_opt, (void)flags;
    limit_check("gex_AM_MaxReplyMedium", tm, other_rank, numargs);
    return AM_MEDIUM;
}

size_t gex_AM_LUBRequestLong(void) {
    return AM_LONG;
}

size_t gex_AM_LUBReplyLong(void) {
    return AM_LONG;
}

size_t gex_AM_LUBRequestMedium(void) {
    return AM_MEDIUM;
}

size_t gex_AM_LUBReplyMedium(void) {
    return AM_MEDIUM;
}

/* ---- tokens ---- */

static const struct am_token *token_check(const char *call, gex_Token_t token) {
    const struct am_token *t = token;
    if (UNLIKELY(!t || t != gas_am_context.token))
        gas_fail(call, "the token does not belong to the handler that this thread runs");
    return t;
}

size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                              unsigned int numargs) {
    const char *call = "gex_Token_MaxReplyLong";
    (void)lc_opt;
    token_check(call, token);
    limit_check(call, GEX_TM_INVALID, GEX_RANK_INVALID, numargs);
    return limit_of_long(flags);
}

size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                                unsigned int numargs) {
    const char *call = "gex_Token_MaxReplyMedium";
    (void)lc_opt, (void)flags;
    token_check(call, token);
    limit_check(call, GEX_TM_INVALID, GEX_RANK_INVALID, numargs);
    return AM_MEDIUM;
}

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask) {
    const struct am_token *t = token_check("gex_Token_Info", token);
    (void)mask; /* all fields cost as little as one */
    *info = (gex_Token_Info_t){.gex_srcrank = t->message->source,
                               .gex_ep = &gas_ex_endpoint,
                               .gex_entry = gas_ex_entry(t->message->handler),
                               .gex_is_req = t->where == AM_IN_REQUEST,
                               .gex_is_long = t->message->kind == GASNETC_LONG};
    return GEX_TI_ALL;
}
