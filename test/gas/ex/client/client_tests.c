/* client_tests.c: uses GASNet-EX as GASNet's own tests do: the limits of messages for all arguments and flags, messages that
 * agree on them, objects, constants, neighbourhoods, thread information, tools. Also compiled as C++ (client_tests.cpp). */
#include <gasnetex.h>

#include <gasnet_ratomic.h>

#include <gasnet_tools.h>

#include "client.h"

#if !defined(GASNET_HIDDEN_AM_CONCURRENCY_LEVEL) || GASNET_SEQ + GASNET_PARSYNC + GASNET_PAR != 1
#error "configuration"
#endif
#if GASNET_SEGMENT_EVERYTHING || !GASNET_SEGMENT_LARGE || GASNET_DEBUG || !GASNET_NDEBUG
#error "kind of segments, checks"
#endif

GASNETT_IDENT(client_ident, "release " _STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) " on " _STRINGIFY(
                                PLATFORM_COMPILER_FAMILYNAME) " " PLATFORM_COMPILER_VERSION_STR);

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Segment_t segment;
static gex_Rank_t rank, size;

static void barrier(void) {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

/* ---- limits of messages ---- */

enum { FORMS = 3, FLAGS = 6 };
static gex_Flags_t limit_flags(int i) {
    const gex_Flags_t least[] = {0, GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
    return least[i / 2] | (i % 2 ? GEX_FLAG_IMMEDIATE : 0);
}
static const gex_Event_t *limit_form(int i) {
    return i == 0 ? GEX_EVENT_NOW : i == 1 ? GEX_EVENT_GROUP : NULL;
}

struct limits {
    uint64_t request_medium[FORMS][FLAGS], request_long[FORMS][FLAGS];
    uint64_t reply_medium[FORMS][FLAGS], reply_long[FORMS][FLAGS];
};

static void limits_of(struct limits *l, gex_Rank_t other, unsigned args) {
    memset(l, 0, sizeof *l);
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < FLAGS; i++) {
            const gex_Event_t *lc = limit_form(form);
            gex_Flags_t flags = limit_flags(i);
            l->request_medium[form][i] = gex_AM_MaxRequestMedium(team, other, lc, flags, args);
            l->request_long[form][i] = gex_AM_MaxRequestLong(team, other, lc, flags, args);
            if (lc == GEX_EVENT_GROUP)
                continue;
            l->reply_medium[form][i] = gex_AM_MaxReplyMedium(team, other, lc, flags, args);
            l->reply_long[form][i] = gex_AM_MaxReplyLong(team, other, lc, flags, args);
        }
}

static gasnett_atomic_t acknowledged = gasnett_atomic_init(0);
static gex_AM_Index_t reply_index;

/* The sender's limits are those of this process towards it. */
static void on_limits(gex_Token_t token, void *buffer, size_t nbytes, gex_AM_Arg_t args) {
    gex_Token_Info_t info;
    struct limits here;
    gex_TI_t known = gex_Token_Info(token, &info, GEX_TI_ALL);
    CHECK((known & GEX_TI_SRCRANK) && info.gex_srcrank < size &&
          (!(known & GEX_TI_EP) || info.gex_ep == endpoint));
    CHECK(!(known & GEX_TI_ENTRY) || !strcmp(info.gex_entry->gex_name, "on_limits"));
    CHECK(!(known & GEX_TI_IS_REQ) || info.gex_is_req);
    CHECK(!(known & GEX_TI_IS_LONG) || !info.gex_is_long);
    limits_of(&here, info.gex_srcrank, (unsigned)args);
    CHECK(nbytes == sizeof here && memcmp(buffer, &here, sizeof here) == 0);
    CHECK(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0) >= gex_AM_LUBReplyMedium());
    gex_AM_ReplyShort0(token, reply_index, 0);
}

static void on_acknowledged(gex_Token_t token) {
    (void)token;
    gasnett_atomic_increment(&acknowledged, 0);
}

