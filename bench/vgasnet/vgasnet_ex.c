/* vgasnet_ex.c: compares calls of GASNet-EX with those of GASNet-1 that do the same: a get of 8 bytes that hits, a put, and
 * an active message with its reply to oneself, which takes no time of another process.
 *
 * Two ranks, each a node with segments in pages, or both on one node with HEARTH_NVM=off. Batches of both take turns,
 * because the clock is too coarse for one call.
 *
 *  Prints: operation,interface,samples,ns (median),its 95 % interval; and the least of all */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgasnet_nodes.h"
#include <gasnetex.h>

static const char help[] =
    "vgasnet_ex [OPTION]...   GASNet-EX beside GASNet-1; see the head of vgasnet_ex.c\n"
    "  --page 64k           bytes of a page; must equal HEARTH_PAGE_SIZE\n"
    "  --samples 5000       samples of each operation\n";

enum { ASKS, HOME, RANKS, BATCH = 32, ASK = 200, ANSWER = 201 };
enum { GET, PUT, MESSAGE, OPERATIONS };
static const char *const names[OPERATIONS] = {"get", "put", "message"};

static gex_TM_t all;
static gex_AM_Index_t ask_ex, answer_ex;
static char *there;
static uint64_t local;
static volatile int answers;

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

static void operate_old(int operation) {
    if (operation == GET)
        gasnet_get(&local, HOME, there, 8);
    else if (operation == PUT)
        gasnet_put(HOME, there, &local, 8);
    else {
        int before = answers;
        gasnet_AMRequestShort1((gasnet_node_t)nodes.rank, ASK, 1);
        while (answers == before)
            gasnet_AMPoll();
    }
}

static void operate_ex(int operation) {
    if (operation == GET)
        gex_RMA_GetBlocking(all, &local, HOME, there, 8, 0);
    else if (operation == PUT)
        gex_RMA_PutBlocking(all, HOME, there, &local, 8, 0);
    else {
        int before = answers;
        gex_AM_RequestShort1(all, (gex_Rank_t)nodes.rank, ask_ex, 0, 1);
        while (answers == before)
            gasnet_AMPoll();
    }
}

static double batch(int operation, void (*operate)(int)) {
    uint64_t start = rig_ticks();
    for (int i = 0; i < BATCH; i++)
        operate(operation);
    return rig_ns(start, rig_ticks()) / BATCH;
}

static void measure(int operation, long samples) {
    struct samples old = {0}, ex = {0};
    for (long i = -10; i < samples; i++) {
        double a = batch(operation, operate_old), b = batch(operation, operate_ex);
        if (i >= 0) {
            samples_add(&old, a);
            samples_add(&ex, b);
        }
    }
    double least[2] = {samples_least(&old), samples_least(&ex)};
    printf("%s,gasnet,", names[operation]);
    rig_print(&old);
    printf(",%.1f\n%s,gex,", least[0], names[operation]);
    rig_print(&ex);
    printf(",%.1f\n", least[1]);
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
}

int main(int argc, char **argv) {
    gasnet_handlerentry_t table[] = {{ASK, (void (*)())on_ask}, {ANSWER, (void (*)())on_answer}};
    rig_help(argc, argv, help);
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    nodes_start(argc, argv, 2 * nodes.page, table, 2);
    if (nodes.size != RANKS)
        nodes_stop("this program runs on two ranks");
    register_ex();
    there = nodes_at(HOME, 8);
    nodes_fill(HOME, nodes.page);
    if (nodes.rank == ASKS) {
        nodes_hold(HOME, 0, nodes.page, true);
        for (int i = 0; i < OPERATIONS; i++)
            measure(i, option(argc, argv, "--samples", 5000));
    }
    nodes_rest(nodes.rank == ASKS);
    nodes_end();
}
