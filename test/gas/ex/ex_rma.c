/* ex_rma.c: tests every put and get, events of all kinds, implicit operations and access regions, against a copy of what was
 * written. */
#include "ex_test.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 512 << 10 /* of a segment, that one rank writes */, ROUNDS = 60 };

static char *part_of(int rank, size_t offset) {
    return ex_base[rank] + (size_t)(test_rank % 4) * PART + offset;
}

static gex_TM_t split_reversed(void) {
    gex_TM_t tm;
    gex_TM_Split(&tm, ex_tm, 0, -test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    return tm;
}

/* ---- equivalent calls ---- */

enum { PUTS = 9, GETS = 4 };

static void put_leaf_first(gex_TM_t tm, gex_Rank_t rank, void *to, const void *from, size_t bytes,
                           bool tests) {
    gex_Event_t leaf, root = gex_RMA_PutNB(tm, rank, to, from, bytes, &leaf, 0);
    expect(root != GEX_EVENT_NO_OP);
    if (root != GEX_EVENT_INVALID && leaf != GEX_EVENT_INVALID)
        expect(gex_Event_QueryLeaf(root, GEX_EC_LC) == leaf || gex_Event_Test(leaf) == 0);
    if (tests)
        while (gex_Event_Test(leaf) != 0)
            gasnet_AMPoll();
    else
        gex_Event_Wait(leaf);
    gex_Event_Wait(root);
}

static void put_by(int way, gex_TM_t tm, gex_Rank_t rank, char *to, char *from, size_t bytes) {
    gex_Event_t event;
    switch (way) {
    case 0:
        expect_eq(gex_RMA_PutBlocking(tm, rank, to, from, bytes, 0), 0);
        return;
    case 1:
        gex_Event_Wait(gex_RMA_PutNB(tm, rank, to, from, bytes, GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE));
        return;
    case 2: /* the source is free on return */
        event = gex_RMA_PutNB(tm, rank, to, from, bytes, GEX_EVENT_NOW, 0);
        memset(from, 0, bytes);
        while (gex_Event_Test(event) != 0)
            ;
        return;
    case 3:
    case 4:
        put_leaf_first(tm, rank, to, from, bytes, way == 4);
        return;
    case 5:
        gex_RMA_PutNBI(tm, rank, to, from, bytes, GEX_EVENT_DEFER, 0);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        return;
    case 6:
        gex_RMA_PutNBI(tm, rank, to, from, bytes, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
        memset(from, 0, bytes);
        gex_NBI_Wait(GEX_EC_ALL, 0);
        return;
    case 7:
        gex_RMA_PutNBI(tm, rank, to, from, bytes, GEX_EVENT_GROUP, 0);
        gex_NBI_Wait(GEX_EC_LC, 0);
        memset(from, 0, bytes);
        while (gex_NBI_Test(GEX_EC_PUT | GEX_EC_AM, 0) != 0)
            ;
        return;
    default:
        gex_NBI_BeginAccessRegion(0);
        gex_RMA_PutNBI(tm, rank, to, from, bytes, GEX_EVENT_GROUP, 0);
        event = gex_NBI_EndAccessRegion(0);
        gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
        memset(from, 0, bytes);
        gex_Event_Wait(event);
    }
}

static void get_by(int way, gex_TM_t tm, char *to, gex_Rank_t rank, char *from, size_t bytes) {
    if (way == 0)
        expect_eq(gex_RMA_GetBlocking(tm, to, rank, from, bytes, GEX_FLAG_IMMEDIATE), 0);
    else if (way == 1)
        gex_Event_Wait(gex_RMA_GetNB(tm, to, rank, from, bytes, 0));
    else if (way == 2) {
        expect_eq(gex_RMA_GetNBI(tm, to, rank, from, bytes, 0), 0);
        gex_NBI_Wait(GEX_EC_GET, 0);
    } else {
        gex_NBI_BeginAccessRegion(0);
        gex_RMA_GetNBI(tm, to, rank, from, bytes, 0);
        gex_Event_t event = gex_NBI_EndAccessRegion(0);
        while (gex_Event_Test(gex_Event_QueryLeaf(event, GEX_EC_GET)) != 0)
            ;
        expect_eq(gex_Event_Test(event), 0);
    }
}

/* Names of the same rank: in the job, in a team with reversed ranks, and by a pair. */
static gex_TM_t name_of(int which, gex_TM_t reversed, int rank, gex_Rank_t *named) {
    *named = (gex_Rank_t)(which == 1 ? test_size - 1 - rank : rank);
    return which == 0 ? ex_tm : which == 1 ? reversed : gex_TM_Pair(ex_ep, 0);
}

static size_t draw_size(void) {
    static const size_t sizes[] = {0, 1, 7, 8, 33, 600, 4096, 8193, 20000, 70000, 200001};
    return sizes[ex_draw(sizeof sizes / sizeof sizes[0])];
}

/* Random puts in random ways, each of which is repeated in a copy; all of it is then read in random ways, and by its owner. */
CASE(random_puts_and_gets) {
    gex_TM_t reversed = split_reversed();
    char *model = calloc(1, PART), *from = malloc(PART), *to = malloc(PART);
    int target = (test_rank + 1) % test_size;
    gex_RMA_PutBlocking(ex_tm, (gex_Rank_t)target, part_of(target, 0), model, PART, 0);
    for (int i = 0; i < ROUNDS; i++) {
        size_t bytes = draw_size(), at = ex_draw((uint32_t)(PART - bytes));
        gex_Rank_t rank;
        gex_TM_t tm = name_of((int)ex_draw(3), reversed, target, &rank);
        test_fill(from, bytes, test_rank, i);
        memcpy(model + at, from, bytes);
        put_by((int)ex_draw(PUTS), tm, rank, part_of(target, at), from, bytes);
        get_by((int)ex_draw(GETS), tm, to, rank, part_of(target, at), bytes);
        expect_bytes(to, model + at, bytes);
    }
    gex_RMA_GetBlocking(ex_tm, to, (gex_Rank_t)target, part_of(target, 0), PART, 0);
    expect_bytes(to, model, PART);
    ex_barrier();
    int source = (test_rank + test_size - 1) % test_size; /* what it wrote here, by loads */
    uint64_t sum = 0, seen = 0;
    for (size_t i = 0; i < PART; i++)
        sum += (uint64_t)(unsigned char)model[i] * (i + 1);
    gex_RMA_PutBlockingVal(ex_tm, (gex_Rank_t)target, ex_base[target] + EX_SEGMENT - 8, sum, 8, 0);
    ex_barrier();
    for (size_t i = 0; i < PART; i++)
        seen += (uint64_t)(unsigned char)ex_base[test_rank][(size_t)(source % 4) * PART + i] * (i + 1);
    expect(seen == *(uint64_t *)(void *)(ex_base[test_rank] + EX_SEGMENT - 8));
    gex_TM_Destroy(reversed, NULL, 0);
    free(model);
    free(from);
    free(to);
}

CASE(values) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    char *at = part_of((int)target, 0);
    for (size_t bytes = 1; bytes <= SIZEOF_GEX_RMA_VALUE_T; bytes++) {
        gex_RMA_Value_t value = test_number(test_rank, bytes, 0),
                        mask = ~(gex_RMA_Value_t)0 >> (64 - 8 * bytes);
        gex_RMA_PutBlockingVal(ex_tm, target, at, ~(gex_RMA_Value_t)0, 8, 0);
        gex_RMA_PutBlockingVal(ex_tm, target, at, value, bytes, 0);
        expect(gex_RMA_GetBlockingVal(ex_tm, target, at, bytes, 0) == (value & mask));
        expect(gex_RMA_GetBlockingVal(ex_tm, target, at, 8, 0) == ((value & mask) | ~mask));
        gex_RMA_PutNBIVal(ex_tm, target, at + 8, value, bytes, 0);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        expect(gex_RMA_GetBlockingVal(ex_tm, target, at + 8, bytes, 0) == (value & mask));
        gex_Event_Wait(gex_RMA_PutNBVal(ex_tm, target, at + 16, ~value, bytes, GEX_FLAG_IMMEDIATE));
        expect(gex_RMA_GetBlockingVal(ex_tm, target, at + 16, bytes, 0) == (~value & mask));
    }
}

/* ---- lists of events ---- */

enum { COUNT = 40, BLOCK = 3000 };

static void start_all(gex_Event_t *events, char *from, gex_Rank_t target) {
    for (int i = 0; i < COUNT; i++)
        events[i] = i % 5 == 4 ? GEX_EVENT_INVALID
                               : gex_RMA_PutNB(ex_tm, target, part_of((int)target, (size_t)i * BLOCK),
                                               from + i * BLOCK, BLOCK, GEX_EVENT_DEFER, 0);
}

static int count_valid(const gex_Event_t *events) {
    int valid = 0;
    for (int i = 0; i < COUNT; i++)
        valid += events[i] != GEX_EVENT_INVALID;
    return valid;
}

static void wait_by(int way, gex_Event_t *events) {
    if (way == 0)
        gex_Event_WaitAll(events, COUNT, 0);
    else if (way == 1)
        while (gex_Event_TestAll(events, COUNT, 0) != 0)
            ;
    else
        for (int left = count_valid(events); left > 0;) {
            if (way == 2)
                gex_Event_WaitSome(events, COUNT, 0);
            else if (gex_Event_TestSome(events, COUNT, 0) != 0)
                continue;
            int now = count_valid(events);
            expect(now < left);
            left = now;
        }
    expect_eq(count_valid(events), 0);
    gex_Event_WaitSome(events, COUNT, 0);
    expect_eq(gex_Event_TestAll(events, COUNT, 0), 0);
}

CASE(lists_of_events) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    char *from = malloc(COUNT * BLOCK), *to = malloc(COUNT * BLOCK);
    for (int way = 0; way < 4; way++) {
        gex_Event_t events[COUNT];
        test_fill(from, COUNT * BLOCK, test_rank, way);
        start_all(events, from, target);
        wait_by(way, events);
        gex_RMA_GetBlocking(ex_tm, to, target, part_of((int)target, 0), COUNT * BLOCK, 0);
        for (int i = 0; i < COUNT; i++)
            if (i % 5 != 4)
                expect_bytes(to + i * BLOCK, from + i * BLOCK, BLOCK);
    }
    free(from);
    free(to);
}

