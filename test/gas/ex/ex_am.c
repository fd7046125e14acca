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

static void short_request_0(gex_Token_t token) {
    const gex_AM_Arg_t a[] = {0};
    check_args(0, a);
    check_token(token, 1, 0, 0);
    reply_as(token, 0, 0, a);
}
static void data_request_0(gex_Token_t token, void *data, size_t bytes) {
    const gex_AM_Arg_t a[] = {0};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(0, a);
    check_payload(data, bytes, 0, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 0);
    reply_as(token, info.gex_is_long ? 2 : 1, 0, a);
}
static void short_reply_0(gex_Token_t token) {
    const gex_AM_Arg_t a[] = {0};
    check_args(0, a);
    check_token(token, 0, 0, 0);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_0(gex_Token_t token, void *data, size_t bytes) {
    const gex_AM_Arg_t a[] = {0};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(0, a);
    check_payload(data, bytes, 0, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 0);
    atomic_fetch_add(&replies, 1);
}

static void short_request_1(gex_Token_t token, gex_AM_Arg_t a0) {
    const gex_AM_Arg_t a[] = {a0};
    check_args(1, a);
    check_token(token, 1, 0, 1);
    reply_as(token, 0, 1, a);
}
static void data_request_1(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0) {
    const gex_AM_Arg_t a[] = {a0};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(1, a);
    check_payload(data, bytes, 1, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 1);
    reply_as(token, info.gex_is_long ? 2 : 1, 1, a);
}
static void short_reply_1(gex_Token_t token, gex_AM_Arg_t a0) {
    const gex_AM_Arg_t a[] = {a0};
    check_args(1, a);
    check_token(token, 0, 0, 1);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_1(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0) {
    const gex_AM_Arg_t a[] = {a0};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(1, a);
    check_payload(data, bytes, 1, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 1);
    atomic_fetch_add(&replies, 1);
}

static void short_request_2(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
    const gex_AM_Arg_t a[] = {a0, a1};
    check_args(2, a);
    check_token(token, 1, 0, 2);
    reply_as(token, 0, 2, a);
}
static void data_request_2(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
    const gex_AM_Arg_t a[] = {a0, a1};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(2, a);
    check_payload(data, bytes, 2, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 2);
    reply_as(token, info.gex_is_long ? 2 : 1, 2, a);
}
static void short_reply_2(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
    const gex_AM_Arg_t a[] = {a0, a1};
    check_args(2, a);
    check_token(token, 0, 0, 2);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_2(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
    const gex_AM_Arg_t a[] = {a0, a1};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(2, a);
    check_payload(data, bytes, 2, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 2);
    atomic_fetch_add(&replies, 1);
}

static void short_request_3(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2) {
    const gex_AM_Arg_t a[] = {a0, a1, a2};
    check_args(3, a);
    check_token(token, 1, 0, 3);
    reply_as(token, 0, 3, a);
}
static void data_request_3(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2) {
    const gex_AM_Arg_t a[] = {a0, a1, a2};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(3, a);
    check_payload(data, bytes, 3, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 3);
    reply_as(token, info.gex_is_long ? 2 : 1, 3, a);
}
static void short_reply_3(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2) {
    const gex_AM_Arg_t a[] = {a0, a1, a2};
    check_args(3, a);
    check_token(token, 0, 0, 3);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_3(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2) {
    const gex_AM_Arg_t a[] = {a0, a1, a2};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(3, a);
    check_payload(data, bytes, 3, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 3);
    atomic_fetch_add(&replies, 1);
}

static void short_request_4(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3};
    check_args(4, a);
    check_token(token, 1, 0, 4);
    reply_as(token, 0, 4, a);
}
static void data_request_4(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(4, a);
    check_payload(data, bytes, 4, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 4);
    reply_as(token, info.gex_is_long ? 2 : 1, 4, a);
}
static void short_reply_4(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3};
    check_args(4, a);
    check_token(token, 0, 0, 4);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_4(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(4, a);
    check_payload(data, bytes, 4, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 4);
    atomic_fetch_add(&replies, 1);
}

static void short_request_5(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3, gex_AM_Arg_t a4) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4};
    check_args(5, a);
    check_token(token, 1, 0, 5);
    reply_as(token, 0, 5, a);
}
static void data_request_5(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(5, a);
    check_payload(data, bytes, 5, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 5);
    reply_as(token, info.gex_is_long ? 2 : 1, 5, a);
}
static void short_reply_5(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3, gex_AM_Arg_t a4) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4};
    check_args(5, a);
    check_token(token, 0, 0, 5);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_5(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(5, a);
    check_payload(data, bytes, 5, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 5);
    atomic_fetch_add(&replies, 1);
}