static void check_limits(void) {
    gex_AM_Entry_t table[] = {
        {0, (gex_AM_Fn_t)on_limits, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, 0, "on_limits"},
        {0, (gex_AM_Fn_t)on_acknowledged, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, 0, "on_acknowledged"}};
    uint32_t sent = 0;
    GASNET_SAFE(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
    CHECK(table[0].gex_index == 255 && table[1].gex_index == 254);
    reply_index = table[1].gex_index;
    barrier();
    for (unsigned args = 0; args <= gex_AM_MaxArgs(); args += gex_AM_MaxArgs())
        for (gex_Rank_t other = 0; other < size; other++, sent++) {
            struct limits l, any;
            limits_of(&l, other, args);
            limits_of(&any, GEX_RANK_INVALID, args);
            CHECK(l.request_medium[0][0] >= gex_AM_LUBRequestMedium() && gex_AM_LUBRequestMedium() >= 512);
            CHECK(l.request_long[0][0] >= gex_AM_LUBRequestLong() && gex_AM_LUBRequestLong() >= 512);
            CHECK(l.reply_medium[0][0] >= gex_AM_LUBReplyMedium() && gex_AM_LUBReplyMedium() >= 512);
            CHECK(l.reply_long[0][0] >= gex_AM_LUBReplyLong() && gex_AM_LUBReplyLong() >= 512);
            CHECK(any.request_medium[2][4] <= l.request_medium[2][4]);
            gex_AM_RequestMedium1(team, other, table[0].gex_index, &l, sizeof l, GEX_EVENT_NOW, 0,
                                  (gex_AM_Arg_t)args);
        }
    GASNET_BLOCKUNTIL(gasnett_atomic_read(&acknowledged, 0) == sent);
}

/* ---- objects and constants ---- */

static void check_objects(void) {
    uintptr_t bytes = 0;
    void *owner = NULL, *local = &bytes;
    CHECK(!strcmp(gex_Client_QueryName(client), "client_tests") && gex_Client_QueryFlags(client) == 0);
    CHECK(gex_EP_QueryClient(endpoint) == client && gex_TM_QueryClient(team) == client);
    CHECK(gex_TM_QueryEP(team) == endpoint && gex_Segment_QueryClient(segment) == client);
    CHECK(gex_EP_QuerySegment(endpoint) == segment && gex_Segment_QueryCData(segment) == NULL);
    CHECK(gex_Segment_QueryBound(team, rank, &owner, &local, &bytes) == 0 && owner == local);
    CHECK(bytes == gex_Segment_QuerySize(segment) && owner == gex_Segment_QueryAddr(segment));
    CHECK(gex_Segment_QueryBound(team, (rank + 1) % size, &owner, &local, &bytes) == 0 && owner && bytes > 0);
    gex_AD_t domain = GEX_AD_INVALID;
    gex_AD_Create(&domain, team, GEX_DT_U32, GEX_OP_FADD | GEX_OP_SWAP, GEX_FLAG_PEER_SEG_OFFSET);
    CHECK(gex_AD_QueryTM(domain) == team && gex_AD_QueryDT(domain) == GEX_DT_U32);
    CHECK(gex_AD_QueryOps(domain) == (GEX_OP_FADD | GEX_OP_SWAP));
    CHECK(gex_AD_QueryFlags(domain) == GEX_FLAG_PEER_SEG_OFFSET && gex_AD_QueryCData(domain) == NULL);
    gex_AD_Destroy(domain);
    CHECK(GEX_OP_TO_FETCHING(GEX_OP_XOR) == GEX_OP_FXOR && GEX_OP_TO_NONFETCHING(GEX_OP_SWAP) == GEX_OP_SET);
    CHECK(GEX_SPEC_VERSION_MAJOR >= 0 && GEX_SPEC_VERSION_MINOR >= 0 && GASNET_RELEASE_VERSION_PATCH >= 0);
}

/* Events that were never started, and ones that are complete, may be tested at will. */
static void check_events(void) {
    gex_Event_t events[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID}, lc = GEX_EVENT_NO_OP;
    uint64_t value = rank + 5, *target;
    void *base;
    CHECK(GEX_EVENT_INVALID == 0 && GEX_EVENT_NO_OP != GEX_EVENT_INVALID);
    CHECK(gex_Event_Test(events[0]) == 0 && gex_Event_TestSome(events, 3, 0) == 0);
    CHECK(gex_Event_TestAll(events, 3, 0) == 0);
    gex_Event_WaitSome(events, 3, 0);
    gex_Event_WaitAll(events, 3, 0);
    CHECK(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC) == GEX_EVENT_INVALID);
    gex_Segment_QueryBound(team, (rank + 1) % size, &base, NULL, NULL);
    target = (uint64_t *)base + 8;
    events[1] = gex_RMA_PutNB(team, (rank + 1) % size, target, &value, sizeof value, &lc,
                              GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_BOUND);
    CHECK(lc != GEX_EVENT_NO_OP);
    gex_Event_Wait(lc);
    gex_Event_WaitAll(events, 3, 0);
    CHECK(gex_RMA_GetBlockingVal(team, (rank + 1) % size, target, sizeof value, 0) == value);
    barrier();
}

/* Every member of the neighbourhood writes into the segments of all. */
static void check_neighbours(void) {
    gex_RankInfo_t *near_by, *host;
    gex_Rank_t near_count, near_mine, host_count, host_mine, sets[4], *map, found = 0;
    gex_System_QueryNbrhdInfo(&near_by, &near_count, &near_mine);
    gex_System_QueryHostInfo(&host, &host_count, &host_mine);
    gex_System_QueryMyPosition(&sets[0], &sets[1], &sets[2], &sets[3]);
    CHECK(near_by[near_mine].gex_jobrank == gex_System_QueryJobRank() && near_count <= host_count);
    CHECK(host[host_mine].gex_jobrank == rank && gex_System_QueryJobSize() == size);
    CHECK(sets[1] < sets[0] && sets[3] < sets[2] && sets[2] <= sets[0] && sets[0] <= size);
    barrier();
    for (gex_Rank_t i = 0; i < near_count; i++) {
        map = NULL;
        CHECK(gex_Segment_QueryBound(team, near_by[i].gex_jobrank, NULL, (void **)&map, NULL) == 0 && map);
        map[near_mine] = rank;
        CHECK(i == 0 || near_by[i].gex_jobrank > near_by[i - 1].gex_jobrank);
        while (found < host_count && host[found].gex_jobrank != near_by[i].gex_jobrank)
            found++;
        CHECK(found < host_count);
    }
    barrier();
    for (gex_Rank_t i = 0; i < near_count; i++)
        CHECK(((gex_Rank_t *)gex_Segment_QueryAddr(segment))[i] == near_by[i].gex_jobrank);
    barrier();
}

