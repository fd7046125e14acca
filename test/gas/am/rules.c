/* rules.c: tests what handlers and callers must not do. A call that returns a code reports the error; otherwise the
 * job ends, which test_fail.sh checks. timeout: 60 */
#include "test.h"

#include <stdlib.h>

enum { NOTE = 142, TWICE, FROM_REPLY, DONE, RULE };

static int notes, results[8];
static gasnet_token_t kept;

static void on_note(gasnet_token_t token) {
    (void)token;
    notes++;
}

static void on_twice(gasnet_token_t token) {
    kept = token;
    results[0] = gasnet_AMReplyShort0(token, 5); /* not a handler of the program: no reply was sent */
    results[1] = gasnet_AMReplyShort0(NULL, NOTE);
    results[2] = gasnet_AMReplyShort0(token, FROM_REPLY);
    results[3] = gasnet_AMReplyShort0(token, NOTE);
}

static int from_reply;
static void on_from_reply(gasnet_token_t token) {
    from_reply = gasnet_AMReplyShort0(token, NOTE);
    notes++;
}

static void (*broken)(gasnet_token_t token);
static void on_rule(gasnet_token_t token) {
    broken(token);
}

static gasnet_handlerentry_t table[] = {HANDLER(NOTE, on_note), HANDLER(TWICE, on_twice),
                                        HANDLER(FROM_REPLY, on_from_reply), HANDLER(RULE, on_rule)};
TEST_SETUP(table, 0)

CASE(one_reply_only_from_a_request_only) {
    gasnet_node_t source;
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    expect_eq(gasnet_AMRequestShort0(next, TWICE), GASNET_OK);
    GASNET_BLOCKUNTIL(notes == 1 && kept);
    test_barrier();
    expect_eq(notes, 1);
    expect_eq(results[0], GASNET_ERR_BAD_ARG);
    expect_eq(results[1], GASNET_ERR_BAD_ARG);
    expect_eq(results[2], GASNET_OK);
    expect_eq(results[3], GASNET_ERR_BAD_ARG);
    expect_eq(from_reply, GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMReplyShort0(kept, NOTE), GASNET_ERR_BAD_ARG); /* its handler has returned */
    expect_eq(gasnet_AMGetMsgSource(kept, &source), GASNET_ERR_BAD_ARG);
}

CASE(requests_that_cannot_be) {
    size_t most = gasnet_AMMaxMedium();
    char *data = calloc(1, most + 1), *segment = test_segments[0].addr;
    uintptr_t size = test_segments[0].size;
    notes = 0;
    expect_eq(gasnet_AMRequestShort0((gasnet_node_t)test_size, NOTE), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestShort0(UINT32_MAX, NOTE), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestShort0(0, 127), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestShort0(0, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestMedium0(0, NOTE, data, most + 1), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestMedium0(0, NOTE, NULL, 1), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestLong0(0, NOTE, data, 1, segment + size), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestLong0(0, NOTE, data, 2, segment + size - 1), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestLong0(0, NOTE, data, 1, segment - 1), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestLong0(0, NOTE, data, SIZE_MAX, segment), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_AMRequestLongAsync0(0, NOTE, data, 1, NULL), GASNET_ERR_BAD_ARG);
    test_barrier();
    expect_eq(notes, 0);
    free(data);
}

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;

static int left_locked;
static void leave_locked(gasnet_token_t token) {
    (void)token;
    gasnet_hsl_lock(&lock);
    left_locked++;
}

/* GASNet checks these rules in debug mode only, and programs break them: the library warns and continues. UPC++, for
 * example, begins with a barrier, in which handlers run, while it holds a lock. */
CASE(broken_rules_that_are_warnings) {
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    notes = 0;
    test_barrier();
    gasnet_hsl_lock(&lock);
    expect_eq(gasnet_AMRequestShort0(next, NOTE), GASNET_OK);
    test_barrier();
    GASNET_BLOCKUNTIL(notes == 1);
    gasnet_hold_interrupts(); /* already held because of the lock: ignored */
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
    gasnet_hsl_destroy(&lock);
    gasnet_hsl_unlock(&lock);
    gasnet_hold_interrupts();
    gasnet_hold_interrupts();
    expect_eq(gasnet_AMPoll(), GASNET_OK);
    gasnet_resume_interrupts();
    gasnet_resume_interrupts();
    broken = leave_locked;
    expect_eq(gasnet_AMRequestShort0((gasnet_node_t)test_rank, RULE), GASNET_OK);
    GASNET_BLOCKUNTIL(left_locked == 1);
    gasnet_hsl_unlock(&lock);
}

/* ---- errors that end the job ---- */

static void in_handler(void (*what)(gasnet_token_t)) {
    broken = what;
    gasnet_AMRequestShort0((gasnet_node_t)test_rank, RULE);
    GASNET_BLOCKUNTIL(0);
}

static void request_in(gasnet_token_t token) {
    (void)token;
    gasnet_AMRequestShort0(0, NOTE);
}
ON_CALL(request_in_a_handler) {
    in_handler(request_in);
}

static void poll_in(gasnet_token_t token) {
    (void)token;
    gasnet_AMPoll();
}
ON_CALL(poll_in_a_handler) {
    in_handler(poll_in);
}

static void barrier_in(gasnet_token_t token) {
    (void)token;
    gasnet_barrier_notify(0, 0);
}
ON_CALL(barrier_in_a_handler) {
    in_handler(barrier_in);
}

ON_CALL(handler_keeps_a_lock) {
    in_handler(leave_locked);
}

ON_CALL(poll_with_a_lock) {
    gasnet_hsl_lock(&lock);
    gasnet_AMPoll();
}

ON_CALL(wait_with_a_lock) {
    gasnet_hsl_lock(&lock);
    gasnetc_wait_round(&(unsigned){0});
}

ON_CALL(lock_twice) {
    gasnet_hsl_lock(&lock);
    gasnet_hsl_lock(&lock);
}

ON_CALL(unlock_what_is_not_locked) {
    gasnet_hsl_unlock(&lock);
}

ON_CALL(destroy_while_locked) {
    gasnet_hsl_lock(&lock);
    gasnet_hsl_destroy(&lock);
}

ON_CALL(poll_with_interrupts_held) {
    gasnet_hold_interrupts();
    gasnet_AMPoll();
}

ON_CALL(hold_twice) {
    gasnet_hold_interrupts();
    gasnet_hold_interrupts();
}

ON_CALL(resume_what_is_not_held) {
    gasnet_resume_interrupts();
}

ON_CALL(handler_that_is_not_there) {
    gasnet_AMRequestShort0((gasnet_node_t)((test_rank + 1) % test_size), 250);
    GASNET_BLOCKUNTIL(0);
}