static void short_request_6(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5};
    check_args(6, a);
    check_token(token, 1, 0, 6);
    reply_as(token, 0, 6, a);
}
static void data_request_6(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(6, a);
    check_payload(data, bytes, 6, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 6);
    reply_as(token, info.gex_is_long ? 2 : 1, 6, a);
}
static void short_reply_6(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5};
    check_args(6, a);
    check_token(token, 0, 0, 6);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_6(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(6, a);
    check_payload(data, bytes, 6, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 6);
    atomic_fetch_add(&replies, 1);
}

static void short_request_7(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6};
    check_args(7, a);
    check_token(token, 1, 0, 7);
    reply_as(token, 0, 7, a);
}
static void data_request_7(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                           gex_AM_Arg_t a6) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(7, a);
    check_payload(data, bytes, 7, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 7);
    reply_as(token, info.gex_is_long ? 2 : 1, 7, a);
}
static void short_reply_7(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6};
    check_args(7, a);
    check_token(token, 0, 0, 7);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_7(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                         gex_AM_Arg_t a6) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(7, a);
    check_payload(data, bytes, 7, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 7);
    atomic_fetch_add(&replies, 1);
}

static void short_request_8(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                            gex_AM_Arg_t a7) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7};
    check_args(8, a);
    check_token(token, 1, 0, 8);
    reply_as(token, 0, 8, a);
}
static void data_request_8(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                           gex_AM_Arg_t a6, gex_AM_Arg_t a7) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(8, a);
    check_payload(data, bytes, 8, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 8);
    reply_as(token, info.gex_is_long ? 2 : 1, 8, a);
}
static void short_reply_8(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7};
    check_args(8, a);
    check_token(token, 0, 0, 8);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_8(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                         gex_AM_Arg_t a7) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(8, a);
    check_payload(data, bytes, 8, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 8);
    atomic_fetch_add(&replies, 1);
}

static void short_request_9(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                            gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                            gex_AM_Arg_t a7, gex_AM_Arg_t a8) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8};
    check_args(9, a);
    check_token(token, 1, 0, 9);
    reply_as(token, 0, 9, a);
}
static void data_request_9(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                           gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                           gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(9, a);
    check_payload(data, bytes, 9, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 9);
    reply_as(token, info.gex_is_long ? 2 : 1, 9, a);
}
static void short_reply_9(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                          gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6, gex_AM_Arg_t a7,
                          gex_AM_Arg_t a8) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8};
    check_args(9, a);
    check_token(token, 0, 0, 9);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_9(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                         gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                         gex_AM_Arg_t a7, gex_AM_Arg_t a8) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(9, a);
    check_payload(data, bytes, 9, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 9);
    atomic_fetch_add(&replies, 1);
}

static void short_request_10(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9};
    check_args(10, a);
    check_token(token, 1, 0, 10);
    reply_as(token, 0, 10, a);
}
static void data_request_10(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(10, a);
    check_payload(data, bytes, 10, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 10);
    reply_as(token, info.gex_is_long ? 2 : 1, 10, a);
}
static void short_reply_10(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9};
    check_args(10, a);
    check_token(token, 0, 0, 10);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_10(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(10, a);
    check_payload(data, bytes, 10, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 10);
    atomic_fetch_add(&replies, 1);
}

static void short_request_11(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10};
    check_args(11, a);
    check_token(token, 1, 0, 11);
    reply_as(token, 0, 11, a);
}
static void data_request_11(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(11, a);
    check_payload(data, bytes, 11, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 11);
    reply_as(token, info.gex_is_long ? 2 : 1, 11, a);
}
static void short_reply_11(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10};
    check_args(11, a);
    check_token(token, 0, 0, 11);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_11(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(11, a);
    check_payload(data, bytes, 11, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 11);
    atomic_fetch_add(&replies, 1);
}

static void short_request_12(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                             gex_AM_Arg_t a11) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
    check_args(12, a);
    check_token(token, 1, 0, 12);
    reply_as(token, 0, 12, a);
}
static void data_request_12(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10, gex_AM_Arg_t a11) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(12, a);
    check_payload(data, bytes, 12, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 12);
    reply_as(token, info.gex_is_long ? 2 : 1, 12, a);
}
static void short_reply_12(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                           gex_AM_Arg_t a11) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
    check_args(12, a);
    check_token(token, 0, 0, 12);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_12(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                          gex_AM_Arg_t a11) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(12, a);
    check_payload(data, bytes, 12, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 12);
    atomic_fetch_add(&replies, 1);
}

static void short_request_13(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                             gex_AM_Arg_t a11, gex_AM_Arg_t a12) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12};
    check_args(13, a);
    check_token(token, 1, 0, 13);
    reply_as(token, 0, 13, a);
}
static void data_request_13(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(13, a);
    check_payload(data, bytes, 13, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 13);
    reply_as(token, info.gex_is_long ? 2 : 1, 13, a);
}
static void short_reply_13(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                           gex_AM_Arg_t a11, gex_AM_Arg_t a12) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12};
    check_args(13, a);
    check_token(token, 0, 0, 13);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_13(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                          gex_AM_Arg_t a11, gex_AM_Arg_t a12) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(13, a);
    check_payload(data, bytes, 13, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 13);
    atomic_fetch_add(&replies, 1);
}

