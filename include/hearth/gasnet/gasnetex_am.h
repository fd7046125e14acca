/* gasnetex_am.h: active messages of GASNet-EX. Part of gasnetex.h.
 *
 * The calls with 0 to 16 arguments are inline functions that put their arguments into an array. Without a number in its
 * name a call is a macro that counts them (C99, C++11). */
#ifndef HEARTH_GASNETEX_AM_H
#define HEARTH_GASNETEX_AM_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- handlers ---- */

typedef gasnet_token_t gex_Token_t;
typedef gasnet_handler_t gex_AM_Index_t;
typedef gasnet_handlerarg_t gex_AM_Arg_t;
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes" /* handlers have various argument types */
#endif
typedef void (*gex_AM_Fn_t)();
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#define GEX_AM_INDEX_BASE 128 /* handlers of the program are 128 to 255 */

typedef struct gasnetc_entry {
    gex_AM_Index_t gex_index; /* 0: gex_EP_RegisterHandlers assigns one and stores it here */
    gex_AM_Fn_t gex_fnptr;
    gex_Flags_t gex_flags;
    unsigned int gex_nargs; /* number of arguments, 0 to 16 */
    const void *gex_cdata;  /* of the program, or NULL */
    const char *gex_name;   /* for error messages, or NULL */
} gex_AM_Entry_t;

/* Adds handlers. Not collective: another process may send to a handler only after it was registered. Entries with index
 * 0 get the highest index that is free, in order. The table may be changed on return. Returns GASNET_OK, or
 * GASNET_ERR_BAD_ARG after a line. */
int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries);

/* ---- limits ---- */

unsigned int gex_AM_MaxArgs(void); /* 16 */

/* The largest payload of a message to that rank, or with rank GEX_RANK_INVALID to any; with
 * GEX_FLAG_AM_PREPARE_LEAST_CLIENT or _ALLOC the largest least_payload of gex_AM_Prepare*. */
size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs);
size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                           unsigned int numargs);
size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                               gex_Flags_t flags, unsigned int numargs);
size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs);

/* The same for replies with a token. */
size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                              unsigned int numargs);
size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                                unsigned int numargs);

/* A payload that is allowed in any message. */
size_t gex_AM_LUBRequestLong(void);
size_t gex_AM_LUBReplyLong(void);
size_t gex_AM_LUBRequestMedium(void);
size_t gex_AM_LUBReplyMedium(void);

/* ---- tokens ---- */

typedef struct gasnetc_token_info {
    gex_Rank_t gex_srcrank; /* of the sender, in the job */
    gex_EP_t gex_ep;        /* that received the message */
    const gex_AM_Entry_t *gex_entry;
    int gex_is_req;
    int gex_is_long;
} gex_Token_Info_t;

typedef uint32_t gex_TI_t;
#define GEX_TI_SRCRANK ((gex_TI_t)1)
#define GEX_TI_EP      ((gex_TI_t)2)
#define GEX_TI_ENTRY   ((gex_TI_t)4)
#define GEX_TI_IS_REQ  ((gex_TI_t)8)
#define GEX_TI_IS_LONG ((gex_TI_t)16)
#define GEX_TI_ALL     ((gex_TI_t)31)

/* Describes the message whose handler runs. Fills all fields, and returns GEX_TI_ALL. The entry of a handler that
 * gasnet_attach registered has its index and function only. */
gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask);

/* ---- requests and replies ---- */

int gasnetc_ex_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                             int count, const gex_AM_Arg_t *args);
int gasnetc_ex_request(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, enum gasnetc_kind kind,
                       const void *source_addr, size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                       gex_Flags_t flags, int count, const gex_AM_Arg_t *args);
int gasnetc_ex_reply(gex_Token_t token, gex_AM_Index_t handler, enum gasnetc_kind kind,
                     const void *source_addr, size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                     gex_Flags_t flags, int count, const gex_AM_Arg_t *args);

typedef struct gasnetc_prepared *gex_AM_SrcDesc_t;
void gasnetc_ex_commit(gex_AM_SrcDesc_t sd, int is_reply, enum gasnetc_kind kind, gex_AM_Index_t handler,
                       size_t nbytes, void *dest_addr, int count, const gex_AM_Arg_t *args);

