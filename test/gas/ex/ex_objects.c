/* ex_objects.c: tests clients, endpoints, segments, teams, and queries about the job. */
#include "ex_test.h"

#include <gasnet_mk.h>
#include <stdlib.h>
#include <string.h>

CASE(objects_of_the_job) {
    static int marks[4];
    gex_Client_t client = GEX_CLIENT_INVALID;
    gex_EP_t ep = GEX_EP_INVALID;
    gex_TM_t tm = GEX_TM_INVALID;
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
    gasnet_QueryGexObjects(NULL, NULL, NULL, NULL);
    expect(client == ex_client && ep == ex_ep && tm == ex_tm && segment == ex_segment);
    expect(strcmp(gex_Client_QueryName(client), "EX_TEST") == 0);
    expect_eq(gex_Client_QueryFlags(client), GEX_FLAG_USES_GASNET1);
    expect(gex_EP_QueryClient(ep) == client && gex_TM_QueryClient(tm) == client);
    expect(gex_Segment_QueryClient(segment) == client && gex_TM_QueryEP(tm) == ep);
    expect(gex_EP_QuerySegment(ep) == segment);
    expect_eq(gex_EP_QueryIndex(ep), 0);
    expect_eq(gex_EP_QueryFlags(ep) | gex_Segment_QueryFlags(segment) | gex_TM_QueryFlags(tm), 0);
    expect(!gex_Client_QueryCData(client) && !gex_EP_QueryCData(ep) && !gex_TM_QueryCData(tm));
    expect(!gex_Segment_QueryCData(segment));
    gex_Client_SetCData(client, &marks[0]);
    gex_EP_SetCData(ep, &marks[1]);
    gex_TM_SetCData(tm, &marks[2]);
    gex_Segment_SetCData(segment, &marks[3]);
    expect(gex_Client_QueryCData(client) == &marks[0] && gex_EP_QueryCData(ep) == &marks[1]);
    expect(gex_TM_QueryCData(tm) == &marks[2] && gex_Segment_QueryCData(segment) == &marks[3]);
    gex_Client_SetCData(client, NULL);
    gex_EP_SetCData(ep, NULL);
    gex_TM_SetCData(tm, NULL);
    gex_Segment_SetCData(segment, NULL);
}

CASE(versions) {
    expect(GEX_SPEC_VERSION_MAJOR * 100 + GEX_SPEC_VERSION_MINOR >= 14);
    expect(GASNET_RELEASE_VERSION_MAJOR >= 2018);
    expect(GEX_AM_INDEX_BASE <= 128);
    expect(GEX_OP_TO_FETCHING(GEX_OP_SET) == GEX_OP_SWAP && GEX_OP_TO_NONFETCHING(GEX_OP_FXOR) == GEX_OP_XOR);
}

/* Both interfaces have the same ranks, segments and events. */
CASE(both_interfaces) {
    gasnet_seginfo_t *info = calloc((size_t)test_size, sizeof *info);
    uint64_t value = test_number(test_rank, 1, 0), got = 0;
    gex_Rank_t other = (gex_Rank_t)((test_rank + 1) % test_size);
    expect_eq(gasnet_mynode(), gex_System_QueryJobRank());
    expect_eq(gasnet_nodes(), gex_System_QueryJobSize());
    expect_eq(gasnet_getSegmentInfo(info, test_size), GASNET_OK);
    for (int i = 0; i < test_size; i++)
        expect(info[i].addr == ex_base[i]);
    uint64_t *word = (uint64_t *)(void *)ex_base[other] + 100 + test_rank;
    gasnet_put(other, word, &value, 8);
    gex_Event_t event = gasnet_get_nb(&got, other, word, 8);
    gex_Event_Wait(event);
    expect(got == value);
    gasnet_wait_syncnb(gex_RMA_PutNBVal(ex_tm, other, word, ~value, 8, 0));
    expect(gasnet_get_val(other, word, 8) == ~value);
    free(info);
}