static void short_request_14(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                             gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};
    check_args(14, a);
    check_token(token, 1, 0, 14);
    reply_as(token, 0, 14, a);
}
static void data_request_14(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(14, a);
    check_payload(data, bytes, 14, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 14);
    reply_as(token, info.gex_is_long ? 2 : 1, 14, a);
}
static void short_reply_14(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                           gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};
    check_args(14, a);
    check_token(token, 0, 0, 14);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_14(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                          gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(14, a);
    check_payload(data, bytes, 14, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 14);
    atomic_fetch_add(&replies, 1);
}

static void short_request_15(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                             gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14};
    check_args(15, a);
    check_token(token, 1, 0, 15);
    reply_as(token, 0, 15, a);
}
static void data_request_15(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13,
                            gex_AM_Arg_t a14) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(15, a);
    check_payload(data, bytes, 15, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 15);
    reply_as(token, info.gex_is_long ? 2 : 1, 15, a);
}
static void short_reply_15(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                           gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14};
    check_args(15, a);
    check_token(token, 0, 0, 15);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_15(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                          gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(15, a);
    check_payload(data, bytes, 15, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 15);
    atomic_fetch_add(&replies, 1);
}

static void short_request_16(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                             gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                             gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                             gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14,
                             gex_AM_Arg_t a15) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
    check_args(16, a);
    check_token(token, 1, 0, 16);
    reply_as(token, 0, 16, a);
}
static void data_request_16(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                            gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                            gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                            gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13,
                            gex_AM_Arg_t a14, gex_AM_Arg_t a15) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    check_args(16, a);
    check_payload(data, bytes, 16, info.gex_is_long);
    check_token(token, 1, info.gex_is_long, 16);
    reply_as(token, info.gex_is_long ? 2 : 1, 16, a);
}
static void short_reply_16(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2,
                           gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                           gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                           gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14,
                           gex_AM_Arg_t a15) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
    check_args(16, a);
    check_token(token, 0, 0, 16);
    atomic_fetch_add(&replies, 1);
}
static void data_reply_16(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                          gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6,
                          gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                          gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14,
                          gex_AM_Arg_t a15) {
    const gex_AM_Arg_t a[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_IS_LONG);
    check_args(16, a);
    check_payload(data, bytes, 16, info.gex_is_long);
    check_token(token, 0, info.gex_is_long, 16);
    atomic_fetch_add(&replies, 1);
}

