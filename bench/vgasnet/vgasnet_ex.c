/* vgasnet_ex.c: compares calls of GASNet-EX with those of GASNet-1 that do the same:
 *
 *      get, put    of 8 bytes that hit
 *      message     an active message with its reply to oneself, which takes no time of another process
 *      trip        the same to the other rank, which waits for it
 *
 * and atomic operations with what they would take otherwise:
 *
 *      remote get, fetch    8 bytes, and a fetch-and-add, of a page that the other rank has, which sleeps: the page stays
 *      shared               a fetch-and-add on one word by both ranks for a while. With HEARTH_REMOTE_OP_MAX=0 its page moves
 *                           from one to the other
 *
 * Two ranks, each a node or both on one node, with segments in pages or with HEARTH_NVM=off, where gets and puts to another
 * node do not hit and need fewer samples.
 *
 * Short batches of the two that are compared take turns, and which of them is first alternates. What both suffer, such as
 * other processes, then cancels out of the ratio and the difference of two neighbouring batches, whose medians are printed.
 *
 *  Prints: operation,interface,samples,ns (median),its 95 % interval; and the least of all; of shared the mean only. The
 *  interfaces "difference" (ns) and "ratio" are those of gex to gasnet, and of a fetch to a remote get */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vgasnet_nodes.h"
#include <gasnetex.h>

static const char help[] =
    "vgasnet_ex [OPTION]...   GASNet-EX beside GASNet-1; see the head of vgasnet_ex.c\n"
    "  --page 64k           bytes of a page; must equal HEARTH_PAGE_SIZE\n"
    "  --samples 5000       samples of get, put and message\n"
    "  --trips 500          samples of trip, remote get and fetch\n";

enum { ASKS, HOME, RANKS, BATCH = 32, ASK = 200, ANSWER, OVER, SHARED_MS = 500 };
enum { GET, PUT, MESSAGE, TRIP };
static const char *const names[] = {"get", "put", "message", "trip"};

static gex_TM_t all;
static gex_AM_Index_t ask_ex, answer_ex;
static gex_AD_t counters;
static char *there;
static uint64_t local;
static volatile int answers, over;

static void on_ask(gasnet_token_t token, gasnet_handlerarg_t value) {
    gasnet_AMReplyShort1(token, ANSWER, value);
}

static void on_ask_ex(gex_Token_t token, gex_AM_Arg_t value) {
    gex_AM_ReplyShort1(token, answer_ex, 0, value);
}

static void on_answer(gasnet_token_t token, gasnet_handlerarg_t value) {
    (void)token;
    answers += value;
}

static void on_over(gasnet_token_t token) {
    (void)token;
    over++;
}

static int rank_asked(int operation) {
    return operation == TRIP ? HOME : nodes.rank;
}

/* A rank that waits for another one sleeps: they may share a core. */
static void await_answer(int operation, int before) {
    if (operation == TRIP)
        GASNET_BLOCKUNTIL(answers != before);
    while (answers == before)
        gasnet_AMPoll();
}

static void operate_old(int operation) {
    if (operation == GET)
        gasnet_get(&local, HOME, there, 8);
    else if (operation == PUT)
        gasnet_put(HOME, there, &local, 8);
    else {
        int before = answers;
        gasnet_AMRequestShort1((gasnet_node_t)rank_asked(operation), ASK, 1);
        await_answer(operation, before);
    }
}

static void operate_ex(int operation) {
    if (operation == GET)
        gex_RMA_GetBlocking(all, &local, HOME, there, 8, 0);
    else if (operation == PUT)
        gex_RMA_PutBlocking(all, HOME, there, &local, 8, 0);
    else {
        int before = answers;
        gex_AM_RequestShort1(all, (gex_Rank_t)rank_asked(operation), ask_ex, 0, 1);
        await_answer(operation, before);
    }
}

static double batch(int operation, void (*operate)(int)) {
    int count = operation == TRIP ? BATCH / 8 : BATCH;
    uint64_t start = rig_ticks();
    for (int i = 0; i < count; i++)
        operate(operation);
    return rig_ns(start, rig_ticks()) / count;
}

/* Two that are compared: a sample is the times of neighbouring batches. */
struct comparison {
    struct samples base, other, difference, ratio;
};

static void comparison_add(struct comparison *c, double base, double other) {
    samples_add(&c->base, base);
    samples_add(&c->other, other);
    samples_add(&c->difference, other - base);
    samples_add(&c->ratio, other / base);
}

static void print_samples(const char *operation, const char *interface, struct samples *s) {
    double least = samples_least(s);
    printf("%s,%s,", operation, interface);
    rig_print(s);
    printf(",%.6g\n", least);
}

static void comparison_print(struct comparison *c, const char *base, const char *base_interface,
                             const char *other) {
    print_samples(base, base_interface, &c->base);
    print_samples(other, "gex", &c->other);
    print_samples(other, "difference", &c->difference);
    print_samples(other, "ratio", &c->ratio);
}

