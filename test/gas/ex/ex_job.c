/* ex_job.c: begins and ends a job of GASNet-EX tests. */
#include "ex_test.h"

#include <stdlib.h>

gex_Client_t ex_client;
gex_EP_t ex_ep;
gex_TM_t ex_tm;
gex_Segment_t ex_segment;
char **ex_base;

void ex_barrier(void) {
    gex_Event_Wait(gex_Coll_BarrierNB(ex_tm, 0));
}

void ex_register(gex_AM_Entry_t *table, size_t count) {
    if (table[0].gex_index != 0)
        return;
    GASNET_SAFE(gex_EP_RegisterHandlers(ex_ep, table, count));
    ex_barrier();
}

uint32_t ex_draw(uint32_t most) {
    static size_t drawn;
    return (uint32_t)(test_number(0, drawn++, 77) % most);
}

static void begin(int *argc, char ***argv) {
    GASNET_SAFE(gex_Client_Init(&ex_client, &ex_ep, &ex_tm, "EX_TEST", argc, argv, GEX_FLAG_USES_GASNET1));
    test_rank = (int)gex_TM_QueryRank(ex_tm);
    test_size = (int)gex_TM_QuerySize(ex_tm);
}

/* Messages and barriers work before there is a segment. */
static void attach(int *argc, char ***argv) {
    (void)argc, (void)argv;
    void *none = &none;
    uintptr_t size = 7;
    ex_barrier();
    expect(gex_EP_QuerySegment(ex_ep) == GEX_SEGMENT_INVALID);
    expect(gex_Segment_QueryBound(ex_tm, 0, &none, NULL, &size) != 0);
    expect(none == &none && size == 7);
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(ex_tm, 0, &none, NULL, &size, 0));
    expect(none == NULL && size == 0);
    GASNET_SAFE(gex_Segment_Attach(&ex_segment, ex_tm, EX_SEGMENT));
    ex_base = calloc((size_t)test_size, sizeof *ex_base);
    for (int i = 0; i < test_size; i++) {
        void *base = NULL;
        gex_Event_Wait(gex_EP_QueryBoundSegmentNB(ex_tm, (gex_Rank_t)i, &base, NULL, NULL, 0));
        ex_base[i] = base;
    }
}

const struct test_job test_job = {.member = "node",
                                  .seconds = 120,
                                  .begin = begin,
                                  .open = attach,
                                  .settle = ex_barrier,
                                  .end = gasnet_exit};