/* Entries by number of arguments: Short and other requests, Short and other replies. Each marks its client data. */
enum { SHORT_REQUEST, DATA_REQUEST, SHORT_REPLY, DATA_REPLY, FORMS };
static gex_AM_Entry_t table[(ARGS + 1) * FORMS] = {
    {0, (gex_AM_Fn_t)short_request_0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, &table, "short_request_0"},
    {0, (gex_AM_Fn_t)data_request_0, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, &table, "data_request_0"},
    {0, (gex_AM_Fn_t)short_reply_0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, &table, "short_reply_0"},
    {0, (gex_AM_Fn_t)data_reply_0, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 0, &table, "data_reply_0"},
    {0, (gex_AM_Fn_t)short_request_1, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, &table, "short_request_1"},
    {0, (gex_AM_Fn_t)data_request_1, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 1, &table, "data_request_1"},
    {0, (gex_AM_Fn_t)short_reply_1, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, &table, "short_reply_1"},
    {0, (gex_AM_Fn_t)data_reply_1, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 1, &table, "data_reply_1"},
    {0, (gex_AM_Fn_t)short_request_2, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, &table, "short_request_2"},
    {0, (gex_AM_Fn_t)data_request_2, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 2, &table, "data_request_2"},
    {0, (gex_AM_Fn_t)short_reply_2, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, &table, "short_reply_2"},
    {0, (gex_AM_Fn_t)data_reply_2, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 2, &table, "data_reply_2"},
    {0, (gex_AM_Fn_t)short_request_3, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, &table, "short_request_3"},
    {0, (gex_AM_Fn_t)data_request_3, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 3, &table, "data_request_3"},
    {0, (gex_AM_Fn_t)short_reply_3, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, &table, "short_reply_3"},
    {0, (gex_AM_Fn_t)data_reply_3, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 3, &table, "data_reply_3"},
    {0, (gex_AM_Fn_t)short_request_4, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4, &table, "short_request_4"},
    {0, (gex_AM_Fn_t)data_request_4, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 4, &table, "data_request_4"},
    {0, (gex_AM_Fn_t)short_reply_4, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 4, &table, "short_reply_4"},
    {0, (gex_AM_Fn_t)data_reply_4, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 4, &table, "data_reply_4"},
    {0, (gex_AM_Fn_t)short_request_5, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 5, &table, "short_request_5"},
    {0, (gex_AM_Fn_t)data_request_5, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 5, &table, "data_request_5"},
    {0, (gex_AM_Fn_t)short_reply_5, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 5, &table, "short_reply_5"},
    {0, (gex_AM_Fn_t)data_reply_5, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 5, &table, "data_reply_5"},
    {0, (gex_AM_Fn_t)short_request_6, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 6, &table, "short_request_6"},
    {0, (gex_AM_Fn_t)data_request_6, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 6, &table, "data_request_6"},
    {0, (gex_AM_Fn_t)short_reply_6, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 6, &table, "short_reply_6"},
    {0, (gex_AM_Fn_t)data_reply_6, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 6, &table, "data_reply_6"},
    {0, (gex_AM_Fn_t)short_request_7, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 7, &table, "short_request_7"},
    {0, (gex_AM_Fn_t)data_request_7, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 7, &table, "data_request_7"},
    {0, (gex_AM_Fn_t)short_reply_7, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 7, &table, "short_reply_7"},
    {0, (gex_AM_Fn_t)data_reply_7, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 7, &table, "data_reply_7"},
    {0, (gex_AM_Fn_t)short_request_8, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 8, &table, "short_request_8"},
    {0, (gex_AM_Fn_t)data_request_8, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 8, &table, "data_request_8"},
    {0, (gex_AM_Fn_t)short_reply_8, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 8, &table, "short_reply_8"},
    {0, (gex_AM_Fn_t)data_reply_8, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 8, &table, "data_reply_8"},
    {0, (gex_AM_Fn_t)short_request_9, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 9, &table, "short_request_9"},
    {0, (gex_AM_Fn_t)data_request_9, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 9, &table, "data_request_9"},
    {0, (gex_AM_Fn_t)short_reply_9, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 9, &table, "short_reply_9"},
    {0, (gex_AM_Fn_t)data_reply_9, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 9, &table, "data_reply_9"},
    {0, (gex_AM_Fn_t)short_request_10, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 10, &table,
     "short_request_10"},
    {0, (gex_AM_Fn_t)data_request_10, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 10, &table,
     "data_request_10"},
    {0, (gex_AM_Fn_t)short_reply_10, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 10, &table, "short_reply_10"},
    {0, (gex_AM_Fn_t)data_reply_10, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 10, &table, "data_reply_10"},
    {0, (gex_AM_Fn_t)short_request_11, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 11, &table,
     "short_request_11"},
    {0, (gex_AM_Fn_t)data_request_11, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 11, &table,
     "data_request_11"},
    {0, (gex_AM_Fn_t)short_reply_11, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 11, &table, "short_reply_11"},
    {0, (gex_AM_Fn_t)data_reply_11, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 11, &table, "data_reply_11"},
    {0, (gex_AM_Fn_t)short_request_12, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 12, &table,
     "short_request_12"},
    {0, (gex_AM_Fn_t)data_request_12, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 12, &table,
     "data_request_12"},
    {0, (gex_AM_Fn_t)short_reply_12, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 12, &table, "short_reply_12"},
    {0, (gex_AM_Fn_t)data_reply_12, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 12, &table, "data_reply_12"},
    {0, (gex_AM_Fn_t)short_request_13, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 13, &table,
     "short_request_13"},
    {0, (gex_AM_Fn_t)data_request_13, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 13, &table,
     "data_request_13"},
    {0, (gex_AM_Fn_t)short_reply_13, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 13, &table, "short_reply_13"},
    {0, (gex_AM_Fn_t)data_reply_13, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 13, &table, "data_reply_13"},
    {0, (gex_AM_Fn_t)short_request_14, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 14, &table,
     "short_request_14"},
    {0, (gex_AM_Fn_t)data_request_14, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 14, &table,
     "data_request_14"},
    {0, (gex_AM_Fn_t)short_reply_14, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 14, &table, "short_reply_14"},
    {0, (gex_AM_Fn_t)data_reply_14, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 14, &table, "data_reply_14"},
    {0, (gex_AM_Fn_t)short_request_15, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 15, &table,
     "short_request_15"},
    {0, (gex_AM_Fn_t)data_request_15, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 15, &table,
     "data_request_15"},
    {0, (gex_AM_Fn_t)short_reply_15, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 15, &table, "short_reply_15"},
    {0, (gex_AM_Fn_t)data_reply_15, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 15, &table, "data_reply_15"},
    {0, (gex_AM_Fn_t)short_request_16, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 16, &table,
     "short_request_16"},
    {0, (gex_AM_Fn_t)data_request_16, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 16, &table,
     "data_request_16"},
    {0, (gex_AM_Fn_t)short_reply_16, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 16, &table, "short_reply_16"},
    {0, (gex_AM_Fn_t)data_reply_16, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 16, &table, "data_reply_16"},
};

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