#define GASNETC_EX_FIXED(P, N)                                                                               \
    static inline int P##_RequestShort##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,              \
                                          gex_Flags_t flags GASNETC_PARAMS_##N) {                            \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_request_short(tm, rank, handler, flags, N, args);                                  \
    }                                                                                                        \
    static inline int P##_RequestMedium##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,             \
                                           const void *source_addr, size_t nbytes, gex_Event_t *lc_opt,      \
                                           gex_Flags_t flags GASNETC_PARAMS_##N) {                           \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_request(tm, rank, handler, GASNETC_MEDIUM, source_addr, nbytes, 0, lc_opt, flags,  \
                                  N, args);                                                                  \
    }                                                                                                        \
    static inline int P##_RequestLong##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,               \
                                         const void *source_addr, size_t nbytes, void *dest_addr,            \
                                         gex_Event_t *lc_opt, gex_Flags_t flags GASNETC_PARAMS_##N) {        \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_request(tm, rank, handler, GASNETC_LONG, source_addr, nbytes, dest_addr, lc_opt,   \
                                  flags, N, args);                                                           \
    }                                                                                                        \
    static inline int P##_ReplyShort##N(gex_Token_t token, gex_AM_Index_t handler,                           \
                                        gex_Flags_t flags GASNETC_PARAMS_##N) {                              \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_reply(token, handler, GASNETC_SHORT, 0, 0, 0, 0, flags, N, args);                  \
    }                                                                                                        \
    static inline int P##_ReplyMedium##N(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, \
                                         size_t nbytes, gex_Event_t *lc_opt,                                 \
                                         gex_Flags_t flags GASNETC_PARAMS_##N) {                             \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_reply(token, handler, GASNETC_MEDIUM, source_addr, nbytes, 0, lc_opt, flags, N,    \
                                args);                                                                       \
    }                                                                                                        \
    static inline int P##_ReplyLong##N(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr,   \
                                       size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,                  \
                                       gex_Flags_t flags GASNETC_PARAMS_##N) {                               \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        return gasnetc_ex_reply(token, handler, GASNETC_LONG, source_addr, nbytes, dest_addr, lc_opt, flags, \
                                N, args);                                                                    \
    }

#define GASNETC_EX_COMMIT(P, N)                                                                              \
    static inline void P##_CommitRequestMedium##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,               \
                                                  size_t nbytes GASNETC_PARAMS_##N) {                        \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        gasnetc_ex_commit(sd, 0, GASNETC_MEDIUM, handler, nbytes, 0, N, args);                               \
    }                                                                                                        \
    static inline void P##_CommitReplyMedium##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,                 \
                                                size_t nbytes GASNETC_PARAMS_##N) {                          \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        gasnetc_ex_commit(sd, 1, GASNETC_MEDIUM, handler, nbytes, 0, N, args);                               \
    }                                                                                                        \
    static inline void P##_CommitRequestLong##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,  \
                                                void *dest_addr GASNETC_PARAMS_##N) {                        \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        gasnetc_ex_commit(sd, 0, GASNETC_LONG, handler, nbytes, dest_addr, N, args);                         \
    }                                                                                                        \
    static inline void P##_CommitReplyLong##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,    \
                                              void *dest_addr GASNETC_PARAMS_##N) {                          \
        const gex_AM_Arg_t args[] = {GASNETC_VALUES_##N};                                                    \
        gasnetc_ex_commit(sd, 1, GASNETC_LONG, handler, nbytes, dest_addr, N, args);                         \
    }

/* clang-format off */
#define GASNETC_EX_EACH(X, P) \
    X(P, 0) X(P, 1) X(P, 2) X(P, 3) X(P, 4) X(P, 5) X(P, 6) X(P, 7) X(P, 8) X(P, 9) X(P, 10) X(P, 11) X(P, 12) \
    X(P, 13) X(P, 14) X(P, 15) X(P, 16)
#define GASNETC_EX_ALL(P) GASNETC_EX_EACH(GASNETC_EX_FIXED, P) GASNETC_EX_EACH(GASNETC_EX_COMMIT, P)
/* clang-format on */

/* Active messages with N arguments, 0 to 16. A request runs the handler with that index at the endpoint that tm and rank
 * name. A reply, which is sent inside a request's handler and at most once, runs it at the sender of the request.
 *
 *      int gex_AM_RequestShortN(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
 *                               gex_AM_Arg_t a0, ...);
 *      int gex_AM_RequestMediumN(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
 *                                const void *source_addr, size_t nbytes, gex_Event_t *lc_opt,
 *                                gex_Flags_t flags, gex_AM_Arg_t a0, ...);
 *      int gex_AM_RequestLongN(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
 *                              const void *source_addr, size_t nbytes, void *dest_addr,
 *                              gex_Event_t *lc_opt, gex_Flags_t flags, gex_AM_Arg_t a0, ...);
 *      int gex_AM_ReplyShortN(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
 *                             gex_AM_Arg_t a0, ...);
 *      int gex_AM_ReplyMediumN(...), gex_AM_ReplyLongN(...): as the requests, with a token for tm and rank
 *
 * They return 0; with GEX_FLAG_IMMEDIATE nonzero if nothing was sent, because the call would have to wait. lc_opt:
 * GEX_EVENT_NOW, for requests GEX_EVENT_GROUP, or the address of an event. In all cases the source may be changed on
 * return. Handlers have the form of gasnet_am.h's, and a Long handler gets dest_addr even if nbytes is 0.
 *
 * The second step of a message with a negotiated payload, with N arguments, sends the first nbytes of its buffer:
 *
 *      void gex_AM_CommitRequestMediumN(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                       gex_AM_Arg_t a0, ...);
 *      void gex_AM_CommitRequestLongN(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                     void *dest_addr, gex_AM_Arg_t a0, ...);
 *      void gex_AM_CommitReplyMediumN(...), gex_AM_CommitReplyLongN(...): the same */
