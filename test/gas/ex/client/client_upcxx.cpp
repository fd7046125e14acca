// client_upcxx.cpp: uses GASNet-EX as the runtime of UPC++ does: constants in its own headers (gasnet_fwd.h), a shared heap, a
// team of the neighbourhood with scratch space, remote procedure calls by messages with a negotiated payload and by Long
// messages with 16 arguments, puts and gets with callbacks at their events, non-contiguous memory, atomic domains, teams,
// reductions by functions, progress by polling alone.

// What its public headers see: no function, no thread mode.
#include <gasnet_fwd.h>

#include <cstdint>
#include <vector>

namespace upcxx {
enum class atomic_op : gex_OP_t {
    load = GEX_OP_GET,
    store = GEX_OP_SET,
    add = GEX_OP_ADD,
    fetch_add = GEX_OP_FADD,
    fetch_max = GEX_OP_FMAX,
    bit_and = GEX_OP_AND,
    compare_exchange = GEX_OP_FCAS
};
struct team_base {
    std::uintptr_t handle;
    gex_EP_Location_t where;
};
} // namespace upcxx

#include <gasnet.h>

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_portable_platform.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>

#include <algorithm>
#include <cstring>

#include "client.h"

// What its configuration asks of the headers.
#if GASNET_RELEASE_VERSION_MAJOR < 2000 || GEX_SPEC_VERSION_MAJOR * 100 + GEX_SPEC_VERSION_MINOR < 14
#error "GASNet-EX is too old"
#endif
#if !defined(GASNETT_PREDICT_TRUE) || !defined(GASNETT_PREDICT_FALSE) || !defined(gasnett_spinloop_hint) ||  \
    !defined(gasneti_builtin_unreachable) || !defined(gasnett_fatalerror_nopos) || !defined(gasnett_assume)
#error "macros that are probed"
#endif
#if !defined(GASNETT_NEVER_INLINE) || !defined(GASNETT_NORETURN) || !defined(GASNETT_PURE) ||                \
    !defined(GASNETT_CONST)
#error "attributes that are probed"
#endif
#if GASNET_MAXEPS > 1 || !defined(GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM) || !PLATFORM_OS_LINUX ||                \
    GASNET_SEGMENT_EVERYTHING
#error "features that are probed"
#endif
static_assert(sizeof(gex_Event_t) == sizeof(uintptr_t) && sizeof(gex_TM_t) == sizeof(uintptr_t), "handles");
static_assert(sizeof(gex_AM_SrcDesc_t) <= sizeof(uintptr_t) && sizeof(gex_AD_t) == sizeof(uintptr_t),
              "handles");
static_assert((gex_OP_t)upcxx::atomic_op::compare_exchange == GEX_OP_CSWAP, "operators");

#ifdef GEX_FLAG_PEER_NEVER_NBRHD
#define NEVER_NEAR GEX_FLAG_PEER_NEVER_NBRHD
#else
#define NEVER_NEAR 0
#endif