static void reply_as(gex_Token_t token, int kind, int count, const gex_AM_Arg_t *a) {
    static _Thread_local char data[PAYLOAD];
    gex_Rank_t to = (gex_Rank_t)((test_rank + test_size - 1) % test_size);
    char *at = ex_base[to] + HOME + count * 2048;
    gex_Event_t event = GEX_EVENT_NO_OP;
    fill_payload(data, count);
    switch (count) {
    case 0:
        if (kind == 0)
            check(gex_AM_ReplyShort0(token, index_of(SHORT_REPLY, 0), 0) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium0(token, index_of(DATA_REPLY, 0), data, payload_of(0), &event, 0) == 0);
        else
            check(gex_AM_ReplyLong0(token, index_of(DATA_REPLY, 0), data, payload_of(0), at, GEX_EVENT_NOW,
                                    0) == 0);
        break;
    case 1:
        if (kind == 0)
            check(gex_AM_ReplyShort1(token, index_of(SHORT_REPLY, 1), 0, a[0]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium1(token, index_of(DATA_REPLY, 1), data, payload_of(1), &event, 0, a[0]) ==
                  0);
        else
            check(gex_AM_ReplyLong1(token, index_of(DATA_REPLY, 1), data, payload_of(1), at, GEX_EVENT_NOW, 0,
                                    a[0]) == 0);
        break;
    case 2:
        if (kind == 0)
            check(gex_AM_ReplyShort2(token, index_of(SHORT_REPLY, 2), 0, a[0], a[1]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium2(token, index_of(DATA_REPLY, 2), data, payload_of(2), &event, 0, a[0],
                                      a[1]) == 0);
        else
            check(gex_AM_ReplyLong2(token, index_of(DATA_REPLY, 2), data, payload_of(2), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1]) == 0);
        break;
    case 3:
        if (kind == 0)
            check(gex_AM_ReplyShort3(token, index_of(SHORT_REPLY, 3), 0, a[0], a[1], a[2]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium3(token, index_of(DATA_REPLY, 3), data, payload_of(3), &event, 0, a[0],
                                      a[1], a[2]) == 0);
        else
            check(gex_AM_ReplyLong3(token, index_of(DATA_REPLY, 3), data, payload_of(3), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2]) == 0);
        break;
    case 4:
        if (kind == 0)
            check(gex_AM_ReplyShort4(token, index_of(SHORT_REPLY, 4), 0, a[0], a[1], a[2], a[3]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium4(token, index_of(DATA_REPLY, 4), data, payload_of(4), &event, 0, a[0],
                                      a[1], a[2], a[3]) == 0);
        else
            check(gex_AM_ReplyLong4(token, index_of(DATA_REPLY, 4), data, payload_of(4), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3]) == 0);
        break;
    case 5:
        if (kind == 0)
            check(gex_AM_ReplyShort5(token, index_of(SHORT_REPLY, 5), 0, a[0], a[1], a[2], a[3], a[4]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium5(token, index_of(DATA_REPLY, 5), data, payload_of(5), &event, 0, a[0],
                                      a[1], a[2], a[3], a[4]) == 0);
        else
            check(gex_AM_ReplyLong5(token, index_of(DATA_REPLY, 5), data, payload_of(5), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3], a[4]) == 0);
        break;
    case 6:
        if (kind == 0)
            check(gex_AM_ReplyShort6(token, index_of(SHORT_REPLY, 6), 0, a[0], a[1], a[2], a[3], a[4],
                                     a[5]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium6(token, index_of(DATA_REPLY, 6), data, payload_of(6), &event, 0, a[0],
                                      a[1], a[2], a[3], a[4], a[5]) == 0);
        else
            check(gex_AM_ReplyLong6(token, index_of(DATA_REPLY, 6), data, payload_of(6), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3], a[4], a[5]) == 0);
        break;
    case 7:
        if (kind == 0)
            check(gex_AM_ReplyShort7(token, index_of(SHORT_REPLY, 7), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                     a[6]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium7(token, index_of(DATA_REPLY, 7), data, payload_of(7), &event, 0, a[0],
                                      a[1], a[2], a[3], a[4], a[5], a[6]) == 0);
        else
            check(gex_AM_ReplyLong7(token, index_of(DATA_REPLY, 7), data, payload_of(7), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3], a[4], a[5], a[6]) == 0);
        break;
    case 8:
        if (kind == 0)
            check(gex_AM_ReplyShort8(token, index_of(SHORT_REPLY, 8), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                     a[6], a[7]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium8(token, index_of(DATA_REPLY, 8), data, payload_of(8), &event, 0, a[0],
                                      a[1], a[2], a[3], a[4], a[5], a[6], a[7]) == 0);
        else
            check(gex_AM_ReplyLong8(token, index_of(DATA_REPLY, 8), data, payload_of(8), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]) == 0);
        break;
    case 9:
        if (kind == 0)
            check(gex_AM_ReplyShort9(token, index_of(SHORT_REPLY, 9), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                     a[6], a[7], a[8]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium9(token, index_of(DATA_REPLY, 9), data, payload_of(9), &event, 0, a[0],
                                      a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]) == 0);
        else
            check(gex_AM_ReplyLong9(token, index_of(DATA_REPLY, 9), data, payload_of(9), at, GEX_EVENT_NOW, 0,
                                    a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]) == 0);
        break;
    case 10:
        if (kind == 0)
            check(gex_AM_ReplyShort10(token, index_of(SHORT_REPLY, 10), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium10(token, index_of(DATA_REPLY, 10), data, payload_of(10), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]) == 0);
        else
            check(gex_AM_ReplyLong10(token, index_of(DATA_REPLY, 10), data, payload_of(10), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]) == 0);
        break;
    case 11:
        if (kind == 0)
            check(gex_AM_ReplyShort11(token, index_of(SHORT_REPLY, 11), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium11(token, index_of(DATA_REPLY, 11), data, payload_of(11), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]) == 0);
        else
            check(gex_AM_ReplyLong11(token, index_of(DATA_REPLY, 11), data, payload_of(11), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
                                     a[10]) == 0);
        break;
    case 12:
        if (kind == 0)
            check(gex_AM_ReplyShort12(token, index_of(SHORT_REPLY, 12), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10], a[11]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium12(token, index_of(DATA_REPLY, 12), data, payload_of(12), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                       a[11]) == 0);
        else
            check(gex_AM_ReplyLong12(token, index_of(DATA_REPLY, 12), data, payload_of(12), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11]) == 0);
        break;
    case 13:
        if (kind == 0)
            check(gex_AM_ReplyShort13(token, index_of(SHORT_REPLY, 13), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10], a[11], a[12]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium13(token, index_of(DATA_REPLY, 13), data, payload_of(13), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                       a[12]) == 0);
        else
            check(gex_AM_ReplyLong13(token, index_of(DATA_REPLY, 13), data, payload_of(13), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11], a[12]) == 0);
        break;
    case 14:
        if (kind == 0)
            check(gex_AM_ReplyShort14(token, index_of(SHORT_REPLY, 14), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium14(token, index_of(DATA_REPLY, 14), data, payload_of(14), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                       a[12], a[13]) == 0);
        else
            check(gex_AM_ReplyLong14(token, index_of(DATA_REPLY, 14), data, payload_of(14), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11], a[12], a[13]) == 0);
        break;
    case 15:
        if (kind == 0)
            check(gex_AM_ReplyShort15(token, index_of(SHORT_REPLY, 15), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium15(token, index_of(DATA_REPLY, 15), data, payload_of(15), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                       a[12], a[13], a[14]) == 0);
        else
            check(gex_AM_ReplyLong15(token, index_of(DATA_REPLY, 15), data, payload_of(15), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11], a[12], a[13], a[14]) == 0);
        break;
    case 16:
        if (kind == 0)
            check(gex_AM_ReplyShort16(token, index_of(SHORT_REPLY, 16), 0, a[0], a[1], a[2], a[3], a[4], a[5],
                                      a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]) == 0);
        else if (kind == 1)
            check(gex_AM_ReplyMedium16(token, index_of(DATA_REPLY, 16), data, payload_of(16), &event, 0, a[0],
                                       a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                       a[12], a[13], a[14], a[15]) == 0);
        else
            check(gex_AM_ReplyLong16(token, index_of(DATA_REPLY, 16), data, payload_of(16), at, GEX_EVENT_NOW,
                                     0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11], a[12], a[13], a[14], a[15]) == 0);
        break;
    }
    check(kind != 1 || event == GEX_EVENT_INVALID);
    memset(data, 0, sizeof data); /* the source is free */
}

