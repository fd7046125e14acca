// client_realm.cpp: uses GASNet-EX as Realm's network module does, the runtime of Legion: handles as untyped pointers, tables
// of handlers by number of arguments, the object of the module in the endpoint's CData, pairs of endpoints instead of teams,
// immediate messages that are tried again, a negotiated payload, segments and endpoints that may be refused, messages whose
// completion is grouped, gathers out of broadcasts, a poller.
#ifdef GASNET_PAR
#undef GASNET_PAR
#define GASNET_PAR // defined, without a value
#endif
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_tools.h>

#include <cstring>
#include <vector>

#include "client.h"

// eliminates warnings of functions that are not used
static const void *ignore1 __attribute__((unused)) = (void *)_gasneti_threadkey_init;
static const void *ignore2 __attribute__((unused)) = (void *)_gasnett_trace_printf_noop;

#if 10000 * GEX_SPEC_VERSION_MAJOR + 100 * GEX_SPEC_VERSION_MINOR < 1300
#error "gex_System_SetVerboseErrors is missing"
#endif
#if !defined(GASNET_CONDUIT_MPI) || defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) ||                                \
    defined(GASNET_HAVE_MK_CLASS_HIP)
#error "conduit, kinds of memory"
#endif

// Its own copies of types and constants, for a module that is compiled without GASNet's headers.
typedef void *opaque;
static_assert(sizeof(gex_Flags_t) == 4 && sizeof(gex_Rank_t) == 4 && sizeof(gex_EP_Index_t) == 2, "sizes");
static_assert(sizeof(gex_DT_t) == 4 && sizeof(gex_OP_t) == 4 && sizeof(gex_EP_Capabilities_t) == 4, "sizes");
static_assert(sizeof(gex_Client_t) == sizeof(opaque) && sizeof(gex_MK_t) == sizeof(opaque), "handles");
static_assert(GASNET_ERR_NOT_READY == 10004 && GEX_DT_U64 == 1 << 3 && GEX_OP_ADD == 1 << 3, "values");
static_assert(GEX_EP_CAPABILITY_RMA == 1u << 0 && GEX_FLAG_IMMEDIATE == 1u << 0, "values");
static_assert(GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1u << 11 && GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1u << 12,
              "values");

namespace {

struct module {
    opaque client = nullptr, endpoint = nullptr, team = nullptr, segment = nullptr;
    gex_Rank_t rank = 0, size = 0;
    std::vector<opaque> endpoints;
    std::vector<char *> bases;
    size_t shorts = 0, mediums = 0, longs = 0, completed = 0;

    gex_EP_t ep() const {
        return static_cast<gex_EP_t>(endpoint);
    }
    gex_TM_t tm() const {
        return static_cast<gex_TM_t>(team);
    }
};

module &module_of(gex_Token_t token, gex_Rank_t *from) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP);
    *from = info.gex_srcrank;
    return *static_cast<module *>(gex_EP_QueryCData(info.gex_ep));
}

// Handlers by the number of their arguments: the sum of the arguments must be 7 times their number.
enum {
    BASE = GEX_AM_INDEX_BASE,
    SHORTS = BASE,
    MEDIUMS = BASE + 17,
    LONGS = BASE + 34,
    COMPLETION = BASE + 51
};

template <typename... Args> int sum(Args... args) {
    int total = 0;
    for (int value : {0, int(args)...})
        total += value;
    return total;
}

template <typename... Args> void on_short(gex_Token_t token, Args... args) {
    gex_Rank_t from;
    module &m = module_of(token, &from);
    CHECK(from < m.size && sum(args...) == 7 * int(sizeof...(args)));
    m.shorts++;
}

template <typename... Args> void on_medium(gex_Token_t token, void *data, size_t bytes, Args... args) {
    gex_Rank_t from;
    module &m = module_of(token, &from);
    CHECK(bytes == 200 && static_cast<char *>(data)[199] == char(from + 1) &&
          sum(args...) == 7 * int(sizeof...(args)));
    m.mediums++;
    gex_AM_Arg_t token_of_completion = 1;
    gex_AM_ReplyShort1(token, COMPLETION, 0, token_of_completion);
}

template <typename... Args> void on_long(gex_Token_t token, void *data, size_t bytes, Args... args) {
    gex_Rank_t from;
    module &m = module_of(token, &from);
    CHECK(data == m.bases[m.rank] + 1000 * from && bytes == 500 &&
          static_cast<char *>(data)[499] == char(from + 1));
    CHECK(sum(args...) == 7 * int(sizeof...(args)));
    m.longs++;
}

void on_completion(gex_Token_t token, gex_AM_Arg_t) {
    gex_Rank_t from;
    module_of(token, &from).completed++;
}