CASE(segments) {
    expect(gex_Segment_QueryAddr(ex_segment) == ex_base[test_rank]);
    expect_eq(gex_Segment_QuerySize(ex_segment), EX_SEGMENT);
    memset(ex_base[test_rank], 'a' + test_rank, 64);
    ex_barrier();
    for (gex_Rank_t i = 0; i < (gex_Rank_t)test_size; i++) {
        void *owner = NULL, *local = NULL, *again = NULL;
        uintptr_t size = 0;
        expect_eq(gex_Segment_QueryBound(ex_tm, i, &owner, &local, &size), 0);
        expect(owner == ex_base[i]);
        expect_eq(size, EX_SEGMENT);
        expect_eq(gex_Segment_QueryBound(gex_TM_Pair(ex_ep, 0), i, &again, NULL, NULL), 0);
        expect(again == owner);
        if ((int)i == test_rank)
            expect(local == owner);
        if (local)
            expect_eq(*(char *)local, 'a' + (int)i);
    }
    expect_eq(gex_EP_PublishBoundSegment(ex_tm, &ex_ep, 1, 0), GASNET_OK);
    expect_eq(gex_EP_PublishBoundSegment(ex_tm, NULL, 0, 0), GASNET_OK);
}

/* Segments that are bound to no endpoint: of memory of the program, and of the library. */
CASE(segments_of_this_process) {
    static char memory[100];
    for (int given = 0; given < 2; given++) {
        gex_Segment_t segment = GEX_SEGMENT_INVALID;
        expect_eq(gex_Segment_Create(&segment, ex_client, given ? memory : NULL, 100, GEX_MK_HOST, 0),
                  GASNET_OK);
        char *at = gex_Segment_QueryAddr(segment);
        expect(given ? at == memory : (uintptr_t)at % GASNET_PAGESIZE == 0);
        expect_eq(gex_Segment_QuerySize(segment), 100);
        expect(gex_Segment_QueryClient(segment) == ex_client && gex_Segment_QueryFlags(segment) == 0);
        gex_Segment_SetCData(segment, memory);
        expect(gex_Segment_QueryCData(segment) == memory && !gex_Segment_QueryCData(ex_segment));
        memset(at, test_rank, 100);
        gex_System_SetVerboseErrors(0);
        expect_eq(gex_EP_BindSegment(ex_ep, segment, 0), GASNET_ERR_BAD_ARG);
        gex_System_SetVerboseErrors(1);
        expect(gex_EP_QuerySegment(ex_ep) == ex_segment);
        expect_eq(gex_Segment_Destroy(segment, 0), GASNET_OK);
    }
}

