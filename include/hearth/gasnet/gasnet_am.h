/* gasnet_am.h: requests and replies with 0 to 16 arguments: gasnet_AMRequestShort0 ... gasnet_AMReplyLong16. Part of
 * gasnet.h.
 *
 * Each is an inline function that puts its arguments into an array and calls gasnetc_request or gasnetc_reply. */
#ifndef HEARTH_GASNET_AM_H
#define HEARTH_GASNET_AM_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum gasnetc_kind { GASNETC_SHORT, GASNETC_MEDIUM, GASNETC_LONG };

int gasnetc_request(gasnet_node_t dest, gasnet_handler_t handler, enum gasnetc_kind kind, void *source,
                    size_t nbytes, void *dest_addr, int count, const gasnet_handlerarg_t *args);
int gasnetc_reply(gasnet_token_t token, gasnet_handler_t handler, enum gasnetc_kind kind, void *source,
                  size_t nbytes, void *dest_addr, int count, const gasnet_handlerarg_t *args);

/* clang-format off */
#define GASNETC_PARAMS_0
#define GASNETC_VALUES_0 0 /* an array is never empty */
#define GASNETC_PARAMS_1 , gasnet_handlerarg_t a0
#define GASNETC_VALUES_1 a0
#define GASNETC_PARAMS_2 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1
#define GASNETC_VALUES_2 a0, a1
#define GASNETC_PARAMS_3 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2
#define GASNETC_VALUES_3 a0, a1, a2
#define GASNETC_PARAMS_4 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3
#define GASNETC_VALUES_4 a0, a1, a2, a3
#define GASNETC_PARAMS_5 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4
#define GASNETC_VALUES_5 a0, a1, a2, a3, a4
#define GASNETC_PARAMS_6 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5
#define GASNETC_VALUES_6 a0, a1, a2, a3, a4, a5
#define GASNETC_PARAMS_7 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6
#define GASNETC_VALUES_7 a0, a1, a2, a3, a4, a5, a6
#define GASNETC_PARAMS_8 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7
#define GASNETC_VALUES_8 a0, a1, a2, a3, a4, a5, a6, a7
#define GASNETC_PARAMS_9 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8
#define GASNETC_VALUES_9 a0, a1, a2, a3, a4, a5, a6, a7, a8
#define GASNETC_PARAMS_10 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9
#define GASNETC_VALUES_10 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
#define GASNETC_PARAMS_11 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10
#define GASNETC_VALUES_11 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define GASNETC_PARAMS_12 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
    , gasnet_handlerarg_t a11
#define GASNETC_VALUES_12 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define GASNETC_PARAMS_13 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
    , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12
#define GASNETC_VALUES_13 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define GASNETC_PARAMS_14 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
    , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13
#define GASNETC_VALUES_14 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
#define GASNETC_PARAMS_15 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
    , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 \
    , gasnet_handlerarg_t a14
#define GASNETC_VALUES_15 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14
#define GASNETC_PARAMS_16 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
    , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 \
    , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
    , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 \
    , gasnet_handlerarg_t a14 , gasnet_handlerarg_t a15
#define GASNETC_VALUES_16 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15
/* clang-format on */

/* All calls with N arguments; P is gasnet or vgasnet. */
#define GASNETC_AM(P, N)                                                                                     \
    static inline int P##_AMRequestShort##N(gasnet_node_t dest,                                              \
                                            gasnet_handler_t handler GASNETC_PARAMS_##N) {                   \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_request(dest, handler, GASNETC_SHORT, 0, 0, 0, N, args);                              \
    }                                                                                                        \
    static inline int P##_AMRequestMedium##N(gasnet_node_t dest, gasnet_handler_t handler, void *source,     \
                                             size_t nbytes GASNETC_PARAMS_##N) {                             \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_request(dest, handler, GASNETC_MEDIUM, source, nbytes, 0, N, args);                   \
    }                                                                                                        \
    static inline int P##_AMRequestLong##N(gasnet_node_t dest, gasnet_handler_t handler, void *source,       \
                                           size_t nbytes, void *dest_addr GASNETC_PARAMS_##N) {              \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_request(dest, handler, GASNETC_LONG, source, nbytes, dest_addr, N, args);             \
    }                                                                                                        \
    static inline int P##_AMRequestLongAsync##N(gasnet_node_t dest, gasnet_handler_t handler, void *source,  \
                                                size_t nbytes, void *dest_addr GASNETC_PARAMS_##N) {         \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_request(dest, handler, GASNETC_LONG, source, nbytes, dest_addr, N, args);             \
    }                                                                                                        \
    static inline int P##_AMReplyShort##N(gasnet_token_t token,                                              \
                                          gasnet_handler_t handler GASNETC_PARAMS_##N) {                     \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_reply(token, handler, GASNETC_SHORT, 0, 0, 0, N, args);                               \
    }                                                                                                        \
    static inline int P##_AMReplyMedium##N(gasnet_token_t token, gasnet_handler_t handler, void *source,     \
                                           size_t nbytes GASNETC_PARAMS_##N) {                               \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_reply(token, handler, GASNETC_MEDIUM, source, nbytes, 0, N, args);                    \
    }                                                                                                        \
    static inline int P##_AMReplyLong##N(gasnet_token_t token, gasnet_handler_t handler, void *source,       \
                                         size_t nbytes, void *dest_addr GASNETC_PARAMS_##N) {                \
        const gasnet_handlerarg_t args[] = {GASNETC_VALUES_##N};                                             \
        return gasnetc_reply(token, handler, GASNETC_LONG, source, nbytes, dest_addr, N, args);              \
    }

