/* client_chapel.c: uses GASNet-EX as Chapel's communication layer does: both interfaces at once. gex_Client_Init begins the job,
 * handlers of gex_EP_RegisterHandlers get messages of gasnet_AMRequest, segments have the largest size that the environment
 * allows, a task polls while others wait for a barrier by gasnet_barrier_try. */
#include "gasnet.h"
#include "gasnet_coll.h"
#include "gasnet_tools.h"
#include "gasnet_vis.h"

#include <sched.h>

#include "client.h"

enum { FORK = 128, FORK_SMALL, SIGNAL, COPY, SEGMENT = 4 << 20, FORKS = 50 };

static gasnet_seginfo_t *segments;
static gex_TM_t team;
static int rank, size;

typedef struct {
    volatile int flag;
    int count, target;
} done_t;

#define LOW(address)  ((gasnet_handlerarg_t)(uint32_t)(uintptr_t)(address))
#define HIGH(address) ((gasnet_handlerarg_t)(uint32_t)((uint64_t)(uintptr_t)(address) >> 32))

struct fork {
    int caller, value;
    void *ack;
};
static volatile int forks, copies;

static void on_fork(gasnet_token_t token, void *buffer, size_t bytes) {
    struct fork f;
    CHECK(bytes == sizeof f);
    memcpy(&f, buffer, sizeof f);
    __atomic_add_fetch(&forks, f.value, __ATOMIC_SEQ_CST);
    GASNET_SAFE(gasnet_AMReplyShort2(token, SIGNAL, LOW(f.ack), HIGH(f.ack)));
}

static void on_signal(gasnet_token_t token, gasnet_handlerarg_t low, gasnet_handlerarg_t high) {
    done_t *done = (done_t *)(uintptr_t)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
    (void)token;
    if (__atomic_add_fetch(&done->count, 1, __ATOMIC_SEQ_CST) == done->target)
        done->flag = 1;
}

static void on_copy(gasnet_token_t token, void *buffer, size_t bytes, gasnet_handlerarg_t low,
                    gasnet_handlerarg_t high) {
    (void)buffer;
    CHECK(bytes == 100);
    __atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST);
    GASNET_SAFE(gasnet_AMReplyShort2(token, SIGNAL, low, high));
}

static gex_AM_Entry_t table[] = {
    {FORK, (gex_AM_Fn_t)on_fork, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "fork"},
    {SIGNAL, (gex_AM_Fn_t)on_signal, GEX_FLAG_AM_REQREP | GEX_FLAG_AM_SHORT, 2, NULL, "signal"},
    {COPY, (gex_AM_Fn_t)on_copy, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 2, NULL, "copy"}};

static void start(void) {
    gex_Client_t client;
    gex_EP_t endpoint;
    gex_Segment_t segment;
    gex_Rank_t on_host, mine;
    char text[20];
    snprintf(text, sizeof text, "%d", SEGMENT);
    gasnett_setenv("GASNET_MAX_SEGSIZE", text);
    GASNET_SAFE(gex_Client_Init(&client, &endpoint, &team, "chapel", NULL, NULL, GEX_FLAG_USES_GASNET1));
    rank = (int)gasnet_mynode(), size = (int)gasnet_nodes();
    gex_System_QueryHostInfo(NULL, &on_host, &mine);
    CHECK(mine < on_host && GASNETI_MAX_THREADS - 1 >= 0);
    GASNET_SAFE(gex_Segment_Attach(&segment, team, gasnet_getMaxLocalSegmentSize()));
    CHECK(gex_Segment_QuerySize(segment) == SEGMENT);
    GASNET_SAFE(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
    segments = malloc((size_t)size * sizeof *segments);
    GASNET_SAFE(gasnet_getSegmentInfo(segments, size));
    CHECK(segments[rank].addr == gex_Segment_QueryAddr(segment) && segments[rank].size == SEGMENT);
    GASNET_SAFE(gasnet_set_waitmode(GASNET_WAIT_BLOCK));
}

/* ---- the task that polls ---- */

static volatile int quit;

#if GASNET_PAR
static void *polling(void *nothing) {
    while (!quit) {
        gasnet_AMPoll();
        sched_yield();
    }
    return nothing;
}
#define IDLE() sched_yield() /* the task polls */
#else
#define IDLE() gasnet_AMPoll()
#endif

static void barrier(int id) {
    int status;
    gasnet_barrier_notify(id, 0);
    while ((status = gasnet_barrier_try(id, 0)) == GASNET_ERR_NOT_READY)
        IDLE();
    CHECK(status == GASNET_OK);
}

/* ---- messages, puts and gets ---- */

static void fork_everywhere(void) {
    done_t done = {0, 0, FORKS * size};
    struct fork f = {rank, 3, &done};
    for (int i = 0; i < FORKS; i++)
        for (int r = 0; r < size; r++)
            GASNET_SAFE(gasnet_AMRequestMedium0((gasnet_node_t)r, FORK, &f, sizeof f));
    while (!done.flag)
        IDLE();
    barrier('f');
    CHECK(forks == 3 * FORKS * size);
}

static void copy_to_next(void) {
    int next = (rank + 1) % size;
    done_t done = {0, 0, 1};
    char payload[100];
    memset(payload, rank + 1, sizeof payload);
    GASNET_SAFE(gasnet_AMRequestLong2((gasnet_node_t)next, COPY, payload, sizeof payload,
                                      (char *)segments[next].addr + 5000, LOW(&done), HIGH(&done)));
    GASNET_BLOCKUNTIL(done.flag);
    barrier('c');
    CHECK(copies == 1 && ((char *)segments[rank].addr)[5099] == (rank + size - 1) % size + 1);
    barrier('d');
}

static void puts_and_gets(void) {
    int next = (rank + 1) % size;
    uint64_t source[4] = {(uint64_t)rank, 1, 2, 3}, back[4] = {0};
    char *remote = (char *)segments[next].addr + SEGMENT - 4096;
    gex_Event_t events[2] = {
        gex_RMA_PutNB(team, (gex_Rank_t)next, remote, source, 16, GEX_EVENT_DEFER, 0),
        gex_RMA_PutNB(team, (gex_Rank_t)next, remote + 16, source + 2, 16, GEX_EVENT_DEFER, 0)};
    while (gex_Event_TestAll(events, 2, 0) != GASNET_OK)
        gex_Event_WaitSome(events, 2, 0);
    gasnet_get(back, (gasnet_node_t)next, remote, sizeof back);
    CHECK(memcmp(source, back, sizeof back) == 0);
    size_t count[1] = {4};
    ptrdiff_t near_by[1] = {8}, apart[1] = {64};
    gex_VIS_StridedPutBlocking(team, (gex_Rank_t)next, remote + 64, apart, source, near_by, 8, count, 1, 0);
    gex_VIS_StridedGetBlocking(team, back, near_by, (gex_Rank_t)next, remote + 64, apart, 8, count, 1, 0);
    CHECK(memcmp(source, back, sizeof back) == 0);
    barrier('p');
}

int main(void) {
    start();
#if GASNET_PAR
    pthread_t poller;
    CHECK(pthread_create(&poller, NULL, polling, NULL) == 0);
#endif
    barrier('s');
    fork_everywhere();
    copy_to_next();
    puts_and_gets();
    barrier('e');
    quit = 1;
#if GASNET_PAR
    pthread_join(poller, NULL);
#endif
    free(segments);
    gasnet_exit(0);
}