static void request_as(gex_TM_t tm, gex_Rank_t rank, int kind, int count) {
    char data[PAYLOAD], *at = ex_base[(test_rank + 1) % test_size] + HOME + count * 2048;
    gex_AM_Arg_t a[ARGS];
    gex_Event_t event = GEX_EVENT_NO_OP;
    for (int i = 0; i < ARGS; i++)
        a[i] = value_of(count, i);
    fill_payload(data, count);
    switch (count) {
    case 0:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort0(tm, rank, index_of(SHORT_REQUEST, 0), 0), 0);
        else if (kind == 1)
            expect_eq(
                gex_AM_RequestMedium0(tm, rank, index_of(DATA_REQUEST, 0), data, payload_of(0), &event, 0),
                0);
        else
            expect_eq(gex_AM_RequestLong0(tm, rank, index_of(DATA_REQUEST, 0), data, payload_of(0), at,
                                          GEX_EVENT_GROUP, 0),
                      0);
        break;
    case 1:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort1(tm, rank, index_of(SHORT_REQUEST, 1), 0, a[0]), 0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium1(tm, rank, index_of(DATA_REQUEST, 1), data, payload_of(1), &event,
                                            0, a[0]),
                      0);
        else
            expect_eq(gex_AM_RequestLong1(tm, rank, index_of(DATA_REQUEST, 1), data, payload_of(1), at,
                                          GEX_EVENT_GROUP, 0, a[0]),
                      0);
        break;
    case 2:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort2(tm, rank, index_of(SHORT_REQUEST, 2), 0, a[0], a[1]), 0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium2(tm, rank, index_of(DATA_REQUEST, 2), data, payload_of(2), &event,
                                            0, a[0], a[1]),
                      0);
        else
            expect_eq(gex_AM_RequestLong2(tm, rank, index_of(DATA_REQUEST, 2), data, payload_of(2), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1]),
                      0);
        break;
    case 3:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort3(tm, rank, index_of(SHORT_REQUEST, 3), 0, a[0], a[1], a[2]), 0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium3(tm, rank, index_of(DATA_REQUEST, 3), data, payload_of(3), &event,
                                            0, a[0], a[1], a[2]),
                      0);
        else
            expect_eq(gex_AM_RequestLong3(tm, rank, index_of(DATA_REQUEST, 3), data, payload_of(3), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2]),
                      0);
        break;
    case 4:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort4(tm, rank, index_of(SHORT_REQUEST, 4), 0, a[0], a[1], a[2], a[3]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium4(tm, rank, index_of(DATA_REQUEST, 4), data, payload_of(4), &event,
                                            0, a[0], a[1], a[2], a[3]),
                      0);
        else
            expect_eq(gex_AM_RequestLong4(tm, rank, index_of(DATA_REQUEST, 4), data, payload_of(4), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3]),
                      0);
        break;
    case 5:
        if (kind == 0)
            expect_eq(
                gex_AM_RequestShort5(tm, rank, index_of(SHORT_REQUEST, 5), 0, a[0], a[1], a[2], a[3], a[4]),
                0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium5(tm, rank, index_of(DATA_REQUEST, 5), data, payload_of(5), &event,
                                            0, a[0], a[1], a[2], a[3], a[4]),
                      0);
        else
            expect_eq(gex_AM_RequestLong5(tm, rank, index_of(DATA_REQUEST, 5), data, payload_of(5), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4]),
                      0);
        break;
    case 6:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort6(tm, rank, index_of(SHORT_REQUEST, 6), 0, a[0], a[1], a[2], a[3],
                                           a[4], a[5]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium6(tm, rank, index_of(DATA_REQUEST, 6), data, payload_of(6), &event,
                                            0, a[0], a[1], a[2], a[3], a[4], a[5]),
                      0);
        else
            expect_eq(gex_AM_RequestLong6(tm, rank, index_of(DATA_REQUEST, 6), data, payload_of(6), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5]),
                      0);
        break;
    case 7:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort7(tm, rank, index_of(SHORT_REQUEST, 7), 0, a[0], a[1], a[2], a[3],
                                           a[4], a[5], a[6]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium7(tm, rank, index_of(DATA_REQUEST, 7), data, payload_of(7), &event,
                                            0, a[0], a[1], a[2], a[3], a[4], a[5], a[6]),
                      0);
        else
            expect_eq(gex_AM_RequestLong7(tm, rank, index_of(DATA_REQUEST, 7), data, payload_of(7), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6]),
                      0);
        break;
    case 8:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort8(tm, rank, index_of(SHORT_REQUEST, 8), 0, a[0], a[1], a[2], a[3],
                                           a[4], a[5], a[6], a[7]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium8(tm, rank, index_of(DATA_REQUEST, 8), data, payload_of(8), &event,
                                            0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]),
                      0);
        else
            expect_eq(gex_AM_RequestLong8(tm, rank, index_of(DATA_REQUEST, 8), data, payload_of(8), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]),
                      0);
        break;
    case 9:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort9(tm, rank, index_of(SHORT_REQUEST, 9), 0, a[0], a[1], a[2], a[3],
                                           a[4], a[5], a[6], a[7], a[8]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium9(tm, rank, index_of(DATA_REQUEST, 9), data, payload_of(9), &event,
                                            0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]),
                      0);
        else
            expect_eq(gex_AM_RequestLong9(tm, rank, index_of(DATA_REQUEST, 9), data, payload_of(9), at,
                                          GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                          a[8]),
                      0);
        break;
    case 10:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort10(tm, rank, index_of(SHORT_REQUEST, 10), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium10(tm, rank, index_of(DATA_REQUEST, 10), data, payload_of(10),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9]),
                      0);
        else
            expect_eq(gex_AM_RequestLong10(tm, rank, index_of(DATA_REQUEST, 10), data, payload_of(10), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9]),
                      0);
        break;
    case 11:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort11(tm, rank, index_of(SHORT_REQUEST, 11), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium11(tm, rank, index_of(DATA_REQUEST, 11), data, payload_of(11),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10]),
                      0);
        else
            expect_eq(gex_AM_RequestLong11(tm, rank, index_of(DATA_REQUEST, 11), data, payload_of(11), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10]),
                      0);
        break;
    case 12:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort12(tm, rank, index_of(SHORT_REQUEST, 12), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium12(tm, rank, index_of(DATA_REQUEST, 12), data, payload_of(12),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10], a[11]),
                      0);
        else
            expect_eq(gex_AM_RequestLong12(tm, rank, index_of(DATA_REQUEST, 12), data, payload_of(12), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10], a[11]),
                      0);
        break;
    case 13:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort13(tm, rank, index_of(SHORT_REQUEST, 13), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium13(tm, rank, index_of(DATA_REQUEST, 13), data, payload_of(13),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10], a[11], a[12]),
                      0);
        else
            expect_eq(gex_AM_RequestLong13(tm, rank, index_of(DATA_REQUEST, 13), data, payload_of(13), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10], a[11], a[12]),
                      0);
        break;
    case 14:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort14(tm, rank, index_of(SHORT_REQUEST, 14), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium14(tm, rank, index_of(DATA_REQUEST, 14), data, payload_of(14),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10], a[11], a[12], a[13]),
                      0);
        else
            expect_eq(gex_AM_RequestLong14(tm, rank, index_of(DATA_REQUEST, 14), data, payload_of(14), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10], a[11], a[12], a[13]),
                      0);
        break;
    case 15:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort15(tm, rank, index_of(SHORT_REQUEST, 15), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                                            a[14]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium15(tm, rank, index_of(DATA_REQUEST, 15), data, payload_of(15),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10], a[11], a[12], a[13], a[14]),
                      0);
        else
            expect_eq(gex_AM_RequestLong15(tm, rank, index_of(DATA_REQUEST, 15), data, payload_of(15), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10], a[11], a[12], a[13], a[14]),
                      0);
        break;
    case 16:
        if (kind == 0)
            expect_eq(gex_AM_RequestShort16(tm, rank, index_of(SHORT_REQUEST, 16), 0, a[0], a[1], a[2], a[3],
                                            a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                                            a[14], a[15]),
                      0);
        else if (kind == 1)
            expect_eq(gex_AM_RequestMedium16(tm, rank, index_of(DATA_REQUEST, 16), data, payload_of(16),
                                             &event, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                             a[9], a[10], a[11], a[12], a[13], a[14], a[15]),
                      0);
        else
            expect_eq(gex_AM_RequestLong16(tm, rank, index_of(DATA_REQUEST, 16), data, payload_of(16), at,
                                           GEX_EVENT_GROUP, 0, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                           a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]),
                      0);
        break;
    }
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
    check_all(4);
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
static gex_AM_Entry_t counting[] = {
    {0, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "on_count"}};