/* A wait for some of several events returns although one of them waits for other ranks, which wait for this one. */
CASE(some_of_a_barrier_and_a_put) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    for (int i = 0; i < 20; i++) {
        gex_Event_t barrier = GEX_EVENT_INVALID, events[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
        if (test_rank == 0)
            events[0] = barrier = gex_Coll_BarrierNB(ex_tm, 0);
        events[1] = gex_RMA_PutNBVal(ex_tm, target, part_of((int)target, 0), 5, 8, 0);
        gex_Event_WaitSome(events, 2, 0);
        while (events[1] != GEX_EVENT_INVALID)
            gex_Event_WaitSome(events, 2, 0);
        if (test_rank != 0)
            events[0] = gex_Coll_BarrierNB(ex_tm, 0);
        gex_Event_WaitAll(events, 2, 0);
        (void)barrier;
    }
}

/* A region has gets, puts and read-modify-writes, and a leaf for each. */
CASE(leaves_of_a_region) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    char *from = malloc(100000), *to = malloc(100000);
    uint64_t *word = (uint64_t *)(void *)(ex_base[target] + EX_SEGMENT - 64) + test_rank % 4, old = 9;
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_FADD, 0);
    gex_RMA_PutBlockingVal(ex_tm, target, word, 40, 8, 0);
    test_fill(from, 100000, test_rank, 1);
    gex_RMA_PutBlocking(ex_tm, target, part_of((int)target, 0), from, 100000, 0);
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_GetNBI(ex_tm, to, target, part_of((int)target, 0), 100000, 0);
    gex_RMA_PutNBI(ex_tm, target, part_of((int)target, 200000), from, 100000, GEX_EVENT_GROUP, 0);
    expect_eq(gex_AD_OpNBI_U64(ad, &old, target, word, GEX_OP_FADD, 2, 0, 0), 0);
    gex_Event_t root = gex_NBI_EndAccessRegion(0);
    gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_GET));
    expect_bytes(to, from, 100000);
    gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_RMW));
    expect_eq(old, 40);
    expect(gex_Event_QueryLeaf(root, GEX_EC_AM) == GEX_EVENT_INVALID);
    gex_Event_t some[2] = {gex_Event_QueryLeaf(root, GEX_EC_LC), gex_Event_QueryLeaf(root, GEX_EC_PUT)};
    gex_Event_WaitAll(some, 2, 0);
    gex_Event_Wait(root);
    gex_RMA_GetBlocking(ex_tm, to, target, part_of((int)target, 200000), 100000, 0);
    expect_bytes(to, from, 100000);
    expect_eq(gex_RMA_GetBlockingVal(ex_tm, target, word, 8, 0), 42);
    ex_barrier();
    gex_AD_Destroy(ad);
    free(from);
    free(to);
}

/* Each rank puts to the next, and polls until the one before has put, without synchronising its own puts. Puts under way
 * are not ordered: each has its own word. */
CASE(polls_complete_puts) {
    enum { TURNS = 20 };
    gex_Rank_t next = (gex_Rank_t)((test_rank + 1) % test_size);
    uint64_t *mine = (uint64_t *)(void *)(ex_base[test_rank] + 512);
    memset(mine, 0, (TURNS + 1) * sizeof *mine);
    ex_barrier();
    for (uint64_t i = 1; i <= TURNS; i++) {
        gex_RMA_PutNBI(ex_tm, next, ex_base[next] + 512 + 8 * i, &i, sizeof i, GEX_EVENT_NOW, 0);
        while (__atomic_load_n(&mine[i], __ATOMIC_ACQUIRE) != i)
            gasnet_AMPoll();
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
    ex_barrier();
}