/* ---- tools ---- */

static void *other_thread(void *info) {
    GASNET_BEGIN_FUNCTION();
    CHECK(GASNET_GET_THREADINFO() != info);
    return info;
}

static void check_threads(void) {
    gasnet_threadinfo_t mine = GASNET_GET_THREADINFO();
    CHECK(mine && mine == GASNET_GET_THREADINFO());
    {
        GASNET_POST_THREADINFO(mine);
        CHECK(GASNET_GET_THREADINFO() == mine);
    }
#if GASNET_PAR
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other_thread, mine) == 0 && pthread_join(thread, NULL) == 0);
#else
    CHECK(other_thread(NULL) == NULL);
#endif
    int bound = gasnett_set_affinity(0);
#if GASNETT_SET_AFFINITY_SUPPORT
    CHECK(bound == 0);
#else
    CHECK(bound != 0);
#endif
}

static int grade(int n) {
    switch (n) {
    case 0:
        n++;
        GASNETT_FALLTHROUGH
    case 1:
        return n;
    default:
        gasnett_unreachable();
    }
}

static void check_tools(void) {
    char text[100];
    uint64_t version = gasnett_release_version();
    gasnett_tick_t start = gasnett_ticks_now();
    CHECK(gasnett_nsleep(2000000) == 0 && gasnett_ticks_to_ns(gasnett_ticks_now() - start) >= 2000000);
    CHECK(gasnett_format_dt(text, GEX_DT_U32 | GEX_DT_USER) == strlen(text) + 1);
    CHECK(!strcmp(text, "GEX_DT_U32|GEX_DT_USER") && gasnett_format_dt(NULL, GEX_DT_U32) == 11);
    CHECK(gasnett_format_op(text, GEX_OP_FCAS) == 12 && !strcmp(text, "GEX_OP_FCAS"));
    CHECK(gasnett_format_ti(text, 0) == 2 && !strcmp(text, "0"));
    CHECK(gasnett_format_ti(text, GEX_TI_EP | 1u << 20) == 19 && !strcmp(text, "GEX_TI_EP|0x100000"));
    snprintf(text, sizeof text, "%d.%d.%d", GASNETT_RELEASE_VERSION_MAJOR, GASNETT_RELEASE_VERSION_MINOR,
             GASNETT_RELEASE_VERSION_PATCH);
    CHECK(!strcmp(text, gasnett_release_version_str()) && version / 10000 == GASNET_RELEASE_VERSION_MAJOR);
    CHECK(strstr(gasnett_exe_name(), "gas_ex_client") && grade(0) == 1 && grade(1) == 1);
    CHECK(MIN(3, 2) == 2 && MAX(3, 2) == 3 && GASNETT_PREDICT_TRUE(version) && !GASNETT_PREDICT_FALSE(0));
    gasnett_assume(version > 0);
    CHECK(PLATFORM_COMPILER_VERSION_GE(4, 0, 0) && !PLATFORM_COMPILER_VERSION_LT(4, 0, 0));
#if PLATFORM_ARCH_LITTLE_ENDIAN
    CHECK(gasnett_isLittleEndian());
#else
    CHECK(!gasnett_isLittleEndian());
#endif
#if PLATFORM_ARCH_64
    CHECK(sizeof(void *) == 8);
#endif
#if !PLATFORM_OS_LINUX
    CHECK(!"Linux");
#endif
}

int main(int argc, char **argv) {
    uintptr_t bytes = 7;
    GASNET_SAFE(gex_Client_Init(&client, &endpoint, &team, "client_tests", &argc, &argv, 0));
    rank = gex_TM_QueryRank(team), size = gex_TM_QuerySize(team);
    CHECK(gex_EP_QuerySegment(endpoint) == GEX_SEGMENT_INVALID);
    CHECK(gex_Segment_QueryBound(team, (rank + 1) % size, NULL, NULL, &bytes) != 0 && bytes == 7);
    CHECK(gasnet_getMaxLocalSegmentSize() >= gasnet_getMaxGlobalSegmentSize());
    CHECK(gasnet_getMaxLocalSegmentSize() % GASNET_PAGESIZE == 0);
    GASNET_SAFE(gex_Segment_Attach(&segment, team, 32 * GASNET_PAGESIZE));
    check_limits();
    check_objects();
    check_events();
    check_neighbours();
    check_threads();
    check_tools();
    barrier();
    gasnet_exit(0);
    return 0;
}
