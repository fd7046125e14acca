/* client_caffeine.c: uses GASNet-EX as Caffeine does, which implements coarrays of Fortran: a heap in the segment, coarrays
 * at symmetric addresses, strided access, events and atomics by atomic operations, collective subroutines, teams. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnet_ratomic.h>

#include <gasnet_tools.h>

#include <gasnet_portable_platform.h>

#include "client.h"

#if GASNET_PAR
static gasnett_mutex_t heap_lock = GASNETT_MUTEX_INITIALIZER;
#define LOCK()   gasnett_mutex_lock(&heap_lock)
#define UNLOCK() gasnett_mutex_unlock(&heap_lock)
#else
#define LOCK()   ((void)0)
#define UNLOCK() ((void)0)
#endif

#if PLATFORM_COMPILER_GNU + PLATFORM_COMPILER_CLANG + PLATFORM_COMPILER_UNKNOWN != 1
#error "one family of compilers"
#endif

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me, images;
static uintptr_t used;

static void start(void) {
    GASNET_SAFE(gex_Client_Init(&client, &endpoint, &world, "caffeine", NULL, NULL, 0));
    me = gex_TM_QueryRank(world), images = gex_TM_QuerySize(world);
    uintptr_t most = gasnet_getMaxGlobalSegmentSize(), least = 2 * GASNET_PAGESIZE;
    int64_t wanted =
        gasnett_getenv_int_withdefault("CAF_HEAP_SIZE", (int64_t)MIN(most, (uintptr_t)1 << 20), 1024 * 1024);
    uintptr_t size = MIN(MAX((uintptr_t)wanted, least), most);
    CHECK(gasnett_getenv_dbl_withdefault("CAF_COMP_FRAC", 0.1) == 0.1);
    GASNET_SAFE(gex_Segment_Attach(&segment, world, size));
    CHECK(gex_Segment_QuerySize(segment) >= least);
}

/* Called by all images in the same order: symmetric. */
static void *allocate(size_t bytes) {
    LOCK();
    void *memory = (char *)gex_Segment_QueryAddr(segment) + used;
    used += (bytes + 7) & ~(size_t)7;
    UNLOCK();
    if (used > gex_Segment_QuerySize(segment))
        gasnett_fatalerror_nopos("no room for %" PRIuSZ " bytes", bytes);
    return memory;
}

static void *at_image(const void *local, int image) {
    ptrdiff_t offset = (const char *)local - (const char *)gex_Segment_QueryAddr(segment);
    void *base = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, (gex_Rank_t)(image - 1), &base, NULL, NULL, 0));
    return (char *)base + offset;
}

