/* hybrid.c: tests calls of GASNet-EX in a job that gasnet_init and gasnet_attach began. */
#include "test.h"

#include <gasnetex.h>
#include <stdatomic.h>
#include <string.h>

enum { OLD = 240, NEW = 241, ANSWER = 242 };

static _Atomic int wrong, answers;

static void check_entry(gex_Token_t token, int index) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ALL);
    if (info.gex_entry->gex_index != index || !info.gex_entry->gex_fnptr)
        atomic_fetch_add(&wrong, 1);
}

static void on_old(gasnet_token_t token, gasnet_handlerarg_t value) {
    check_entry(token, OLD);
    gex_AM_ReplyShort1(token, ANSWER, 0, value);
}

static void on_new(gex_Token_t token, gex_AM_Arg_t value) {
    check_entry(token, NEW);
    gasnet_AMReplyShort1(token, ANSWER, value);
}

static void on_answer(gasnet_token_t token, gasnet_handlerarg_t value) {
    check_entry(token, ANSWER);
    atomic_fetch_add(&answers, value);
}

static gasnet_handlerentry_t table[] = {HANDLER(OLD, on_old), HANDLER(ANSWER, on_answer)};
TEST_SETUP(table, 0)

CASE(objects_and_transfers) {
    gex_Client_t client;
    gex_EP_t ep;
    gex_TM_t tm;
    gex_Segment_t segment;
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    uint64_t *word = (uint64_t *)test_segments[next].addr + test_rank, got = 0;
    gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
    expect(gex_TM_QueryClient(tm) == client && gex_EP_QuerySegment(ep) == segment);
    expect(gex_Segment_QueryAddr(segment) == test_segments[test_rank].addr);
    expect_eq(gex_Segment_QuerySize(segment), test_segments[test_rank].size);
    gex_RMA_PutBlockingVal(tm, next, word, 41, 8, 0);
    gasnet_begin_nbi_accessregion();
    gex_RMA_GetNBI(tm, &got, next, word, 8, 0);
    gex_Event_Wait(gasnet_end_nbi_accessregion());
    expect_eq(got, 41);
    gasnet_put_val(next, word, 42, 8);
    expect_eq(gex_RMA_GetBlockingVal(tm, next, word, 8, 0), 42);
}

/* Handlers of both kinds, and replies from one to the other. */
CASE(handlers_of_both) {
    gex_AM_Entry_t more = {.gex_index = NEW,
                           .gex_fnptr = (gex_AM_Fn_t)on_new,
                           .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                           .gex_nargs = 1};
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    gex_EP_t ep;
    gex_TM_t tm;
    gasnet_QueryGexObjects(NULL, &ep, &tm, NULL);
    expect_eq(gex_EP_RegisterHandlers(ep, &more, 1), GASNET_OK);
    test_barrier();
    atomic_store(&answers, 0);
    gasnet_AMRequestShort1(next, NEW, 1);
    gex_AM_RequestShort1(tm, next, OLD, 0, 10);
    GASNET_BLOCKUNTIL(atomic_load(&answers) == 11);
    expect_eq(atomic_load(&wrong), 0);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}