GASNETC_EX_ALL(gex_AM)

/* ---- negotiated payload ---- */

#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0) /* GEX_FLAG_IMMEDIATE: nothing was prepared */

#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1 /* the buffer is the one that is sent, or read by the target */
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1
#define GASNET_SUPPORTS_AM_CANCEL         1

/* The first step of a message with a payload of least_payload to most_payload bytes and numargs arguments. If client_buf
 * is NULL, lc_opt must be NULL, and the library provides the buffer. Until the commit, which this thread makes next, it
 * must not communicate: gex_AM_CommitRequestMedium0 and so on, see above. dest_addr is NULL, or the address that will be given to the commit. */
gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                             size_t least_payload, size_t most_payload, gex_Event_t *lc_opt,
                                             gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                                           size_t least_payload, size_t most_payload, void *dest_addr,
                                           gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf, size_t least_payload,
                                         size_t most_payload, void *dest_addr, gex_Event_t *lc_opt,
                                         gex_Flags_t flags, unsigned int numargs);

void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);  /* the buffer: client_buf, or the library's */
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd); /* how many bytes of it the commit may send */

/* Instead of a commit: nothing is sent. Return GASNET_OK. flags must be 0. */
int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);

/* ---- calls that count their arguments ---- */

#if (defined(__cplusplus) && __cplusplus >= 201103L) ||                                                      \
    (!defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
/* clang-format off */
#define GASNETC_EX_25TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, ...) y
/* The number of arguments behind the first 3, 4, 6, 7 and 8. */
#define GASNETC_EX_BEHIND3(...) GASNETC_EX_25TH(__VA_ARGS__, z, z, z, z, z, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, z, z, z)
#define GASNETC_EX_BEHIND4(...) GASNETC_EX_25TH(__VA_ARGS__, z, z, z, z, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, z, z, z, z)
#define GASNETC_EX_BEHIND6(...) GASNETC_EX_25TH(__VA_ARGS__, z, z, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, z, z, z, z, z, z)
#define GASNETC_EX_BEHIND7(...) GASNETC_EX_25TH(__VA_ARGS__, z, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, z, z, z, z, z, z, z)
#define GASNETC_EX_BEHIND8(...) GASNETC_EX_25TH(__VA_ARGS__, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, z, z, z, z, z, z, z, z)
#define GASNETC_EX_PASTE_(name, count) name##count
#define GASNETC_EX_PASTE(name, count)  GASNETC_EX_PASTE_(name, count)
#define gex_AM_RequestShort(...)  GASNETC_EX_PASTE(gex_AM_RequestShort, GASNETC_EX_BEHIND4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) GASNETC_EX_PASTE(gex_AM_RequestMedium, GASNETC_EX_BEHIND7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...)   GASNETC_EX_PASTE(gex_AM_RequestLong, GASNETC_EX_BEHIND8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...)    GASNETC_EX_PASTE(gex_AM_ReplyShort, GASNETC_EX_BEHIND3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...)   GASNETC_EX_PASTE(gex_AM_ReplyMedium, GASNETC_EX_BEHIND6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...)     GASNETC_EX_PASTE(gex_AM_ReplyLong, GASNETC_EX_BEHIND7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium(...) \
    GASNETC_EX_PASTE(gex_AM_CommitRequestMedium, GASNETC_EX_BEHIND3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) \
    GASNETC_EX_PASTE(gex_AM_CommitReplyMedium, GASNETC_EX_BEHIND3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) \
    GASNETC_EX_PASTE(gex_AM_CommitRequestLong, GASNETC_EX_BEHIND4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) \
    GASNETC_EX_PASTE(gex_AM_CommitReplyLong, GASNETC_EX_BEHIND4(__VA_ARGS__))(__VA_ARGS__)
/* clang-format on */
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