typedef gex_AM_Arg_t A;
#define ENTRIES(name, first, kind, ...)                                                                      \
    {first + 1, (gex_AM_Fn_t)name<A>, kind | GEX_FLAG_AM_REQUEST, 1, nullptr, #name "1"},                    \
        {first + 3, (gex_AM_Fn_t)name<A, A, A>, kind | GEX_FLAG_AM_REQUEST, 3, nullptr, #name "3"}, {        \
        first + 16, (gex_AM_Fn_t)name<A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A>,                       \
            kind | GEX_FLAG_AM_REQUEST, 16, nullptr, #name "16"                                              \
    }
gex_AM_Entry_t handler_table[] = {ENTRIES(on_short, SHORTS, GEX_FLAG_AM_SHORT),
                                  ENTRIES(on_medium, MEDIUMS, GEX_FLAG_AM_MEDIUM),
                                  ENTRIES(on_long, LONGS, GEX_FLAG_AM_LONG),
                                  {COMPLETION, (gex_AM_Fn_t)on_completion,
                                   GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "completion"}};
const size_t handler_count = sizeof(handler_table) / sizeof(handler_table[0]);

// A call that refuses to wait is tried again after a poll.
template <typename Send> void retry(Send send) {
    while (send() != GASNET_OK)
        gasnet_AMPoll();
}

void start(module &m) {
    gex_EP_t ep = GEX_EP_INVALID;
    CHECK(gex_Client_Init(reinterpret_cast<gex_Client_t *>(&m.client), &ep,
                          reinterpret_cast<gex_TM_t *>(&m.team), "realm-gex", nullptr, nullptr,
                          0) == GASNET_OK);
    m.endpoint = ep;
    m.endpoints.push_back(ep);
    m.rank = gex_TM_QueryRank(m.tm()), m.size = gex_TM_QuerySize(m.tm());
    gex_EP_SetCData(ep, &m);
    CHECK(gex_EP_RegisterHandlers(ep, handler_table, handler_count) == GASNET_OK);
    gex_System_SetVerboseErrors(0);
    CHECK(gex_System_GetVerboseErrors() == 0);
    CHECK(gex_Segment_Attach(reinterpret_cast<gex_Segment_t *>(&m.segment), m.tm(), 64 * GASNET_PAGESIZE) ==
          GASNET_OK);
    CHECK(gex_Segment_QueryAddr(static_cast<gex_Segment_t>(m.segment)));
}

// More memory is registered where the library allows it; Realm copies where it does not.
bool attempt_binding(module &m, void *base, size_t size) {
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    gex_EP_t ep = GEX_EP_INVALID;
    if (gex_Segment_Create(&segment, static_cast<gex_Client_t>(m.client), base, size, GEX_MK_HOST, 0) !=
        GASNET_OK)
        return false;
    int status = gex_EP_Create(&ep, static_cast<gex_Client_t>(m.client), GEX_EP_CAPABILITY_RMA, 0);
    CHECK(status == (GASNET_MAXEPS > 1 ? GASNET_OK : GASNET_ERR_RESOURCE));
    if (status != GASNET_OK) {
        CHECK(gex_Segment_Destroy(segment, 0) == GASNET_OK);
        return false;
    }
    m.endpoints.push_back(ep);
    return gex_EP_BindSegment(ep, segment, 0) == GASNET_OK;
}

void send_shorts(module &m, gex_Rank_t to, gex_Flags_t flags) {
    gex_TM_t pair = gex_TM_Pair(m.ep(), 0);
    retry([&] { return gex_AM_RequestShort1(pair, to, SHORTS + 1, flags, 7); });
    retry([&] { return gex_AM_RequestShort3(pair, to, SHORTS + 3, flags, 7, 7, 7); });
    retry([&] {
        return gex_AM_RequestShort16(pair, to, SHORTS + 16, flags, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
                                     7, 7);
    });
}

void send_mediums(module &m, gex_Rank_t to, const char *data) {
    gex_TM_t pair = gex_TM_Pair(m.ep(), 0);
    CHECK(gex_AM_MaxRequestMedium(pair, to, nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 3) >= 200);
    retry([&] {
        return gex_AM_RequestMedium1(pair, to, MEDIUMS + 1, data, 200, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 7);
    });
#ifdef GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM
    gex_AM_SrcDesc_t sd;
    while ((sd = gex_AM_PrepareRequestMedium(pair, to, nullptr, 200, 200, nullptr, GEX_FLAG_IMMEDIATE, 3)) ==
           GEX_AM_SRCDESC_NO_OP)
        gasnet_AMPoll();
    opaque kept = sd;
    CHECK(gex_AM_SrcDescSize(static_cast<gex_AM_SrcDesc_t>(kept)) >= 200);
    std::memcpy(gex_AM_SrcDescAddr(static_cast<gex_AM_SrcDesc_t>(kept)), data, 200);
    gex_AM_CommitRequestMedium3(static_cast<gex_AM_SrcDesc_t>(kept), MEDIUMS + 3, 200, 7, 7, 7);
#endif
}

void send_longs(module &m, gex_Rank_t to, const char *data) {
    gex_TM_t pair = gex_TM_Pair(m.ep(), 0);
    char *target = m.bases[to] + 1000 * m.rank;
    gex_Event_t local = GEX_EVENT_INVALID;
    CHECK(gex_AM_MaxRequestLong(pair, to, GEX_EVENT_GROUP, 0, 16) >= 500);
    retry([&] {
        return gex_AM_RequestLong3(pair, to, LONGS + 3, data, 500, target, GEX_EVENT_GROUP, 0, 7, 7, 7);
    });
    retry([&] {
        return gex_AM_RequestLong1(pair, to, LONGS + 1, data, 500, target, &local, GEX_FLAG_IMMEDIATE, 7);
    });
    while (gex_Event_Test(local) != GASNET_OK)
        gasnet_AMPoll();
}

void messages(module &m) {
    std::vector<char> data(500, char(m.rank + 1));
    for (int round = 0; round < 40; round++)
        for (gex_Rank_t to = 0; to < m.size; to++) {
            send_shorts(m, to, round % 2 ? GEX_FLAG_IMMEDIATE : 0);
            send_mediums(m, to, data.data());
            send_longs(m, to, data.data());
        }
    gex_NBI_Wait(GEX_EC_AM, 0);
    GASNET_BLOCKUNTIL(m.shorts == 120 * m.size && m.mediums == 80 * m.size && m.longs == 80 * m.size &&
                      m.completed == 80 * m.size);
}

void puts_and_gets(module &m) {
    gex_TM_t pair = gex_TM_Pair(m.ep(), 0);
    gex_Rank_t to = (m.rank + 1) % m.size;
    uint64_t value = 1000 + m.rank, back = 0;
    opaque local = nullptr;
    opaque done = gex_RMA_PutNB(pair, to, m.bases[to] + 64 * GASNET_PAGESIZE - 8, &value, sizeof value,
                                reinterpret_cast<gex_Event_t *>(&local), GEX_FLAG_IMMEDIATE);
    while (gex_Event_Test(static_cast<gex_Event_t>(local)) != GASNET_OK)
        gasnet_AMPoll();
    gex_Event_Wait(static_cast<gex_Event_t>(done));
    gex_Event_Wait(gex_RMA_GetNB(pair, &back, to, m.bases[to] + 64 * GASNET_PAGESIZE - 8, sizeof back, 0));
    CHECK(back == value);
}

void gathers(module &m) {
    uint64_t counts[3] = {1, m.rank, 2}, totals[3];
    std::vector<gex_Rank_t> all(m.size);
    std::vector<gex_Event_t> events(m.size);
    for (gex_Rank_t i = 0; i < m.size; i++)
        events[i] = gex_Coll_BroadcastNB(m.tm(), i, &all[i], &m.rank, sizeof m.rank, 0);
    gex_Event_WaitAll(events.data(), events.size(), 0);
    for (gex_Rank_t i = 0; i < m.size; i++)
        CHECK(all[i] == i);
    gex_Event_t done = gex_Coll_ReduceToAllNB(m.tm(), totals, counts, GEX_DT_U64, sizeof(uint64_t), 3,
                                              GEX_OP_ADD, nullptr, nullptr, 0);
    do
        gasnet_AMPoll();
    while (gex_Event_Test(done) != GASNET_OK);
    CHECK(totals[0] == m.size && totals[1] == uint64_t(m.size) * (m.size - 1) / 2 && totals[2] == 2 * m.size);
}

void shared_peers(module &m) {
    gex_RankInfo_t *peers = nullptr;
    gex_Rank_t count = 0;
    gex_System_QueryNbrhdInfo(&peers, &count, nullptr);
    if (count == 1)
        gex_System_QueryHostInfo(&peers, &count, nullptr);
    bool found = false;
    for (gex_Rank_t i = 0; i < count; i++)
        found |= peers[i].gex_jobrank == m.rank;
    CHECK(found);
}

} // namespace

int main() {
    static module m;
    static char more[8192];
    start(m);
    CHECK(!attempt_binding(m, more, sizeof more));
    CHECK(gex_EP_PublishBoundSegment(m.tm(), reinterpret_cast<gex_EP_t *>(m.endpoints.data()),
                                     m.endpoints.size(), 0) == GASNET_OK);
    for (gex_Rank_t r = 0; r < m.size; r++) {
        void *base = nullptr;
        CHECK(gex_Segment_QueryBound(m.tm(), r, &base, nullptr, nullptr) == GASNET_OK);
        m.bases.push_back(static_cast<char *>(base));
    }
    shared_peers(m);
    gex_Event_Wait(gex_Coll_BarrierNB(m.tm(), 0));
    messages(m);
    gex_Event_Wait(gex_Coll_BarrierNB(m.tm(), 0));
    puts_and_gets(m);
    gathers(m);
    gex_Event_Wait(gex_Coll_BarrierNB(m.tm(), 0));
    gasnet_exit(0);
}