static void measure(int operation, long samples) {
    struct comparison c = {0};
    for (long i = -10; i < samples; i++) {
        bool swapped = i & 1;
        double first = batch(operation, swapped ? operate_ex : operate_old),
               second = batch(operation, swapped ? operate_old : operate_ex);
        if (i >= 0)
            comparison_add(&c, swapped ? second : first, swapped ? first : second);
    }
    comparison_print(&c, names[operation], "gasnet", names[operation]);
}

/* ---- atomic operations ---- */

static double remote_get(char *word) {
    uint64_t start = rig_ticks();
    gex_RMA_GetBlocking(all, &local, HOME, word, 8, 0);
    return rig_ns(start, rig_ticks());
}

static double remote_fetch(char *word) {
    uint64_t start = rig_ticks(), old = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(counters, &old, HOME, word, GEX_OP_FADD, 1, 0, 0));
    return rig_ns(start, rig_ticks());
}

/* The page stays at the other rank, whatever this one does. */
static void measure_remote(long samples) {
    struct comparison c = {0};
    char *word = nodes_at(HOME, nodes.page + 8);
    if (nodes.paged)
        vgasnet_hint(HOME, nodes_at(HOME, nodes.page), nodes.page, VGASNET_HINT_NO_CACHE);
    for (long i = -10; i < samples; i++) {
        bool swapped = i & 1;
        double first = swapped ? remote_fetch(word) : remote_get(word + 8),
               second = swapped ? remote_get(word + 8) : remote_fetch(word);
        if (i >= 0)
            comparison_add(&c, swapped ? second : first, swapped ? first : second);
    }
    comparison_print(&c, "remote get", "gex", "fetch");
}

/* Both ranks; every value is fetched once. */
static void measure_shared(void) {
    char *word = nodes_at(HOME, 2 * nodes.page);
    uint64_t old = 0, count = 0, sum[2], mine[2] = {0}, start = clock_ns();
    if (nodes.rank == HOME)
        gex_RMA_PutBlockingVal(all, HOME, word, 0, 8, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(all, 0));
    for (start = clock_ns(); clock_ns() - start < (uint64_t)SHARED_MS * 1000000; count++) {
        gex_Event_Wait(gex_AD_OpNB_U64(counters, &old, HOME, word, GEX_OP_FADD, 1, 0, 0));
        mine[1] += old;
    }
    double ns = (double)(clock_ns() - start);
    mine[0] = count;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(all, sum, mine, GEX_DT_U64, 8, 2, GEX_OP_ADD, NULL, NULL, 0));
    if (sum[1] != sum[0] * (sum[0] - 1) / 2)
        nodes_stop("a fetch-and-add was lost");
    if (nodes.rank == ASKS)
        printf("shared,gex,%llu,%.1f,,,\n", (unsigned long long)sum[0], ns / (double)sum[0]);
}

static void register_ex(void) {
    gex_EP_t ep;
    gex_AM_Entry_t table[] = {
        {0, (gex_AM_Fn_t)on_ask_ex, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "on_ask"},
        {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "on_answer"}};
    gasnet_QueryGexObjects(NULL, &ep, &all, NULL);
    if (gex_EP_RegisterHandlers(ep, table, 2) != GASNET_OK)
        nodes_stop("the handlers cannot be registered");
    ask_ex = table[0].gex_index;
    answer_ex = table[1].gex_index;
    gex_AD_Create(&counters, all, GEX_DT_U64, GEX_OP_FADD, 0);
}

/* The other rank waits for messages meanwhile, and sleeps otherwise. */
static void measure_all(long samples, long trips) {
    for (int i = GET; i <= MESSAGE; i++)
        measure(i, samples);
    measure(TRIP, trips);
    gasnet_AMRequestShort0(HOME, OVER);
}

int main(int argc, char **argv) {
    gasnet_handlerentry_t table[] = {
        {ASK, (void (*)())on_ask}, {ANSWER, (void (*)())on_answer}, {OVER, (void (*)())on_over}};
    rig_help(argc, argv, help);
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    nodes_start(argc, argv, 3 * nodes.page, table, 3);
    if (nodes.size != RANKS)
        nodes_stop("this program runs on two ranks");
    long samples = option(argc, argv, "--samples", 5000), trips = option(argc, argv, "--trips", 500);
    register_ex();
    there = nodes_at(HOME, 8);
    nodes_fill(HOME, 3 * nodes.page);
    if (nodes.rank == HOME)
        nodes_hold(HOME, nodes.page, 2 * nodes.page, true);
    nodes_rest(nodes.rank == HOME);
    if (nodes.rank == ASKS) {
        nodes_hold(HOME, 0, nodes.page, true);
        measure_all(samples, trips);
    } else
        GASNET_BLOCKUNTIL(over > 0);
    nodes_barrier();
    if (nodes.rank == ASKS)
        measure_remote(trips);
    nodes_rest(nodes.rank == ASKS);
    measure_shared();
    nodes_end();
}
