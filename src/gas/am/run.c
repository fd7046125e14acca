/* run.c: calls a handler: a function that takes a token, for Medium and Long messages the payload, and 0 to 16
 * arguments. */
#include "base/compiler.h"
#include "gas/am/am.h"

static _Atomic(am_handler *) handlers[AM_LAST + 1]; /* set by gasnet_attach, before any rank can send */

void gas_am_register(int index, am_handler *fn) {
    atomic_store(&handlers[index], fn);
}

am_handler *gas_am_registered(int index) {
    return atomic_load_explicit(&handlers[index], memory_order_relaxed);
}

/* The number of arguments in the lowest 8 bits; from bit 8 on GEX_FLAG_AM_*: bits for the kinds, for requests and for replies. 0: the
 * handler was registered without a declaration. */
static _Atomic uint16_t expected[AM_LAST + 1];

void gas_am_expect(int index, unsigned count, unsigned flags) {
    atomic_store(&expected[index], (uint16_t)(count | flags << 8));
}

void gas_am_register_own(int index, am_handler *fn, unsigned count, unsigned kind) {
    gas_am_expect(index, count, kind | GEX_FLAG_AM_REQUEST);
    gas_am_register(index, fn);
}

static inline bool is_expected(unsigned how, const struct am_message *m, enum am_where where) {
    return (how & 0xff) == m->count && (how >> 8 & 1u << m->kind) && (how >> 10 & 1u << where);
}

static __attribute__((noinline, cold)) void say_unexpected(unsigned how, const struct am_message *m,
                                                           enum am_where where) {
    static const char *const kinds[] = {"Short", "Medium", "Long"};
    gas_fail("active message",
             "node %u sends a %s %s with %u arguments to handler %u, which node %d has registered for %u "
             "arguments and%s%s%s%s%s",
             m->source, kinds[m->kind], where == AM_IN_REQUEST ? "request" : "reply", m->count, m->handler,
             gas_job.rank, how & 0xff, how >> 8 & 1 ? " Short" : "", how >> 8 & 2 ? " Medium" : "",
             how >> 8 & 4 ? " Long" : "", how >> 8 & 8 ? " requests" : "", how >> 8 & 16 ? " replies" : "");
}

typedef int32_t arg;

/* clang-format off */
#define TYPES_0
#define TYPES_1  , arg
#define TYPES_2  TYPES_1 , arg
#define TYPES_3  TYPES_2 , arg
#define TYPES_4  TYPES_3 , arg
#define TYPES_5  TYPES_4 , arg
#define TYPES_6  TYPES_5 , arg
#define TYPES_7  TYPES_6 , arg
#define TYPES_8  TYPES_7 , arg
#define TYPES_9  TYPES_8 , arg
#define TYPES_10 TYPES_9 , arg
#define TYPES_11 TYPES_10 , arg
#define TYPES_12 TYPES_11 , arg
#define TYPES_13 TYPES_12 , arg
#define TYPES_14 TYPES_13 , arg
#define TYPES_15 TYPES_14 , arg
#define TYPES_16 TYPES_15 , arg
#define ARGS_0
#define ARGS_1  , a[0]
#define ARGS_2  ARGS_1 , a[1]
#define ARGS_3  ARGS_2 , a[2]
#define ARGS_4  ARGS_3 , a[3]
#define ARGS_5  ARGS_4 , a[4]
#define ARGS_6  ARGS_5 , a[5]
#define ARGS_7  ARGS_6 , a[6]
#define ARGS_8  ARGS_7 , a[7]
#define ARGS_9  ARGS_8 , a[8]
#define ARGS_10 ARGS_9 , a[9]
#define ARGS_11 ARGS_10 , a[10]
#define ARGS_12 ARGS_11 , a[11]
#define ARGS_13 ARGS_12 , a[12]
#define ARGS_14 ARGS_13 , a[13]
#define ARGS_15 ARGS_14 , a[14]
#define ARGS_16 ARGS_15 , a[15]
#define EACH_COUNT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

#define SHORT_CASE(N) case N: ((void (*)(gasnet_token_t TYPES_##N))fn)(token ARGS_##N); break;
#define DATA_CASE(N) \
    case N: ((void (*)(gasnet_token_t, void *, size_t TYPES_##N))fn)(token, data, bytes ARGS_##N); break;

static void call_short(am_handler *fn, gasnet_token_t token, int count, const arg *a) {
    switch (count) { EACH_COUNT(SHORT_CASE) }
}

static void call_data(am_handler *fn, gasnet_token_t token, void *data, size_t bytes, int count, const arg *a) {
    switch (count) { EACH_COUNT(DATA_CASE) }
}
/* clang-format on */

/* Locks that the thread held before the handler ran do not count: it may have polled while it held a lock. */
static void check_left(const struct am_message *m, unsigned locks_before) {
    if (UNLIKELY(gas_am_context.locks > locks_before))
        gas_breach("active message", "handler %u returns and still holds %u handler-safe lock%s", m->handler,
                   gas_am_context.locks - locks_before, gas_am_context.locks - locks_before == 1 ? "" : "s");
}

void gas_am_run(const struct am_message *m, char *data, struct am_token *token, enum am_where where) {
    am_handler *fn = gas_am_registered(m->handler);
    if (UNLIKELY(!fn))
        gas_fail("active message", "node %u requests handler %u, which node %d has not registered", m->source,
                 m->handler, gas_job.rank);
    unsigned locks = gas_am_context.locks,
             how = atomic_load_explicit(&expected[m->handler], memory_order_relaxed);
    if (UNLIKELY(how != 0 && !is_expected(how, m, where)))
        say_unexpected(how, m, where);
    token->message = m;
    token->where = gas_am_context.where = where;
    gas_am_context.token = token;
    if (m->kind == GASNETC_SHORT)
        call_short(fn, token, m->count, m->args);
    else
        call_data(fn, token, m->kind == GASNETC_LONG ? (char *)(uintptr_t)m->address : data, m->bytes,
                  m->count, m->args);
    check_left(m, locks);
    gas_am_context.where = AM_OUTSIDE;
    gas_am_context.token = NULL;
    token->message = NULL; /* detects later uses of the token, if it can still be read */
}
