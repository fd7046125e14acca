/* vgasnet_hit.c: compares a get and a put whose page is in the node's memory with a memcpy of as many bytes.
 *
 * Two ranks, each a node: rank 0 has fetched all pages of one part of rank 1's segment, and has write access to
 * those of another. The memcpy is between own memory of the same size that is walked in the same way. The three
 * take turns, several operations at a time, because the clock is too coarse for one.
 *
 *  Prints: operation,page,bytes,samples,ns (median),its 95 % interval */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "vgasnet_nodes.h"

static const char help[] = "vgasnet_hit [OPTION]...   hits in the pool; see the head of vgasnet_hit.c\n"
                           "  --page 64k           bytes of a page; must equal HEARTH_PAGE_SIZE\n"
                           "  --sizes 8,64,...     bytes of an operation, up to a page\n"
                           "  --bytes 1m           size of each part\n"
                           "  --samples 2000       samples of each size\n";

enum { ASKS, HOME, RANKS, BATCH = 16 };
enum { GET, PUT, COPY, OPERATIONS };
static const char *const names[OPERATIONS] = {"get", "put", "memcpy"};

static size_t part;
static char *here, *local;

static void operate(int operation, size_t at, size_t bytes) {
    if (operation == GET)
        gasnet_get(local, HOME, nodes_at(HOME, at), bytes);
    else if (operation == PUT)
        gasnet_put(HOME, nodes_at(HOME, part + at), local, bytes);
    else
        memcpy(local, here + at, bytes);
}

/* A batch uses the same offsets for all three, so that CPU caches favour none. */
static double batch(int operation, size_t first, size_t bytes) {
    uint64_t start = rig_ticks();
    for (size_t i = 0; i < BATCH; i++)
        operate(operation, (first + i * nodes.page) % part, bytes);
    return rig_ns(start, rig_ticks()) / BATCH;
}

static void measure(size_t bytes, long samples) {
    struct samples s[OPERATIONS] = {{0}};
    struct random dice;
    random_seed(&dice, bytes);
    for (long i = -10; i < samples; i++) {
        size_t first = random_below(&dice, (uint32_t)((nodes.page - bytes) / 64 + 1)) * (size_t)64;
        for (int o = 0; o < OPERATIONS; o++) {
            double ns = batch(o, first, bytes);
            if (i >= 0)
                samples_add(&s[o], ns);
        }
    }
    for (int o = 0; o < OPERATIONS; o++) {
        printf("%s,%zu,%zu,", names[o], nodes.page, bytes);
        rig_print(&s[o]);
        printf("\n");
    }
}

static void measure_all(int argc, char **argv) {
    long sizes[RIG_LIST], samples = option(argc, argv, "--samples", 2000);
    unsigned count = rig_list(rig_word(argc, argv, "--sizes", "8,64,512,4k,16k,64k"), sizes);
    vgasnet_stats_t before, after;
    nodes_hold(HOME, 0, part, false);
    nodes_hold(HOME, part, part, true);
    vgasnet_stats(&before);
    for (unsigned i = 0; i < count; i++)
        if ((size_t)sizes[i] <= nodes.page)
            measure((size_t)sizes[i], samples);
    vgasnet_stats(&after);
    if (after.misses != before.misses || after.smalls != before.smalls)
        nodes_stop("not all were hits: the pool is too small");
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    part = round_up(nodes_size(argc, argv, "--bytes", "1m"), nodes.page);
    nodes_start(argc, argv, 2 * part, NULL, 0);
    if (nodes.size != RANKS || !nodes.paged)
        nodes_stop("this program runs on two ranks, with HEARTH_NVM=on");
    here = need(aligned_alloc(nodes.page, part));
    memset(here, 1, part); /* otherwise all of it would be one page of zeros */
    local = need(calloc(1, nodes.page));
    nodes_fill(HOME, 2 * part);
    if (nodes.rank == ASKS)
        measure_all(argc, argv);
    nodes_rest(nodes.rank == ASKS);
    nodes_end();
}