static void sync_all(gex_TM_t team) {
    gex_NBI_Wait(GEX_EC_RMW, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    gasnett_local_mb();
}

/* Each image puts a column of a matrix to the next image, and gets it back. */
static void strided(void) {
    enum { ROWS = 6, COLUMNS = 5 };
    double *matrix = allocate(ROWS * COLUMNS * sizeof *matrix), column[ROWS], back[ROWS];
    int next = (int)((me + 1) % images) + 1;
    ptrdiff_t apart = COLUMNS * sizeof *matrix, close = sizeof *column;
    size_t extent = ROWS;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = -1;
    for (int i = 0; i < ROWS; i++)
        column[i] = me * 100 + i;
    sync_all(world);
    void *remote = (double *)at_image(matrix, next) + 2;
    gex_VIS_StridedPutBlocking(world, (gex_Rank_t)(next - 1), remote, &apart, column, &close, sizeof *matrix,
                               &extent, 1, 0);
    gex_VIS_StridedGetBlocking(world, back, &close, (gex_Rank_t)(next - 1), remote, &apart, sizeof *matrix,
                               &extent, 1, 0);
    sync_all(world);
    gex_Rank_t from = (me + images - 1) % images;
    for (int i = 0; i < ROWS; i++) {
        CHECK(back[i] == column[i]);
        CHECK(matrix[i * COLUMNS + 2] == from * 100 + i && matrix[i * COLUMNS + 1] == -1);
    }
    gex_RMA_PutBlocking(world, (gex_Rank_t)(next - 1), at_image(matrix, next), column, sizeof column[0], 0);
    gex_RMA_GetBlocking(world, back, (gex_Rank_t)(next - 1), at_image(matrix, next), sizeof back[0], 0);
    CHECK(back[0] == column[0]);
    sync_all(world);
}

/* An image waits for as many posts as there are images. */
static void events(void) {
    gex_AD_t domain = GEX_AD_INVALID;
    int64_t *event = allocate(sizeof *event), count = 0;
    *event = 0;
    sync_all(world);
    gex_AD_Create(&domain, world, GEX_DT_I64, GEX_OP_GET | GEX_OP_INC | GEX_OP_FSUB,
                  GEX_FLAG_AD_FAVOR_MY_RANK);
    CHECK(domain != GEX_AD_INVALID);
    for (int image = 1; image <= (int)images; image++)
        gex_AD_OpNBI_I64(domain, NULL, (gex_Rank_t)(image - 1), at_image(event, image), GEX_OP_INC, 0, 0,
                         GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ);
    while (gex_Event_Wait(gex_AD_OpNB_I64(domain, &count, me, event, GEX_OP_GET, 0, 0, 0)), count < images)
        gasnet_AMPoll();
    gex_Event_Wait(gex_AD_OpNB_I64(domain, &count, me, event, GEX_OP_FSUB, images, 0, GEX_FLAG_AD_ACQ));
    CHECK(count == images);
    sync_all(world);
    CHECK(*event == 0);
    gex_AD_Destroy(domain);
}

static void atomics(void) {
    static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_FADD, GEX_OP_OR,   GEX_OP_FOR,
                                   GEX_OP_XOR, GEX_OP_FAND, GEX_OP_FXOR, GEX_OP_FCAS};
    gex_AD_t domain;
    gex_OP_t all = GEX_OP_GET | GEX_OP_SET | GEX_OP_AND;
    int64_t *word = allocate(sizeof *word), result = 0;
    *word = 0;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        all |= ops[i];
    sync_all(world);
    gex_AD_Create(&domain, world, GEX_DT_I64, all, 0);
    gex_Event_Wait(
        gex_AD_OpNB_I64(domain, &result, 0, at_image(word, 1), GEX_OP_FADD, 1, 0, GEX_FLAG_RANK_IS_JOBRANK));
    CHECK(result >= 0 && result < images);
    sync_all(world);
    gex_Event_Wait(gex_AD_OpNB_I64(domain, &result, 0, at_image(word, 1), GEX_OP_FCAS, images, 77, 0));
    CHECK(result == images || result == 77);
    sync_all(world);
    gex_Event_Wait(gex_AD_OpNB_I64(domain, &result, 0, at_image(word, 1), GEX_OP_GET, 0, 0, 0));
    CHECK(result == 77);
    sync_all(world);
    gex_AD_Destroy(domain);
}

static void larger(const void *left, void *right, size_t count, const void *cdata) {
    const int32_t *l = left, *r = right;
    CHECK(cdata == &used);
    for (size_t i = 0; i < count; i++)
        if (l[2 * i] > r[2 * i])
            memcpy((int32_t *)right + 2 * i, l + 2 * i, 2 * sizeof *l);
}

static void collectives(gex_TM_t team) {
    gex_Rank_t rank = gex_TM_QueryRank(team), size = gex_TM_QuerySize(team);
    int32_t pair[4] = {(int32_t)rank, 10 + (int32_t)rank, -(int32_t)rank, 20}, value = rank == 0 ? 42 : 0;
    double sum = 0.5 * rank;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, pair, pair, GEX_DT_USER, 2 * sizeof pair[0], 2, GEX_OP_USER,
                                          larger, &used, 0));
    CHECK(pair[0] == (int32_t)size - 1 && pair[1] == 9 + (int32_t)size && pair[2] == 0 && pair[3] == 20);
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, size - 1, &sum, &sum, GEX_DT_DBL, sizeof sum, 1, GEX_OP_ADD,
                                          NULL, NULL, 0));
    CHECK(rank != size - 1 || sum == 0.25 * size * (size - 1));
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &value, &value, sizeof value, 0));
    CHECK(value == 42);
    for (int image = 1; image <= (int)size; image++) {
        gex_Rank_t initial = gex_TM_TranslateRankToJobrank(team, (gex_Rank_t)image - 1);
        CHECK(gex_TM_TranslateJobrankToRank(team, initial) == (gex_Rank_t)image - 1);
    }
}

static void teams(void) {
    gex_TM_t team;
    gex_TM_Split(&team, world, (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    collectives(team);
    CHECK(images == 1 || gex_TM_TranslateJobrankToRank(team, (me + 1) % 2) == GEX_RANK_INVALID);
    gex_TM_Destroy(team, NULL, 0);
}

int main(void) {
    start();
    strided();
    events();
    atomics();
    collectives(world);
    teams();
    sync_all(world);
    gasnett_flush_streams();
    gasnet_exit(0);
}
