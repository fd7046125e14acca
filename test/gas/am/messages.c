/* messages.c: tests active messages of every kind with every number of arguments, and what their handlers receive.
 * timeout: 60 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Handlers count their calls and check their arguments: argument i is `value(i)` of the sender, for the sender's
 * current case. */
enum { REQUEST = 130, REPLY = 150, MEDIUM = 170, MEDIUM_REPLY = 190, LONG = 210, LONG_REPLY = 230 };
enum { ARGS = 16 };

static int requests, replies; /* handled on this node */
static size_t bytes;          /* of the payload in this round, the same on all nodes */
static char *sent;
static size_t part;
static bool counted; /* send by the calls that take the number of arguments; the same on all nodes */

static int32_t value(int from, int i) {
    return (int32_t)test_number(from, (size_t)i, 1) | (i % 3 == 0 ? INT32_MIN : 0);
}

static void check_args(gasnet_token_t token, int count, const gasnet_handlerarg_t *a) {
    gasnet_node_t from = UINT32_MAX;
    expect_eq(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
    expect(from < (gasnet_node_t)test_size);
    for (int i = 0; i < count; i++)
        expect_eq(a[i], value((int)from, i));
}

static int source_of(gasnet_token_t token) {
    gasnet_node_t from = 0;
    gasnet_AMGetMsgSource(token, &from);
    return (int)from;
}

static void check_data(gasnet_token_t token, const char *data, size_t n) {
    char *want = malloc(n + 1);
    expect_eq(n, bytes);
    test_fill(want, n, source_of(token), 2);
    expect_bytes(data, want, n);
    free(want);
}

static char *landing_at(int node, int from) {
    return (char *)test_segments[node].addr + (size_t)from * part;
}

static void check_landed(gasnet_token_t token, const char *data, size_t n, int from) {
    expect(data == landing_at(test_rank, from));
    check_data(token, data, n);
}

/* ARGS_3: three parameters; ARRAY_3: an array of them; VALUES_3: this node's arguments. */
#define P(i) , gasnet_handlerarg_t a##i
#define V(i) , value(test_rank, i)
/* clang-format off */
#define ARGS_0
#define ARGS_1  P(0)
#define ARGS_2  ARGS_1 P(1)
#define ARGS_3  ARGS_2 P(2)
#define ARGS_4  ARGS_3 P(3)
#define ARGS_5  ARGS_4 P(4)
#define ARGS_6  ARGS_5 P(5)
#define ARGS_7  ARGS_6 P(6)
#define ARGS_8  ARGS_7 P(7)
#define ARGS_9  ARGS_8 P(8)
#define ARGS_10 ARGS_9 P(9)
#define ARGS_11 ARGS_10 P(10)
#define ARGS_12 ARGS_11 P(11)
#define ARGS_13 ARGS_12 P(12)
#define ARGS_14 ARGS_13 P(13)
#define ARGS_15 ARGS_14 P(14)
#define ARGS_16 ARGS_15 P(15)
#define ARRAY_0  0
#define ARRAY_1  a0
#define ARRAY_2  ARRAY_1, a1
#define ARRAY_3  ARRAY_2, a2
#define ARRAY_4  ARRAY_3, a3
#define ARRAY_5  ARRAY_4, a4
#define ARRAY_6  ARRAY_5, a5
#define ARRAY_7  ARRAY_6, a6
#define ARRAY_8  ARRAY_7, a7
#define ARRAY_9  ARRAY_8, a8
#define ARRAY_10 ARRAY_9, a9
#define ARRAY_11 ARRAY_10, a10
#define ARRAY_12 ARRAY_11, a11
#define ARRAY_13 ARRAY_12, a12
#define ARRAY_14 ARRAY_13, a13
#define ARRAY_15 ARRAY_14, a14
#define ARRAY_16 ARRAY_15, a15
#define VALUES_0
#define VALUES_1  V(0)
#define VALUES_2  VALUES_1 V(1)
#define VALUES_3  VALUES_2 V(2)
#define VALUES_4  VALUES_3 V(3)
#define VALUES_5  VALUES_4 V(4)
#define VALUES_6  VALUES_5 V(5)
#define VALUES_7  VALUES_6 V(6)
#define VALUES_8  VALUES_7 V(7)
#define VALUES_9  VALUES_8 V(8)
#define VALUES_10 VALUES_9 V(9)
#define VALUES_11 VALUES_10 V(10)
#define VALUES_12 VALUES_11 V(11)
#define VALUES_13 VALUES_12 V(12)
#define VALUES_14 VALUES_13 V(13)
#define VALUES_15 VALUES_14 V(14)
#define VALUES_16 VALUES_15 V(15)
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
/* clang-format on */

/* Each request is answered by a reply of the same kind with the same number of arguments. */
#define HANDLERS(N)                                                                                          \
    static void request_##N(gasnet_token_t token ARGS_##N) {                                                 \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        check_args(token, N, a);                                                                             \
        requests++;                                                                                          \
        expect_eq((counted ? gasnet_AMReplyShort(token, REPLY + N, N VALUES_##N)                             \
                           : gasnet_AMReplyShort##N(token, REPLY + N VALUES_##N)),                           \
                  GASNET_OK);                                                                                \
    }                                                                                                        \
    static void reply_##N(gasnet_token_t token ARGS_##N) {                                                   \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        check_args(token, N, a);                                                                             \
        replies++;                                                                                           \
    }                                                                                                        \
    static void medium_##N(gasnet_token_t token, void *data, size_t n ARGS_##N) {                            \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        check_args(token, N, a);                                                                             \
        check_data(token, data, n);                                                                          \
        requests++;                                                                                          \
        expect_eq((counted ? gasnet_AMReplyMedium(token, MEDIUM_REPLY + N, sent, bytes, N VALUES_##N)        \
                           : gasnet_AMReplyMedium##N(token, MEDIUM_REPLY + N, sent, bytes VALUES_##N)),      \
                  GASNET_OK);                                                                                \
        check_data(token, data, n); /* the reply has not changed it */                                       \
        memset(data, 0, n);         /* the handler may overwrite it */                                       \
    }                                                                                                        \
    static void medium_reply_##N(gasnet_token_t token, void *data, size_t n ARGS_##N) {                      \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        check_args(token, N, a);                                                                             \
        check_data(token, data, n);                                                                          \
        replies++;                                                                                           \
    }                                                                                                        \
    static void long_##N(gasnet_token_t token, void *data, size_t n ARGS_##N) {                              \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        int from = source_of(token);                                                                         \
        check_args(token, N, a);                                                                             \
        check_landed(token, data, n, from);                                                                  \
        requests++;                                                                                          \
        char *back = landing_at(from, test_size + test_rank);                                                \
        expect_eq((counted ? gasnet_AMReplyLong(token, LONG_REPLY + N, sent, bytes, back, N VALUES_##N)      \
                           : gasnet_AMReplyLong##N(token, LONG_REPLY + N, sent, bytes, back VALUES_##N)),    \
                  GASNET_OK);                                                                                \
    }                                                                                                        \
    static void long_reply_##N(gasnet_token_t token, void *data, size_t n ARGS_##N) {                        \
        const gasnet_handlerarg_t a[] = {ARRAY_##N};                                                         \
        check_args(token, N, a);                                                                             \
        check_landed(token, data, n, test_size + source_of(token));                                          \
        replies++;                                                                                           \
    }
EACH(HANDLERS)

#define TABLE(N)                                                                                             \
    HANDLER(REQUEST + N, request_##N), HANDLER(REPLY + N, reply_##N), HANDLER(MEDIUM + N, medium_##N),       \
        HANDLER(MEDIUM_REPLY + N, medium_reply_##N), HANDLER(LONG + N, long_##N),                            \
        HANDLER(LONG_REPLY + N, long_reply_##N),
static gasnet_handlerentry_t table[] = {EACH(TABLE)};
TEST_SETUP(table, 0)

/* ---- sends to all nodes, including this one, and waits for the replies ---- */

#define SHORT_TO(N)                                                                                          \
    expect_eq(counted ? gasnet_AMRequestShort(to, REQUEST + N, N VALUES_##N)                                 \
                      : gasnet_AMRequestShort##N(to, REQUEST + N VALUES_##N),                                \
              GASNET_OK);
#define MEDIUM_TO(N)                                                                                         \
    expect_eq(counted ? gasnet_AMRequestMedium(to, MEDIUM + N, sent, bytes, N VALUES_##N)                    \
                      : gasnet_AMRequestMedium##N(to, MEDIUM + N, sent, bytes VALUES_##N),                   \
              GASNET_OK);

/* Each sender has one destination for long messages, so that one is pending at a time. */
#define LONG_TO(N)                                                                                           \
    test_fill(sent, bytes, test_rank, 2);                                                                    \
    expect_eq(                                                                                               \
        counted                                                                                              \
            ? gasnet_AMRequestLong(to, LONG + N, sent, bytes, landing_at((int)to, test_rank), N VALUES_##N)  \
            : gasnet_AMRequestLong##N(to, LONG + N, sent, bytes, landing_at((int)to, test_rank) VALUES_##N), \
        GASNET_OK);                                                                                          \
    GASNET_BLOCKUNTIL(replies == expected + 1);                                                              \
    expected++;
#define ASYNC_TO(N)                                                                                          \
    expect_eq(counted ? gasnet_AMRequestLongAsync(to, LONG + N, sent, bytes, landing_at((int)to, test_rank), \
                                                  N VALUES_##N)                                              \
                      : gasnet_AMRequestLongAsync##N(to, LONG + N, sent, bytes,                              \
                                                     landing_at((int)to, test_rank) VALUES_##N),             \
              GASNET_OK);                                                                                    \
    GASNET_BLOCKUNTIL(replies == expected + 1);                                                              \
    expected++;

static void begin(size_t payload) {
    requests = replies = 0;
    bytes = payload;
    part = test_segments[test_rank].size / (2 * (size_t)test_size);
    sent = malloc(payload + 1);
    test_fill(sent, payload, test_rank, 2);
    test_barrier();
}

static void end(int each) {
    GASNET_BLOCKUNTIL(replies == each * test_size);
    test_barrier();
    expect_eq(requests, each * test_size);
    free(sent);
}

static void short_ones(void) {
    begin(0);
    for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++) {
        EACH(SHORT_TO)
    }
    end(ARGS + 1);
}

CASE(short_ones) {
    short_ones();
}

static void medium_ones(size_t payload) {
    begin(payload);
    for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++) {
        EACH(MEDIUM_TO)
    }
    end(ARGS + 1);
}

CASE(medium_ones_of_nothing) {
    medium_ones(0);
}

CASE(medium_ones_of_one_byte) {
    medium_ones(1);
}

CASE(medium_ones_of_some) {
    medium_ones(1000);
}

CASE(medium_ones_of_the_most) {
    medium_ones(gasnet_AMMaxMedium());
}

static void long_ones(size_t payload) {
    begin(payload);
    for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++) {
        int expected = replies;
        EACH(LONG_TO)
        EACH(ASYNC_TO)
    }
    end(2 * (ARGS + 1));
}

CASE(long_ones_of_nothing) {
    long_ones(0);
}

CASE(long_ones_of_one_byte) {
    long_ones(1);
}

CASE(long_ones_that_are_long) {
    long_ones(100001);
}

CASE(with_the_number_of_their_arguments) {
    counted = true;
    short_ones();
    medium_ones(100);
    long_ones(100);
    counted = false;
    expect_eq(gasnet_AMRequestShort(0, REQUEST, ARGS + 1), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestMedium(0, MEDIUM, &part, 1, -1), GASNET_ERR_BAD_ARG);
}

/* GASNet requires at least these. */
CASE(limits) {
    expect_eq(gasnet_AMMaxArgs(), ARGS);
    expect(gasnet_AMMaxMedium() >= 512);
    expect(gasnet_AMMaxLongRequest() >= 512);
    expect(gasnet_AMMaxLongReply() >= 512);
}