namespace {

gex_EP_t endpoint;
gex_TM_t world, local;
gex_Rank_t me, ranks, near_first, near_count;
char *heap;
size_t heap_used;
std::vector<char *> heaps;

void *allocate(size_t bytes, size_t alignment) {
    heap_used = (heap_used + alignment - 1) / alignment * alignment;
    void *memory = heap + heap_used;
    heap_used += bytes;
    return memory;
}

template <typename T> T *at(gex_Rank_t rank, T *mine) { // in the same place of the heap of another process
    return reinterpret_cast<T *>(heaps[rank] + (reinterpret_cast<char *>(mine) - heap));
}

// ---- remote procedure calls ----

enum { ID_EAGER = 252, ID_LONG = 253, ID_REPLY = 254 };
struct call {
    int64_t add, times;
};
int64_t total;
unsigned replies;

void am_eager(gex_Token_t, void *buffer, size_t bytes, gex_AM_Arg_t alignment) {
    call c;
    CHECK(alignment == (gex_AM_Arg_t)alignof(call) && bytes == sizeof c);
    std::memcpy(&c, buffer, sizeof c);
    total += c.add * c.times;
}

void am_long(gex_Token_t token, void *payload, size_t bytes, gex_AM_Arg_t low, gex_AM_Arg_t high,
             gex_AM_Arg_t count, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t,
             gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t,
             gex_AM_Arg_t last) {
    CHECK(bytes == count * sizeof(int64_t) && last == -16);
    for (gex_AM_Arg_t i = 0; i < count; i++)
        total += static_cast<int64_t *>(payload)[i];
    gex_AM_ReplyShort2(token, ID_REPLY, 0, low, high);
}

void am_reply(gex_Token_t, gex_AM_Arg_t low, gex_AM_Arg_t high) {
    intptr_t address = (intptr_t(high) << 31 << 1) | (intptr_t(low) & 0xffffffffu);
    ++*reinterpret_cast<unsigned *>(address);
}

void rpc(gex_Rank_t rank, call c, bool negotiated) {
    if (negotiated) {
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareRequestMedium(world, rank, nullptr, sizeof c, sizeof c, nullptr, 0, 1);
        CHECK(sd != GEX_AM_SRCDESC_NO_OP && gex_AM_SrcDescSize(sd) >= sizeof c);
        auto nonce = reinterpret_cast<std::uintptr_t>(sd);
        std::memcpy(gex_AM_SrcDescAddr(sd), &c, sizeof c);
        gex_AM_CommitRequestMedium1(reinterpret_cast<gex_AM_SrcDesc_t>(nonce), ID_EAGER, sizeof c,
                                    alignof(call));
    } else
        gex_AM_RequestMedium1(world, rank, ID_EAGER, &c, sizeof c, GEX_EVENT_NOW, 0, alignof(call));
}

void rpc_with_payload(gex_Rank_t rank, int64_t *target) {
    int64_t values[3] = {1, 2, 3};
    auto address = reinterpret_cast<intptr_t>(&replies);
    gex_AM_RequestLong16(world, rank, ID_LONG, values, sizeof values, at(rank, target), GEX_EVENT_NOW, 0,
                         gex_AM_Arg_t(address & 0xffffffffu), gex_AM_Arg_t(address >> 31 >> 1), 3, 0, 0, 0, 0,
                         0, 0, 0, 0, 0, 0, 0, 0, -16);
}

void barrier(gex_TM_t tm) {
    gex_Event_t e = gex_Coll_BarrierNB(tm, 0);
    while (0 != gex_Event_Test(e)) {
        gasnett_spinloop_hint();
        gasnet_AMPoll();
    }
}

void wait(gex_Event_t e) { // as its callbacks: by tests
    while (0 != gex_Event_Test(e))
        gasnet_AMPoll();
}

GASNETT_COLD void test_rpc() {
    auto target = static_cast<int64_t *>(allocate(4 * sizeof(int64_t) * ranks, 64));
    barrier(world);
    for (gex_Rank_t r = 0; r < ranks; r++)
        for (int i = 0; i < 20; i++) {
            rpc(r, call{i, 2}, i % 2);
            if (i % 5 == 0)
                rpc_with_payload(r, target + 4 * me);
        }
    const int64_t expected = ranks * (190 * 2 + 4 * 6);
    GASNET_BLOCKUNTIL(total == expected && replies == 4 * ranks);
    barrier(world);
    CHECK(total == expected);
}

// ---- start ----

GASNETT_COLD void init_heap() {
    gex_Client_t client;
    gex_Segment_t segment;
    gex_AM_Entry_t table[] = {
        {ID_EAGER, (void (*)())am_eager, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "am_eager"},
        {ID_LONG, (void (*)())am_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 16, nullptr, "am_long"},
        {ID_REPLY, (void (*)())am_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, nullptr, "am_reply"}};
    CHECK(gex_Client_Init(&client, &endpoint, &world, "upcxx", nullptr, nullptr, 0) == GASNET_OK);
    CHECK(gex_EP_QueryIndex(endpoint) == 0);
    me = gex_TM_QueryRank(world), ranks = gex_TM_QuerySize(world);
    auto get = [](const char *key) { return gasnett_getenv(key); };
    gasnett_envstr_display("UPCXX_VERBOSE", get("UPCXX_VERBOSE"), 1);
    gasnett_envint_display("UPCXX_SHARED_HEAP_SIZE", 1 << 20, 0, 1);
    size_t bytes = std::min<size_t>(1 << 20, gasnet_getMaxLocalSegmentSize());
    bytes = (bytes + GASNET_PAGESIZE - 1) & (size_t)-GASNET_PAGESIZE;
    CHECK(gex_Segment_Attach(&segment, world, bytes) == GASNET_OK);
    CHECK(gex_EP_RegisterHandlers(endpoint, table, sizeof(table) / sizeof(table[0])) == GASNET_OK);
    CHECK(gex_AM_MaxRequestMedium(world, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 3) >= 512);
    CHECK(gex_AM_MaxRequestMedium(world, GEX_RANK_INVALID, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
                                  3) >= 512);
    gex_Rank_t host_peers;
    gex_System_QueryHostInfo(nullptr, &host_peers, nullptr);
    gasnet_set_waitmode((gex_Rank_t)gasnett_cpu_count() < host_peers ? GASNET_WAIT_BLOCK : GASNET_WAIT_SPIN);
    for (gex_Rank_t r = 0; r < ranks; r++) {
        void *base = nullptr;
        uintptr_t size = 0;
        gex_Event_t e = gex_EP_QueryBoundSegmentNB(r % 2 ? gex_TM_Pair(endpoint, 0) : world, r, &base,
                                                   nullptr, &size, GEX_FLAG_IMMEDIATE);
        CHECK(e == GEX_EVENT_INVALID && base && size == bytes);
        heaps.push_back(static_cast<char *>(base));
    }
    heap = heaps[me];
}

// The team of processes that share memory, which is the world's if all do.
GASNETT_COLD void init_local() {
    gex_RankInfo_t *near_by;
    gex_Rank_t mine;
    gex_System_QueryNbrhdInfo(&near_by, &near_count, &mine);
    near_first = near_by[0].gex_jobrank;
    local = world;
    if (near_count < ranks) {
        std::vector<gex_EP_Location_t> members(near_count);
        for (gex_Rank_t i = 0; i < near_count; i++)
            members[i].gex_rank = near_by[i].gex_jobrank, members[i].gex_ep_index = 0;
        const gex_Flags_t flags = GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK;
        size_t bytes = gex_TM_Create(nullptr, 1, world, members.data(), near_count, nullptr, 0,
                                     flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
        CHECK(bytes > 0);
        void *scratch = allocate(bytes, GASNET_PAGESIZE);
        gex_TM_Create(&local, 1, world, members.data(), near_count, &scratch, bytes, flags);
        gex_TM_SetCData(local, scratch);
    }
    CHECK(gex_TM_QuerySize(local) == near_count && gex_TM_QueryRank(local) == mine);
    for (gex_Rank_t i = 0; i < near_count; i++) {
        void *owner, *here;
        uintptr_t size;
        gex_Segment_QueryBound(world, near_by[i].gex_jobrank, &owner, &here, &size);
        CHECK(owner && here && size);
    }
}

// ---- puts, gets, non-contiguous memory ----

void test_rma() {
    auto target = static_cast<double *>(allocate(64 * sizeof(double), 64));
    gex_Rank_t next = (me + 1) % ranks;
    const gex_Flags_t flags = next >= near_first && next < near_first + near_count ? 0 : NEVER_NEAR;
    double source[64], back[64] = {};
    for (int i = 0; i < 64; i++)
        source[i] = me + i / 64.0;
    barrier(world);
    gex_Event_t lc, op = gex_RMA_PutNB(world, next, at(next, target), source, sizeof source, &lc, flags);
    wait(lc);
    wait(op);
    wait(gex_RMA_GetNB(world, back, next, at(next, target), sizeof back, flags));
    CHECK(!std::memcmp(source, back, sizeof back));
    wait(gex_RMA_PutNB(world, next, at(next, target), source, 8, GEX_EVENT_DEFER, flags));
    barrier(world);
    CHECK(target[63] == (me + ranks - 1) % ranks + 63 / 64.0);
    barrier(world);
}

void leaf_then_root(gex_Event_t op) {
    wait(gex_Event_QueryLeaf(op, GEX_EC_LC));
    wait(op);
}

void test_vis() {
    enum { N = 8 };
    auto target = static_cast<int *>(allocate(N * N * sizeof(int), 64));
    gex_Rank_t next = (me + 1) % ranks;
    int source[N * N], back[N] = {};
    for (int i = 0; i < N * N; i++)
        source[i] = int(me) * 1000 + i, target[i] = -1;
    barrier(world);
    int *remote = at(next, target);
    gex_Memvec_t to[2] = {{remote, 8}, {remote + 4, 8}}, from[1] = {{source, 16}};
    leaf_then_root(gex_VIS_VectorPutNB(world, next, 2, to, 1, from, GEX_FLAG_ENABLE_LEAF_LC));
    void *list[2] = {remote + 8, remote + 12}, *mine[1] = {source + 4};
    leaf_then_root(gex_VIS_IndexedPutNB(world, next, 2, list, 8, 1, mine, 16, GEX_FLAG_ENABLE_LEAF_LC));
    const std::ptrdiff_t apart[] = {N * sizeof(int)};
    const std::size_t count[] = {N - 2};
    leaf_then_root(gex_VIS_StridedPutNB(world, next, remote + 2 * N + 3, apart, source + 3, apart,
                                        sizeof(int), count, 1, GEX_FLAG_ENABLE_LEAF_LC));
    const std::ptrdiff_t close[] = {sizeof(int)};
    wait(gex_VIS_StridedGetNB(world, back, close, next, remote + 2 * N + 3, apart, sizeof(int), count, 1, 0));
    for (int i = 0; i < N - 2; i++)
        CHECK(back[i] == source[3 + i * N]);
    gex_Memvec_t into[1] = {{back, 16}};
    wait(gex_VIS_VectorGetNB(world, 1, into, next, 2, to, 0));
    CHECK(!std::memcmp(back, source, 16));
    void *here[1] = {back};
    wait(gex_VIS_IndexedGetNB(world, 1, here, 16, next, 2, list, 8, 0));
    CHECK(!std::memcmp(back, source + 4, 16));
    barrier(world);
    CHECK(target[6] == -1 && target[4] % 1000 == 2 && target[2 * N + 3] % 1000 == 3);
    barrier(world);
}

// ---- atomic domains ----

using upcxx::atomic_op;

void test_atomics() {
    auto word = static_cast<uint64_t *>(allocate(sizeof(uint64_t), 8));
    *word = 0;
    barrier(world);
    gex_OP_t ops = 0;
    for (auto op : {atomic_op::load, atomic_op::store, atomic_op::fetch_add, atomic_op::compare_exchange,
                    atomic_op::bit_and})
        ops |= static_cast<gex_OP_t>(op);
    std::uintptr_t handle = 0;
    gex_AD_Create(reinterpret_cast<gex_AD_t *>(&handle), world, GEX_DT_U64, ops, 0);
    auto inject = [&](uint64_t *result, gex_Rank_t jobrank, atomic_op op, uint64_t a, uint64_t b) {
        wait(gex_AD_OpNB_U64(reinterpret_cast<gex_AD_t>(handle), result, jobrank, at(jobrank, word),
                             (gex_OP_t)op, a, b,
                             GEX_FLAG_RANK_IS_JOBRANK | GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL));
    };
    uint64_t last = 0, value = 0;
    for (int i = 0; i < 100; i++) {
        inject(&value, 0, atomic_op::fetch_add, 1, 0);
        CHECK(i == 0 || value > last);
        last = value;
    }
    barrier(world);
    inject(&value, 0, atomic_op::load, 0, 0);
    CHECK(value == 100 * ranks);
    barrier(world);
    gex_AD_Destroy(reinterpret_cast<gex_AD_t>(handle));
}

// ---- teams and reductions ----

struct popn_stats {
    int64_t sum, min, max;
};

void test_teams() {
    gex_TM_t sub = GEX_TM_INVALID, *wanted = me < (ranks + 1) / 2 ? &sub : nullptr;
    size_t bytes =
        gex_TM_Split(wanted, world, 0, int(ranks - me), nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    void *scratch = wanted ? allocate(bytes, GASNET_PAGESIZE) : nullptr;
    gex_TM_Split(wanted, world, 0, int(ranks - me), scratch, bytes, 0);
    if (!wanted)
        return;
    upcxx::team_base base = {reinterpret_cast<std::uintptr_t>(sub), gex_TM_TranslateRankToEP(sub, 0, 0)};
    CHECK(base.where.gex_rank == (ranks + 1) / 2 - 1 && base.where.gex_ep_index == 0);
    gex_TM_t again = reinterpret_cast<gex_TM_t>(base.handle);
    CHECK(gex_TM_TranslateJobrankToRank(again, me) == gex_TM_QueryRank(sub));
    barrier(sub);
    gex_TM_SetCData(sub, scratch);
    gex_Memvec_t area;
    gex_TM_Destroy(sub, &area, GEX_FLAG_GLOBALLY_QUIESCED);
    CHECK(area.gex_addr == scratch && area.gex_len == bytes);
}

void test_reductions() {
    int64_t n = me;
    popn_stats stats = {int64_t(me), int64_t(me), int64_t(me)};
    gex_Event_Wait(gex_Coll_ReduceToOneNB(
        world, 0, &stats, &stats, GEX_DT_USER, sizeof(stats), 1, GEX_OP_USER,
        (gex_Coll_ReduceFn_t)[](const void *left, void *right, std::size_t count, const void *) {
            auto in = static_cast<const popn_stats *>(left);
            auto out = static_cast<popn_stats *>(right);
            for (std::size_t i = 0; i < count; i++)
                out[i] = {out[i].sum + in[i].sum, std::min(out[i].min, in[i].min),
                          std::max(out[i].max, in[i].max)};
        },
        nullptr, 0));
    CHECK(me != 0 ||
          (stats.sum == int64_t(ranks) * (ranks - 1) / 2 && stats.min == 0 && stats.max == ranks - 1));
    wait(gex_Coll_ReduceToAllNB(world, &n, &n, GEX_DT_I64, sizeof n, 1, GEX_OP_MAX, nullptr, nullptr, 0));
    CHECK(n == int64_t(ranks) - 1);
    std::pair<uintptr_t, uintptr_t> info(me, 2 * me);
    wait(gex_Coll_BroadcastNB(world, ranks - 1, &info, &info, sizeof info, 0));
    CHECK(info.first == ranks - 1 && info.second == 2 * (ranks - 1));
}

} // namespace

int main() {
    init_heap();
    init_local();
    barrier(world);
    test_rpc();
    test_rma();
    test_vis();
    test_atomics();
    test_teams();
    test_reductions();
    barrier(world);
    if (local != world)
        gex_TM_Destroy(local, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
    gasnet_exit(0);
}