/* clang-format off */
#define GASNETC_AM_ALL(P) \
    GASNETC_AM(P, 0) GASNETC_AM(P, 1) GASNETC_AM(P, 2) GASNETC_AM(P, 3) GASNETC_AM(P, 4) GASNETC_AM(P, 5) \
    GASNETC_AM(P, 6) GASNETC_AM(P, 7) GASNETC_AM(P, 8) GASNETC_AM(P, 9) GASNETC_AM(P, 10) GASNETC_AM(P, 11) \
    GASNETC_AM(P, 12) GASNETC_AM(P, 13) GASNETC_AM(P, 14) GASNETC_AM(P, 15) GASNETC_AM(P, 16)
/* clang-format on */

/* Active messages with N arguments, 0 to 16. A request runs the handler with that index at the node dest. A reply,
 * which is sent inside a request's handler and at most once, runs it at the node that sent the request.
 *
 *      int gasnet_AMRequestShortN(gasnet_node_t dest, gasnet_handler_t handler,
 *                                 gasnet_handlerarg_t a0, ...);
 *      int gasnet_AMRequestMediumN(gasnet_node_t dest, gasnet_handler_t handler,
 *                                  void *source, size_t nbytes, gasnet_handlerarg_t a0, ...);
 *      int gasnet_AMRequestLongN(gasnet_node_t dest, gasnet_handler_t handler,
 *                                void *source, size_t nbytes, void *dest_addr, gasnet_handlerarg_t a0, ...);
 *      int gasnet_AMRequestLongAsyncN(...as above...);
 *      int gasnet_AMReplyShortN(gasnet_token_t token, gasnet_handler_t handler,
 *                               gasnet_handlerarg_t a0, ...);
 *      int gasnet_AMReplyMediumN(gasnet_token_t token, gasnet_handler_t handler,
 *                                void *source, size_t nbytes, gasnet_handlerarg_t a0, ...);
 *      int gasnet_AMReplyLongN(gasnet_token_t token, gasnet_handler_t handler,
 *                              void *source, size_t nbytes, void *dest_addr, gasnet_handlerarg_t a0, ...);
 *
 * Short messages carry their arguments only. Medium messages carry nbytes of data, which the handler finds in a buffer
 * that is valid while it runs. Long messages put the data into the segment of the other node, at dest_addr, before the
 * handler runs. source may be changed on return, but that of LongAsync only after the handler's reply has arrived.
 * Handlers have the form
 *
 *      void handler(gasnet_token_t token, gasnet_handlerarg_t a0, ...);
 *      void handler(gasnet_token_t token, void *data, size_t nbytes, gasnet_handlerarg_t a0, ...);
 *
 * The calls return GASNET_OK, or an error such as GASNET_ERR_BAD_ARG. */
GASNETC_AM_ALL(gasnet)

/* The same with the number of arguments, 0 to 16, before the arguments. Each argument is a gasnet_handlerarg_t. */
int gasnet_AMRequestShort(gasnet_node_t dest, gasnet_handler_t handler, int numargs, ...);
int gasnet_AMRequestMedium(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                           int numargs, ...);
int gasnet_AMRequestLong(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                         void *dest_addr, int numargs, ...);
int gasnet_AMRequestLongAsync(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                              void *dest_addr, int numargs, ...);
int gasnet_AMReplyShort(gasnet_token_t token, gasnet_handler_t handler, int numargs, ...);
int gasnet_AMReplyMedium(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                         int numargs, ...);
int gasnet_AMReplyLong(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                       void *dest_addr, int numargs, ...);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