/* What the library has one of, or none. */
CASE(limits_of_objects) {
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    gex_EP_t ep = GEX_EP_INVALID;
    gex_MK_t kind = GEX_MK_INVALID;
    gex_MK_Create_args_t args;
    memset(&args, 0, sizeof args);
    args.gex_class = GEX_MK_CLASS_CUDA_UVA;
    gex_System_SetVerboseErrors(0);
    expect_eq(GASNET_MAXEPS, 1);
    expect_eq(gex_EP_Create(&ep, ex_client, GEX_EP_CAPABILITY_RMA, 0), GASNET_ERR_RESOURCE);
    expect_eq(gex_EP_Create(&ep, ex_client, GEX_EP_CAPABILITY_ALL + 1, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gex_MK_Create(&kind, ex_client, &args, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gex_Segment_Create(&segment, ex_client, NULL, 100, GEX_MK_INVALID, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gex_Segment_Create(&segment, ex_client, NULL, 0, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gex_Segment_Create(&segment, ex_client, NULL, UINTPTR_MAX / 2, GEX_MK_HOST, 0),
              GASNET_ERR_RESOURCE);
    expect_eq(gex_Segment_Destroy(ex_segment, 0), GASNET_ERR_BAD_ARG);
    gex_System_SetVerboseErrors(1);
    expect(ep == GEX_EP_INVALID && kind == GEX_MK_INVALID && segment == GEX_SEGMENT_INVALID);
}

CASE(threads_of_the_library) {
    const gex_ProgressThreadInfo_t *info = NULL;
    unsigned int count = 7;
    expect_eq(gex_System_QueryProgressThreads(ex_client, &count, &info, 0), GASNET_OK);
    expect_eq(count, 0);
    expect(gex_System_QueryMaxThreads() >= 2);
}

/* ---- the job ---- */

static void check_list(gex_RankInfo_t *list, gex_Rank_t count, gex_Rank_t mine) {
    expect(count > 0 && mine < count);
    expect_eq(list[mine].gex_jobrank, test_rank);
    for (gex_Rank_t i = 1; i < count; i++)
        expect(list[i - 1].gex_jobrank < list[i].gex_jobrank);
}

CASE(neighbours_and_hosts) {
    gex_RankInfo_t *around = NULL, *host = NULL;
    gex_Rank_t around_count, around_mine, host_count, host_mine, place[4], most[4];
    gex_System_QueryNbrhdInfo(&around, &around_count, &around_mine);
    gex_System_QueryHostInfo(&host, &host_count, &host_mine);
    gex_System_QueryMyPosition(&place[0], &place[1], &place[2], &place[3]);
    gex_System_QueryNbrhdInfo(NULL, NULL, NULL);
    gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
    check_list(around, around_count, around_mine);
    check_list(host, host_count, host_mine);
    expect(around_count <= host_count && place[1] < place[0] && place[3] < place[2] && place[2] <= place[0]);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, most, place, GEX_DT_U32, 4, 4, GEX_OP_MAX, NULL, NULL, 0));
    expect(most[0] == place[0] && most[2] == place[2]);
    expect_eq(most[1], place[0] - 1);
    expect_eq(most[3], place[2] - 1);
    for (gex_Rank_t i = 0; i < around_count; i++) { /* a neighbour's segment can be read */
        void *local = NULL;
        expect_eq(gex_Segment_QueryBound(ex_tm, around[i].gex_jobrank, NULL, &local, NULL), 0);
        expect(local != NULL);
    }
}

CASE(locks) {
    gex_HSL_t fixed = GEX_HSL_INITIALIZER, made;
    gex_HSL_Init(&made);
    gex_HSL_Lock(&fixed);
    gex_HSL_Unlock(&fixed);
    expect_eq(gex_HSL_Trylock(&made), GASNET_OK);
    gex_HSL_Unlock(&made);
    gex_HSL_Destroy(&made);
}

static void never(gex_Token_t token) {
    (void)token;
}

/* Calls that return a code return it, and print a line unless they must not. */
CASE(errors_that_are_returned) {
    gex_AM_Entry_t wrong[] = {{.gex_index = 5,
                               .gex_fnptr = (gex_AM_Fn_t)never,
                               .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST},
                              {.gex_fnptr = NULL, .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST},
                              {.gex_fnptr = (gex_AM_Fn_t)never, .gex_flags = GEX_FLAG_AM_REQUEST},
                              {.gex_fnptr = (gex_AM_Fn_t)never, .gex_flags = GEX_FLAG_AM_SHORT},
                              {.gex_fnptr = (gex_AM_Fn_t)never, .gex_flags = GEX_FLAG_AM_REQREP | 3},
                              {.gex_fnptr = (gex_AM_Fn_t)never,
                               .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                               .gex_nargs = 17}};
    gex_Client_t client;
    gex_EP_t ep;
    gex_TM_t tm;
    expect_eq(gex_System_GetVerboseErrors(), 1);
    gex_System_SetVerboseErrors(0);
    expect_eq(gex_System_GetVerboseErrors(), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_eq(gex_EP_RegisterHandlers(ex_ep, &wrong[i], 1), GASNET_ERR_BAD_ARG);
    expect(gex_Client_Init(&client, &ep, &tm, "AGAIN", NULL, NULL, 0) != GASNET_OK);
    expect(gex_Segment_Attach(&ex_segment, ex_tm, GASNET_PAGESIZE) != GASNET_OK);
    gex_System_SetVerboseErrors(1);
}

/* ---- teams ---- */

static void check_team(gex_TM_t tm, gex_Rank_t size, gex_Rank_t rank, const int *jobranks) {
    expect_eq(gex_TM_QuerySize(tm), size);
    expect_eq(gex_TM_QueryRank(tm), rank);
    gex_Rank_t found = 0;
    for (gex_Rank_t i = 0; i < size; i++) {
        expect_eq(gex_TM_TranslateRankToJobrank(tm, i), jobranks[i]);
        expect_eq(gex_TM_TranslateRankToEP(tm, i, 0).gex_rank, jobranks[i]);
        expect_eq(gex_TM_TranslateRankToEP(tm, i, 0).gex_ep_index, 0);
    }
    for (gex_Rank_t i = 0; i < (gex_Rank_t)test_size; i++) {
        gex_Rank_t at = gex_TM_TranslateJobrankToRank(tm, i);
        expect(at == GEX_RANK_INVALID || jobranks[at] == (int)i);
        found += at != GEX_RANK_INVALID;
    }
    expect_eq(found, size);
}

/* Even and odd ranks, in descending order; then the first of those in a team of their own, while the others join none. */
CASE(split_in_the_order_of_keys) {
    int *ranks = calloc((size_t)test_size, sizeof *ranks), count = 0, mine = 0;
    gex_TM_t half = GEX_TM_INVALID, first = GEX_TM_INVALID;
    for (int i = test_size - 1; i >= 0; i--)
        if (i % 2 == test_rank % 2) {
            if (i == test_rank)
                mine = count;
            ranks[count++] = i;
        }
    expect_eq(gex_TM_Split(&half, ex_tm, test_rank % 2, -test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
    check_team(half, (gex_Rank_t)count, (gex_Rank_t)mine, ranks);
    expect(gex_TM_QueryEP(half) == ex_ep && gex_TM_QueryClient(half) == ex_client);
    expect_eq(gex_TM_QueryFlags(half), GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_SetCData(half, &ranks);
    expect(gex_TM_QueryCData(half) == &ranks);
    gex_TM_Split(mine == 0 ? &first : NULL, half, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (mine == 0) {
        check_team(first, 1, 0, ranks);
        expect_eq(gex_TM_Destroy(first, NULL, GEX_FLAG_GLOBALLY_QUIESCED), 0);
    }
    expect_eq(gex_TM_Destroy(half, NULL, 0), 0);
    for (int i = 0; i < test_size; i++)
        ranks[i] = i;
    check_team(ex_tm, (gex_Rank_t)test_size, (gex_Rank_t)test_rank, ranks);
    free(ranks);
}

/* The ranks from the last on; every second one of those; and none, for the others. */
CASE(teams_from_lists) {
    gex_EP_Location_t *list = calloc((size_t)test_size, sizeof *list);
    int *ranks = calloc((size_t)test_size, sizeof *ranks), count = 0;
    gex_TM_t all = GEX_TM_INVALID, some = GEX_TM_INVALID;
    gex_Memvec_t scratch = {NULL, 0};
    gex_Addr_t place = ex_base[test_rank];
    for (int i = 0; i < test_size; i++)
        list[i].gex_rank = (gex_Rank_t)(ranks[i] = test_size - 1 - i);
    size_t size = gex_TM_Create(NULL, 1, ex_tm, list, (size_t)test_size, NULL, 0,
                                GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_LOCAL_SCRATCH);
    expect(size > 0);
    gex_TM_Create(&all, 1, ex_tm, list, (size_t)test_size, &place, size, GEX_FLAG_TM_LOCAL_SCRATCH);
    check_team(all, (gex_Rank_t)test_size, (gex_Rank_t)(test_size - 1 - test_rank), ranks);
    for (int i = 0; i < test_size; i += 2) { /* ranks in the team above, of which these are even */
        list[count].gex_rank = (gex_Rank_t)i;
        ranks[count++] = test_size - 1 - i;
    }
    bool joins = (test_size - 1 - test_rank) % 2 == 0;
    gex_TM_Create(joins ? &some : NULL, joins, all, list, joins ? (size_t)count : 0, NULL, 0,
                  GEX_FLAG_TM_NO_SCRATCH);
    if (joins) {
        check_team(some, (gex_Rank_t)count, (gex_Rank_t)((test_size - 1 - test_rank) / 2), ranks);
        gex_Event_Wait(gex_Coll_BarrierNB(some, 0));
        expect_eq(gex_TM_Destroy(some, &scratch, 0), 0);
    }
    for (int i = 0; i < count; i++)
        list[i].gex_rank = (gex_Rank_t)ranks[i];
    gex_TM_Create(joins ? &some : NULL, joins, all, list, joins ? (size_t)count : 0, NULL, 0,
                  GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
    if (joins) {
        check_team(some, (gex_Rank_t)count, (gex_Rank_t)((test_size - 1 - test_rank) / 2), ranks);
        gex_TM_Destroy(some, NULL, 0);
    }
    expect_eq(gex_TM_Destroy(all, &scratch, 0), 1);
    expect(scratch.gex_addr == place && scratch.gex_len == size);
    free(list);
    free(ranks);
}

/* Each rank in a list of its own, and pairs whose list names a place for each member. */
CASE(several_teams_from_lists) {
    gex_EP_Location_t list[2];
    gex_Addr_t places[2];
    gex_TM_t team = GEX_TM_INVALID;
    int first = test_rank - test_rank % 2, last = first + 1 < test_size ? first + 1 : first, sum = 0;
    memset(list, 0, sizeof list);
    list[0].gex_rank = (gex_Rank_t)test_rank;
    places[0] = ex_base[test_rank] + 4096;
    gex_TM_Create(&team, 1, ex_tm, list, 1, places, 64, GEX_FLAG_TM_SYMMETRIC_SCRATCH);
    expect_eq(gex_TM_QuerySize(team), 1);
    gex_TM_Destroy(team, NULL, 0);
    list[0].gex_rank = (gex_Rank_t)first;
    list[1].gex_rank = (gex_Rank_t)last;
    places[0] = ex_base[first];
    places[1] = ex_base[last];
    gex_TM_Create(&team, 1, ex_tm, list, (size_t)(last - first + 1), places, 64, GEX_FLAG_TM_GLOBAL_SCRATCH);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(team, &sum, &test_rank, GEX_DT_I32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
    expect_eq(sum, last > first ? first + last : first);
    gex_TM_Destroy(team, NULL, 0);
}

CASE(scratch_space_is_returned) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_Memvec_t scratch = {NULL, 0};
    size_t size = gex_TM_Split(&tm, ex_tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    expect(size > 0 && tm == GEX_TM_INVALID);
    expect_eq(gex_TM_Split(NULL, ex_tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED), 0);
    gex_TM_Split(&tm, ex_tm, 0, test_rank, ex_base[test_rank] + 4096, size, 0);
    expect_eq(gex_TM_QuerySize(tm), test_size);
    expect_eq(gex_TM_Destroy(tm, &scratch, 0), 1);
    expect(scratch.gex_addr == ex_base[test_rank] + 4096 && scratch.gex_len == size);
}

/* ---- bad use: each ends the job with a line; test_fail_ex.sh ---- */

ON_CALL(rank_that_is_not_in_the_team) {
    gex_TM_t one;
    gex_TM_Split(&one, ex_tm, test_rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_RMA_PutBlockingVal(one, 1, ex_base[test_rank], 1, 8, 0);
}

ON_CALL(rank_that_is_not_in_the_job) {
    gex_AM_RequestShort0(gex_TM_Pair(ex_ep, 0), 9, 200, 0);
}

ON_CALL(team_that_was_destroyed) {
    gex_TM_t tm;
    gex_TM_Split(&tm, ex_tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_Destroy(tm, NULL, 0);
    gex_TM_QueryRank(ex_tm);
    gex_TM_Destroy(ex_tm, NULL, 0);
}

ON_CALL(team_after_its_end) {
    gex_TM_t tm;
    gex_TM_Split(&tm, ex_tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_Destroy(tm, NULL, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

ON_CALL(team_whose_list_lacks_the_caller) {
    gex_EP_Location_t list = {(gex_Rank_t)((test_rank + 1) % test_size), 0};
    gex_TM_t tm;
    gex_TM_Create(&tm, 1, ex_tm, &list, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

ON_CALL(team_of_different_lists) {
    gex_EP_Location_t list[2] = {{0, 0}, {(gex_Rank_t)test_rank, 0}};
    gex_TM_t tm;
    gex_TM_Create(&tm, 1, ex_tm, list, test_rank == 0 ? 1 : 2, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

ON_CALL(team_of_another_endpoint) {
    gex_EP_Location_t list = {(gex_Rank_t)test_rank, 1};
    gex_TM_t tm;
    gex_TM_Create(&tm, 1, ex_tm, &list, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

ON_CALL(scratch_outside_of_the_segment) {
    gex_TM_t tm;
    gex_TM_Split(&tm, ex_tm, 0, 0, &tm, sizeof tm, 0);
}

ON_CALL(pair_with_another_endpoint) {
    gex_TM_Pair(ex_ep, 1);
}

ON_CALL(segment_that_is_none) {
    static uint64_t nothing[8];
    gex_Segment_QueryAddr((gex_Segment_t)(void *)nothing);
}

ON_CALL(endpoint_that_is_invalid) {
    gex_EP_QuerySegment(GEX_EP_INVALID);
}

ON_CALL(client_that_is_invalid) {
    gex_Client_QueryName(GEX_CLIENT_INVALID);
}

ON_CALL(kind_of_memory_that_does_not_exist) {
    gex_MK_Destroy(GEX_MK_HOST, 0);
}

ON_CALL(pair_in_a_collective_call) {
    gex_Event_Wait(gex_Coll_BarrierNB(gex_TM_Pair(ex_ep, 0), 0));
}

ON_CALL(team_that_is_invalid) {
    gex_TM_QuerySize(GEX_TM_INVALID);
}

ON_CALL(put_outside_of_the_segment) {
    gex_Rank_t other = (gex_Rank_t)((test_rank + 1) % test_size);
    gex_Event_Wait(gex_RMA_PutNB(ex_tm, other, ex_base[other] + EX_SEGMENT - 4, &other, 8, GEX_EVENT_NOW, 0));
}

ON_CALL(get_outside_of_the_segment) {
    gex_Rank_t other = (gex_Rank_t)((test_rank + 1) % test_size);
    gex_RMA_GetBlocking(ex_tm, &other, other, ex_base[other] - 4, 4, 0);
}

ON_CALL(grid_outside_of_the_segment) {
    gex_Rank_t other = (gex_Rank_t)((test_rank + 1) % test_size);
    const size_t count[] = {3};
    const ptrdiff_t strides[] = {EX_SEGMENT / 2};
    static char local[8 * 3];
    const ptrdiff_t here[] = {8};
    gex_VIS_StridedPutBlocking(ex_tm, other, ex_base[other], strides, local, here, 8, count, 1, 0);
}

ON_CALL(lists_of_different_lengths) {
    gex_Memvec_t one = {ex_base[0], 8}, other = {ex_base[test_rank], 16};
    gex_VIS_VectorPutBlocking(ex_tm, 0, 1, &one, 1, &other, 0);
}

ON_CALL(atomic_outside_of_the_segment) {
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_INC, 0);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 0, ex_base[0] + EX_SEGMENT, GEX_OP_INC, 0, 0, 0));
}

ON_CALL(atomic_that_is_not_aligned) {
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_INC, 0);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 0, ex_base[0] + 4, GEX_OP_INC, 0, 0, 0));
}

ON_CALL(value_of_no_bytes) {
    gex_RMA_GetBlockingVal(ex_tm, 0, ex_base[0], 9, 0);
}

ON_CALL(leaf_of_several_categories) {
    gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_GET | GEX_EC_PUT);
}

ON_CALL(region_in_a_region) {
    gex_NBI_BeginAccessRegion(0);
    gex_NBI_BeginAccessRegion(0);
}

ON_CALL(peer_handler_of_the_library) {
    gex_VIS_SetPeerCompletionHandler(100, NULL, 0, 0);
}

ON_CALL(peer_payload_that_is_too_large) {
    static char data[GEX_VIS_MAX_PEERCOMPLETION + 1];
    gex_VIS_SetPeerCompletionHandler(200, data, sizeof data, 0);
}

ON_CALL(payload_that_is_too_large) {
    static char data[1 << 20];
    gex_AM_RequestMedium0(ex_tm, 0, 200, data, sizeof data, GEX_EVENT_NOW, 0);
}

ON_CALL(long_outside_of_the_segment) {
    gex_AM_RequestLong0(ex_tm, 0, 200, "x", 1, ex_base[0] + EX_SEGMENT, GEX_EVENT_NOW, 0);
}

ON_CALL(handler_that_nobody_registered) {
    gex_AM_RequestShort0(ex_tm, (gex_Rank_t)test_rank, 129, 0);
    gasnet_AMPoll();
    ex_barrier();
}

static void puts_something(gex_Token_t token) {
    (void)token;
    gex_RMA_PutBlockingVal(ex_tm, 0, ex_base[0], 1, 8, 0);
}
static gex_AM_Entry_t communicates[] = {
    {0, (gex_AM_Fn_t)puts_something, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "puts_something"}};

ON_CALL(put_in_a_handler) {
    ex_register(communicates, 1);
    gex_AM_RequestShort0(ex_tm, (gex_Rank_t)test_rank, communicates[0].gex_index, 0);
    gasnet_AMPoll();
    ex_barrier();
}

ON_CALL(flags_that_a_call_does_not_have) {
    gex_RMA_GetBlocking(ex_tm, ex_base[test_rank], 0, ex_base[0], 8, GEX_FLAG_AD_ACQ);
}

ON_CALL(handler_of_the_library) {
    gex_AM_RequestShort1(ex_tm, 0, 127, 0, 1);
}

ON_CALL(defer_in_a_message) {
    gex_AM_RequestMedium0(ex_tm, 0, 200, "x", 1, GEX_EVENT_DEFER, 0);
}

ON_CALL(event_that_is_none) {
    gex_Event_Wait(GEX_EVENT_NO_OP);
}

static gex_AM_Entry_t one_argument[] = {{.gex_fnptr = (gex_AM_Fn_t)never,
                                         .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY,
                                         .gex_nargs = 0,
                                         .gex_name = "never"}};

ON_CALL(request_to_a_handler_of_replies) {
    ex_register(one_argument, 1);
    gex_AM_RequestShort2(ex_tm, (gex_Rank_t)test_rank, one_argument[0].gex_index, 0, 1, 2);
    gasnet_AMPoll();
    ex_barrier();
}

ON_CALL(operator_that_a_type_does_not_have) {
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_DBL, GEX_OP_XOR, 0);
}

ON_CALL(type_that_is_not_the_domains) {
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_INC, 0);
    gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, 0, ex_base[0], GEX_OP_INC, 0, 0, 0));
}

ON_CALL(operator_that_is_not_the_domains) {
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_INC, 0);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 0, ex_base[0], GEX_OP_ADD, 1, 0, 0));
}

ON_CALL(reduction_without_a_function) {
    int x = 0;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, &x, &x, GEX_DT_I32, 4, 1, GEX_OP_USER, NULL, NULL, 0));
}

ON_CALL(prepare_twice) {
    gex_AM_PrepareRequestMedium(ex_tm, 0, NULL, 1, 8, NULL, 0, 0);
    gex_AM_PrepareRequestMedium(ex_tm, 0, NULL, 1, 8, NULL, 0, 0);
}

ON_CALL(commit_of_too_much) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(ex_tm, 0, NULL, 1, 8, NULL, 0, 0);
    gex_AM_CommitRequestMedium0(sd, 200, 9);
}
