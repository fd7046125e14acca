/* ex_am.c: tests active messages: requests and replies of all kinds with 0 to 16 arguments, tokens, limits, negotiated
 * payloads, and calls that do not wait. */
#include "ex_test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 16, PAYLOAD = 1000, HOME = 1 << 20 /* offset of Long payloads */ };

static _Atomic int replies, requests;
static _Atomic int wrong;

static void check(bool holds) {
    if (!holds)
        atomic_fetch_add(&wrong, 1);
}

/* Argument i of a message with `count`. */
static gex_AM_Arg_t value_of(int count, int i) {
    return count * 1000 + i * 7 - 3;
}

static char byte_of(int count, size_t i) {
    return (char)(count * 31 + (int)i);
}

static void check_token(gex_Token_t token, int request, int is_long, int count);

static void check_payload(const void *data, size_t bytes, int count, bool is_long) {
    check(bytes == (count == 3 ? 0 : PAYLOAD));
    for (size_t i = 0; i < bytes; i++)
        check(((const char *)data)[i] == byte_of(count, i));
    if (is_long) /* also without payload */
        check((const char *)data - ex_base[test_rank] == HOME + count * 2048);
}

/* Sends the same back. */
static void reply_as(gex_Token_t token, int kind, int count, const gex_AM_Arg_t *a);

static void check_args(int count, const gex_AM_Arg_t *a) {
    for (int i = 0; i < count; i++)
        check(a[i] == value_of(count, i));
}

/* clang-format off */
/* Parameters, values and list of N arguments. */
#define P0
#define V0 0
#define L0
#define P1 P0 , gex_AM_Arg_t a0
#define V1 a0
#define L1 L0 , a[0]
#define P2 P1 , gex_AM_Arg_t a1
#define V2 V1 , a1
#define L2 L1 , a[1]
#define P3 P2 , gex_AM_Arg_t a2
#define V3 V2 , a2
#define L3 L2 , a[2]
#define P4 P3 , gex_AM_Arg_t a3
#define V4 V3 , a3
#define L4 L3 , a[3]
#define P5 P4 , gex_AM_Arg_t a4
#define V5 V4 , a4
#define L5 L4 , a[4]
#define P6 P5 , gex_AM_Arg_t a5
#define V6 V5 , a5
#define L6 L5 , a[5]
#define P7 P6 , gex_AM_Arg_t a6
#define V7 V6 , a6
#define L7 L6 , a[6]
#define P8 P7 , gex_AM_Arg_t a7
#define V8 V7 , a7
#define L8 L7 , a[7]
#define P9 P8 , gex_AM_Arg_t a8
#define V9 V8 , a8
#define L9 L8 , a[8]
#define P10 P9 , gex_AM_Arg_t a9
#define V10 V9 , a9
#define L10 L9 , a[9]
#define P11 P10 , gex_AM_Arg_t a10
#define V11 V10 , a10
#define L11 L10 , a[10]
#define P12 P11 , gex_AM_Arg_t a11
#define V12 V11 , a11
#define L12 L11 , a[11]
#define P13 P12 , gex_AM_Arg_t a12
#define V13 V12 , a12
#define L13 L12 , a[12]
#define P14 P13 , gex_AM_Arg_t a13
#define V14 V13 , a13
#define L14 L13 , a[13]
#define P15 P14 , gex_AM_Arg_t a14
#define V15 V14 , a14
#define L15 L14 , a[14]
#define P16 P15 , gex_AM_Arg_t a15
#define V16 V15 , a15
#define L16 L15 , a[15]
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
/* clang-format on */

static void check_message(gex_Token_t token, int count, const gex_AM_Arg_t *a, const void *data,
                          size_t bytes) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(count, a);
    if (data)
        check_payload(data, bytes, count, info.gex_is_long);
    check_token(token, info.gex_is_req, data && info.gex_is_long, count);
    if (info.gex_is_req)
        reply_as(token, !data ? 0 : info.gex_is_long ? 2 : 1, count, a);
    else
        atomic_fetch_add(&replies, 1);
}

#define HANDLERS(N)                                                                                          \
    static void short_##N(gex_Token_t token P##N) {                                                          \
        const gex_AM_Arg_t a[] = {V##N};                                                                     \
        check_message(token, N, a, NULL, 0);                                                                 \
    }                                                                                                        \
    static void data_##N(gex_Token_t token, void *data, size_t bytes P##N) {                                 \
        const gex_AM_Arg_t a[] = {V##N};                                                                     \
        check_message(token, N, a, data, bytes);                                                             \
    }