/* To oneself, without a poll: after some messages there is no slot, and the call says so. */
CASE(immediate_messages_are_refused_when_none_can_be_sent) {
    gex_Rank_t me = (gex_Rank_t)test_rank;
    int sent = 0;
    ex_register(counting, 1);
    atomic_store(&requests, 0);
    while (sent < 100000 && gex_AM_RequestShort0(ex_tm, me, counting[0].gex_index, GEX_FLAG_IMMEDIATE) == 0)
        sent++;
    expect(sent > 0 && sent < 100000);
    expect(gex_AM_PrepareRequestMedium(ex_tm, me, NULL, 1, 8, NULL, GEX_FLAG_IMMEDIATE, 0) ==
           GEX_AM_SRCDESC_NO_OP);
    expect(gex_AM_RequestMedium0(ex_tm, me, counting[0].gex_index, "x", 1, GEX_EVENT_NOW,
                                 GEX_FLAG_IMMEDIATE) != 0);
    expect(gex_AM_RequestLong0(ex_tm, me, counting[0].gex_index, "x", 1, ex_base[me], GEX_EVENT_NOW,
                               GEX_FLAG_IMMEDIATE) != 0);
    GASNET_BLOCKUNTIL(atomic_load(&requests) >= sent);
    expect_eq(atomic_load(&requests), sent);
    expect_eq(gex_AM_RequestShort0(ex_tm, me, counting[0].gex_index, GEX_FLAG_IMMEDIATE), 0);
    GASNET_BLOCKUNTIL(atomic_load(&requests) > sent);
}
