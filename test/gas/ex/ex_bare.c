/* ex_bare.c: tests a job of GASNet-EX without segments, in every thread mode: messages, teams, reductions, the end. */
#include <gasnetex.h>

#include <stdio.h>

static volatile int answered;

static void on_ask(gex_Token_t token, gex_AM_Arg_t value) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_ENTRY);
    gex_AM_ReplyShort1(token, *(const gex_AM_Index_t *)info.gex_entry->gex_cdata, 0, value + 1);
}

static void on_answer(gex_Token_t token, gex_AM_Arg_t value) {
    (void)token;
    answered = value;
}

int main(int argc, char **argv) {
    gex_Client_t client;
    gex_EP_t ep;
    gex_TM_t tm, copy;
    GASNET_SAFE(gex_Client_Init(&client, &ep, &tm, "BARE", &argc, &argv, 0));
    gex_AM_Entry_t table[2] = {{.gex_fnptr = (gex_AM_Fn_t)on_ask,
                                .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                                .gex_nargs = 1},
                               {.gex_fnptr = (gex_AM_Fn_t)on_answer,
                                .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY,
                                .gex_nargs = 1}};
    table[0].gex_cdata = &table[1].gex_index;
    GASNET_SAFE(gex_EP_RegisterHandlers(ep, table, 2));
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm), sum = 0;
    gex_TM_Split(&copy, tm, 0, -(int)rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    for (int i = 1; i < 500; i++) {
        gex_AM_RequestShort1(copy, (rank + (gex_Rank_t)i) % size, table[0].gex_index, 0, i);
        GASNET_BLOCKUNTIL(answered == i + 1);
    }
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(copy, &sum, &rank, GEX_DT_U32, sizeof rank, 1, GEX_OP_ADD, NULL, NULL, 0));
    gex_TM_Destroy(copy, NULL, 0);
    int wrong = sum != size * (size - 1) / 2 || gex_EP_QuerySegment(ep) != GEX_SEGMENT_INVALID;
    if (wrong)
        printf("rank %u: the sum is %u\n", rank, sum);
    else if (rank == 0)
        printf("ok: %u ranks\n", size);
    gasnet_exit(wrong);
}