EACH(HANDLERS)

/* Entries by number of arguments: Short and other requests, Short and other replies. Each marks its client data. */
enum { SHORT_REQUEST, DATA_REQUEST, SHORT_REPLY, DATA_REPLY, FORMS };
#define ENTRIES(N)                                                                                           \
    {0, (gex_AM_Fn_t)short_##N, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, N, &table, "short request"},        \
        {0, (gex_AM_Fn_t)data_##N, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, N, &table, "data request"},    \
        {0, (gex_AM_Fn_t)short_##N, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, N, &table, "short reply"},        \
        {0, (gex_AM_Fn_t)data_##N, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, N, &table, "data reply"},
static gex_AM_Entry_t table[(ARGS + 1) * FORMS] = {EACH(ENTRIES)};

static gex_AM_Index_t index_of(int form, int count) {
    return table[count * FORMS + form].gex_index;
}

static void check_token(gex_Token_t token, int request, int is_long, int count) {
    gex_Token_Info_t info;
    memset(&info, 0, sizeof info);
    check((gex_Token_Info(token, &info, GEX_TI_ALL) & (GEX_TI_SRCRANK | GEX_TI_EP)) ==
          (GEX_TI_SRCRANK | GEX_TI_EP));
    check(info.gex_srcrank == (gex_Rank_t)((test_rank + (request ? test_size - 1 : 1)) % test_size));
    check(info.gex_ep == ex_ep && info.gex_is_req == request && info.gex_is_long == is_long);
    check(info.gex_entry->gex_cdata == &table && info.gex_entry->gex_nargs == (unsigned)count);
    check(!(info.gex_entry->gex_flags & GEX_FLAG_AM_REQUEST) == !request);
    if (request) {
        check(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, (unsigned)count) >= 512);
        check(gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, (unsigned)count) >= 512);
    }
}

static void fill_payload(char *data, int count) {
    for (size_t i = 0; i < PAYLOAD; i++)
        data[i] = byte_of(count, i);
}

static size_t payload_of(int count) {
    return count == 3 ? 0 : PAYLOAD;
}

static bool commits; /* messages with data are prepared and committed */

#define COMMIT_REPLY(N)                                                                                      \
    case N:                                                                                                  \
        if (kind == 1)                                                                                       \
            gex_AM_CommitReplyMedium##N(sd, index_of(DATA_REPLY, N), payload_of(N) L##N);                    \
        else                                                                                                 \
            gex_AM_CommitReplyLong##N(sd, index_of(DATA_REPLY, N), payload_of(N), at L##N);                  \
        break;

static void commit_reply(gex_Token_t token, int kind, int count, const gex_AM_Arg_t *a, char *data,
                         char *at) {
    gex_AM_SrcDesc_t sd =
        kind == 1 ? gex_AM_PrepareReplyMedium(token, data, 1, PAYLOAD, GEX_EVENT_NOW, 0, (unsigned)count)
                  : gex_AM_PrepareReplyLong(token, data, 1, PAYLOAD, at, GEX_EVENT_NOW, 0, (unsigned)count);
    switch (count) { EACH(COMMIT_REPLY) }
}

#define COMMIT_REQUEST(N)                                                                                    \
    case N:                                                                                                  \
        if (kind == 1)                                                                                       \
            gex_AM_CommitRequestMedium##N(sd, index_of(DATA_REQUEST, N), payload_of(N) L##N);                \
        else                                                                                                 \
            gex_AM_CommitRequestLong##N(sd, index_of(DATA_REQUEST, N), payload_of(N), at L##N);              \
        break;

static void commit_request(gex_Rank_t rank, int kind, int count) {
    char data[PAYLOAD], *at = ex_base[rank] + HOME + count * 2048;
    gex_AM_Arg_t a[ARGS];
    for (int i = 0; i < ARGS; i++)
        a[i] = value_of(count, i);
    fill_payload(data, count);
    gex_AM_SrcDesc_t sd =
        kind == 1
            ? gex_AM_PrepareRequestMedium(ex_tm, rank, data, 1, PAYLOAD, GEX_EVENT_NOW, 0, (unsigned)count)
            : gex_AM_PrepareRequestLong(ex_tm, rank, data, 1, PAYLOAD, at, GEX_EVENT_NOW, 0, (unsigned)count);
    switch (count) { EACH(COMMIT_REQUEST) }
    memset(data, 0, sizeof data);
}

#define REPLY(N)                                                                                             \
    case N:                                                                                                  \
        status = kind == 0   ? gex_AM_ReplyShort##N(token, index_of(SHORT_REPLY, N), 0 L##N)                 \
                 : kind == 1 ? gex_AM_ReplyMedium##N(token, index_of(DATA_REPLY, N), data, payload_of(N),    \
                                                     &event, 0 L##N)                                         \
                             : gex_AM_ReplyLong##N(token, index_of(DATA_REPLY, N), data, payload_of(N), at,  \
                                                   GEX_EVENT_NOW, 0 L##N);                                   \
        break;

static void reply_as(gex_Token_t token, int kind, int count, const gex_AM_Arg_t *a) {
    static _Thread_local char data[PAYLOAD];
    gex_Rank_t to = (gex_Rank_t)((test_rank + test_size - 1) % test_size);
    char *at = ex_base[to] + HOME + count * 2048;
    gex_Event_t event = GEX_EVENT_NO_OP;
    int status = -1;
    fill_payload(data, count);
    if (commits) {
        commit_reply(token, kind, count, a, data, at);
        return;
    }
    switch (count) { EACH(REPLY) }
    check(status == 0 && (kind != 1 || event == GEX_EVENT_INVALID));
    memset(data, 0, sizeof data); /* the source is free */
}

#define REQUEST(N)                                                                                           \
    case N:                                                                                                  \
        status = kind == 0   ? gex_AM_RequestShort##N(tm, rank, index_of(SHORT_REQUEST, N), 0 L##N)          \
                 : kind == 1 ? gex_AM_RequestMedium##N(tm, rank, index_of(DATA_REQUEST, N), data,            \
                                                       payload_of(N), &event, 0 L##N)                        \
                             : gex_AM_RequestLong##N(tm, rank, index_of(DATA_REQUEST, N), data,              \
                                                     payload_of(N), at, GEX_EVENT_GROUP, 0 L##N);            \
        break;

static void request_as(gex_TM_t tm, gex_Rank_t rank, int kind, int count) {
    char data[PAYLOAD], *at = ex_base[(test_rank + 1) % test_size] + HOME + count * 2048;
    gex_AM_Arg_t a[ARGS];
    gex_Event_t event = GEX_EVENT_NO_OP;
    int status = -1;
    for (int i = 0; i < ARGS; i++)
        a[i] = value_of(count, i);
    fill_payload(data, count);
    switch (count) { EACH(REQUEST) }
    expect_eq(status, 0);
    expect(kind != 1 || event == GEX_EVENT_INVALID);
    gex_NBI_Wait(GEX_EC_AM, 0);
    memset(data, 0, sizeof data);
}

static void set_up(void) {
    ex_register(table, sizeof table / sizeof table[0]);
    atomic_store(&replies, 0);
    atomic_store(&requests, 0);
    ex_barrier();
}

static void check_all(int wanted) {
    GASNET_BLOCKUNTIL(atomic_load(&replies) >= wanted);
    expect_eq(atomic_load(&replies), wanted);
    expect_eq(atomic_exchange(&wrong, 0), 0);
}

CASE(all_kinds_with_all_numbers_of_arguments) {
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    set_up();
    expect_eq(table[0].gex_index, 255); /* the highest first */
    for (int count = 0; count <= ARGS; count++)
        for (int kind = 0; kind < 3; kind++)
            request_as(count % 2 ? ex_tm : gex_TM_Pair(ex_ep, 0), next, kind, count);
    check_all(3 * (ARGS + 1));
}

CASE(committed_messages_with_all_numbers_of_arguments) {
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    set_up();
    commits = true;
    ex_barrier();
    for (int count = 0; count <= ARGS; count++)
        for (int kind = 1; kind < 3; kind++)
            commit_request(next, kind, count);
    check_all(2 * (ARGS + 1));
    ex_barrier();
    commits = false;
}

/* In a team of reversed ranks. */
CASE(messages_in_a_team) {
    gex_TM_t tm;
    set_up();
    gex_TM_Split(&tm, ex_tm, 0, -test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    for (int kind = 0; kind < 3; kind++)
        request_as(tm, (gex_Rank_t)(test_size - 1 - (test_rank + 1) % test_size), kind, 5);
    check_all(3);
    gex_TM_Destroy(tm, NULL, 0);
}

CASE(limits) {
    for (unsigned flags = 0; flags <= GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
         flags += GEX_FLAG_AM_PREPARE_LEAST_CLIENT) {
        for (unsigned args = 0; args <= gex_AM_MaxArgs(); args++) {
            size_t most[] = {gex_AM_MaxRequestMedium(ex_tm, 0, GEX_EVENT_NOW, flags, args),
                             gex_AM_MaxReplyMedium(ex_tm, GEX_RANK_INVALID, NULL, flags, args),
                             gex_AM_MaxRequestLong(ex_tm, 0, GEX_EVENT_GROUP, flags, args),
                             gex_AM_MaxReplyLong(gex_TM_Pair(ex_ep, 0), 0, NULL, flags, args)};
            for (int i = 0; i < 4; i++)
                expect(most[i] >= 512);
            if (flags == 0)
                expect(most[0] >= gex_AM_LUBRequestMedium() && most[1] >= gex_AM_LUBReplyMedium() &&
                       most[2] >= gex_AM_LUBRequestLong() && most[3] >= gex_AM_LUBReplyLong());
        }
    }
    expect_eq(gex_AM_MaxArgs(), ARGS);
}

#if __STDC_VERSION__ >= 199901L
/* The calls that count their arguments. */
CASE(counted_arguments) {
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    char data[PAYLOAD];
    set_up();
    fill_payload(data, 2);
    gex_AM_RequestShort(ex_tm, next, index_of(SHORT_REQUEST, 0), 0);
    gex_AM_RequestMedium(ex_tm, next, index_of(DATA_REQUEST, 2), data, PAYLOAD, GEX_EVENT_NOW, 0,
                         value_of(2, 0), value_of(2, 1));
    gex_AM_RequestLong(ex_tm, next, index_of(DATA_REQUEST, 2), data, PAYLOAD, ex_base[next] + HOME + 4096,
                       GEX_EVENT_NOW, 0, value_of(2, 0), value_of(2, 1));
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(ex_tm, next, data, PAYLOAD, PAYLOAD, GEX_EVENT_NOW, 0, 2);
    gex_AM_CommitRequestMedium(sd, index_of(DATA_REQUEST, 2), PAYLOAD, value_of(2, 0), value_of(2, 1));
    sd = gex_AM_PrepareRequestLong(ex_tm, next, data, PAYLOAD, PAYLOAD, NULL, GEX_EVENT_NOW, 0, 2);
    gex_AM_CommitRequestLong(sd, index_of(DATA_REQUEST, 2), PAYLOAD, ex_base[next] + HOME + 4096,
                             value_of(2, 0), value_of(2, 1));
    check_all(5);
}

static _Atomic int counted; /* sum of the arguments of replies */
enum { COUNTED_ASK, COUNTED_SHORT, COUNTED_DATA };
static gex_AM_Index_t counted_index(int which);

/* Replies in the way that the argument says. */
static void on_counted_ask(gex_Token_t token, gex_AM_Arg_t way) {
    char *at = ex_base[(test_rank + test_size - 1) % test_size];
    gex_AM_Index_t index = counted_index(way == 0 ? COUNTED_SHORT : COUNTED_DATA);
    if (way == 0)
        gex_AM_ReplyShort(token, index, 0, 1, 2, 3);
    else if (way == 1)
        gex_AM_ReplyMedium(token, index, "abc", 3, GEX_EVENT_NOW, 0, 10, 20);
    else if (way == 2)
        gex_AM_ReplyLong(token, index, "abc", 3, at, GEX_EVENT_NOW, 0, 100, 200);
    else if (way == 3)
        gex_AM_CommitReplyMedium(gex_AM_PrepareReplyMedium(token, "abc", 3, 3, GEX_EVENT_NOW, 0, 2), index, 3,
                                 1000, 2000);
    else
        gex_AM_CommitReplyLong(gex_AM_PrepareReplyLong(token, "abc", 3, 3, at, GEX_EVENT_NOW, 0, 2), index, 3,
                               at, 10000, 20000);
}

static void on_counted_short(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b, gex_AM_Arg_t c) {
    (void)token;
    atomic_fetch_add(&counted, a + b + c);
}

static void on_counted_data(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a, gex_AM_Arg_t b) {
    (void)token;
    check(bytes == 3 && memcmp(data, "abc", 3) == 0);
    atomic_fetch_add(&counted, a + b);
}

static gex_AM_Entry_t counting_replies[] = {
    {0, (gex_AM_Fn_t)on_counted_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "on_counted_ask"},
    {0, (gex_AM_Fn_t)on_counted_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, NULL, "on_counted_short"},
    {0, (gex_AM_Fn_t)on_counted_data, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 2, NULL, "on_counted_data"}};

static gex_AM_Index_t counted_index(int which) {
    return counting_replies[which].gex_index;
}

CASE(counted_arguments_of_replies) {
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    ex_register(counting_replies, 3);
    atomic_store(&counted, 0);
    ex_barrier();
    for (int way = 0; way < 5; way++)
        gex_AM_RequestShort(ex_tm, next, counted_index(COUNTED_ASK), 0, way);
    GASNET_BLOCKUNTIL(atomic_load(&counted) >= 33336);
    expect_eq(atomic_load(&counted), 33336);
    expect_eq(atomic_exchange(&wrong, 0), 0);
}
#endif

/* ---- negotiated payload ---- */

static _Atomic int answers;
static void on_prepared(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t with_buffer,
                        gex_AM_Arg_t is_long);
static void on_answer(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t version);
static gex_AM_Entry_t negotiated[] = {
    {0, (gex_AM_Fn_t)on_prepared, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 2, NULL, "on_prepared"},
    {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 1, NULL, "on_answer"}};

/* Replies with the same data, by the library's buffer or its own. */
static void on_prepared(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t with_buffer,
                        gex_AM_Arg_t is_long) {
    static _Thread_local char own[1 << 15];
    gex_Rank_t to = (gex_Rank_t)((test_rank + test_size - 1) % test_size);
    char *at = ex_base[to] + 3 * HOME;
    gex_AM_SrcDesc_t sd;
    memcpy(own, data, bytes);
    if (is_long) /* once in vain */
        gex_AM_CancelReplyLong(gex_AM_PrepareReplyLong(token, NULL, 1, 600, NULL, NULL, 0, 1), 0);
    else
        gex_AM_CancelReplyMedium(gex_AM_PrepareReplyMedium(token, NULL, 1, 600, NULL, 0, 1), 0);
    sd = is_long ? gex_AM_PrepareReplyLong(token, with_buffer ? own : NULL, bytes, bytes, at,
                                           with_buffer ? GEX_EVENT_NOW : NULL, 0, 1)
                 : gex_AM_PrepareReplyMedium(token, with_buffer ? own : NULL, bytes, bytes,
                                             with_buffer ? GEX_EVENT_NOW : NULL, 0, 1);
    check(gex_AM_SrcDescSize(sd) == bytes && (!with_buffer || gex_AM_SrcDescAddr(sd) == own));
    if (!with_buffer)
        memcpy(gex_AM_SrcDescAddr(sd), own, bytes);
    if (is_long)
        gex_AM_CommitReplyLong1(sd, negotiated[1].gex_index, bytes, at, (gex_AM_Arg_t)bytes);
    else
        gex_AM_CommitReplyMedium1(sd, negotiated[1].gex_index, bytes, (gex_AM_Arg_t)bytes);
}

static void on_answer(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t version) {
    (void)token;
    check(bytes == (size_t)version);
    for (size_t i = 0; i < bytes; i++)
        check(((char *)data)[i] == byte_of(version, i));
    atomic_fetch_add(&answers, 1);
}

static void negotiate(size_t bytes, bool with_buffer, bool is_long) {
    static char own[1 << 15];
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    char *at = ex_base[next] + 2 * HOME, *buffer;
    gex_Event_t event = GEX_EVENT_NO_OP, *lc = with_buffer ? &event : NULL;
    gex_AM_SrcDesc_t sd =
        is_long
            ? gex_AM_PrepareRequestLong(ex_tm, next, with_buffer ? own : NULL, 1, bytes + 7, NULL, lc, 0, 2)
            : gex_AM_PrepareRequestMedium(ex_tm, next, with_buffer ? own : NULL, 1, bytes + 7, lc, 0, 2);
    buffer = gex_AM_SrcDescAddr(sd);
    expect(!with_buffer || buffer == own);
    expect(gex_AM_SrcDescSize(sd) >= bytes && gex_AM_SrcDescSize(sd) <= bytes + 7);
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = byte_of((int)bytes, i);
    if (is_long)
        gex_AM_CommitRequestLong2(sd, negotiated[0].gex_index, bytes, at, with_buffer, 1);
    else
        gex_AM_CommitRequestMedium2(sd, negotiated[0].gex_index, bytes, with_buffer, 0);
    expect(!with_buffer || event == GEX_EVENT_INVALID);
    memset(own, 0, bytes);
}

CASE(negotiated_payloads) {
    static const size_t sizes[] = {1, 8, 513, 4000, 32000};
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    int sent = 0;
    ex_register(negotiated, 2);
    atomic_store(&answers, 0);
    ex_barrier();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int how = 0; how < 4; how++) {
            negotiate(sizes[i], how & 1, how & 2);
            sent++;
            GASNET_BLOCKUNTIL(atomic_load(&answers) >=
                              sent); /* one at a time: Long payloads share their place */
            ex_barrier();
        }
    for (int i = 0; i < 200; i++) { /* more than there are slots: a cancelled message gives its slot back */
        expect_eq(
            gex_AM_CancelRequestMedium(gex_AM_PrepareRequestMedium(ex_tm, next, NULL, 1, 8, NULL, 0, 0), 0),
            GASNET_OK);
        expect_eq(
            gex_AM_CancelRequestLong(gex_AM_PrepareRequestLong(ex_tm, next, NULL, 1, 8, NULL, NULL, 0, 0), 0),
            GASNET_OK);
    }
    expect_eq(atomic_exchange(&wrong, 0), 0);
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(ex_tm, next, NULL, 1, 1 << 20, NULL, 0, 0);
    expect_eq(gex_AM_SrcDescSize(sd), gex_AM_LUBRequestMedium());
    gex_AM_CancelRequestMedium(sd, 0);
}

/* ---- calls that do not wait ---- */

static void on_count(gex_Token_t token) {
    (void)token;
    atomic_fetch_add(&requests, 1);
}
static void on_count_data(gex_Token_t token, void *data, size_t bytes) {
    (void)token;
    (void)data;
    (void)bytes;
    atomic_fetch_add(&requests, 1);
}
static gex_AM_Entry_t counting[] = {
    {0, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "on_count"},
    {0, (gex_AM_Fn_t)on_count_data, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, NULL, "on_count_data"}};

enum immediate { PREPARE_MEDIUM, SEND_MEDIUM, SEND_LONG };

/* Whether an immediate call to this node is accepted; a message that it sends is added to *sent. */
static bool is_accepted(enum immediate call, int *sent) {
    gex_Rank_t me = (gex_Rank_t)test_rank;
    gex_AM_Index_t handler = counting[1].gex_index;
    gex_AM_SrcDesc_t sd;
    int status;
    switch (call) {
    case PREPARE_MEDIUM:
        sd = gex_AM_PrepareRequestMedium(ex_tm, me, NULL, 1, 8, NULL, GEX_FLAG_IMMEDIATE, 0);
        if (sd != GEX_AM_SRCDESC_NO_OP)
            gex_AM_CancelRequestMedium(sd, 0);
        return sd != GEX_AM_SRCDESC_NO_OP;
    case SEND_MEDIUM:
        status = gex_AM_RequestMedium0(ex_tm, me, handler, "x", 1, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
        break;
    default:
        status =
            gex_AM_RequestLong0(ex_tm, me, handler, "x", 1, ex_base[me], GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
    }
    *sent += status == 0;
    return status == 0;
}

/* Sends messages to this node until one is refused. */
static int fill(void) {
    int sent = 0;
    while (sent < 100000 &&
           gex_AM_RequestShort0(ex_tm, (gex_Rank_t)test_rank, counting[0].gex_index, GEX_FLAG_IMMEDIATE) == 0)
        sent++;
    return sent;
}

/* To oneself, without a poll: after some messages there is no slot, and the call says so. Another node may still release
 * slots of the cases before, so a call may be accepted a few times. */
CASE(immediate_messages_are_refused_when_none_can_be_sent) {
    int sent = 0;
    ex_register(counting, 2);
    atomic_store(&requests, 0);
    for (enum immediate call = PREPARE_MEDIUM; call <= SEND_LONG; call++) {
        int tries = 0;
        do
            sent += fill();
        while (is_accepted(call, &sent) && ++tries < 1000);
        expect(tries < 1000);
    }
    expect(sent > 0 && sent < 100000);
    GASNET_BLOCKUNTIL(atomic_load(&requests) >= sent);
    expect_eq(atomic_load(&requests), sent);
    expect_eq(gex_AM_RequestShort0(ex_tm, (gex_Rank_t)test_rank, counting[0].gex_index, GEX_FLAG_IMMEDIATE),
              0);
    GASNET_BLOCKUNTIL(atomic_load(&requests) > sent);
}
