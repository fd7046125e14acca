/* vgasnet_near.c: measures a put, a get and an active message between two ranks of a node with segments in memory.
 *
 * Two ranks on one node, HEARTH_NVM=off: rank 0 measures. A put or get is a copy in memory that both have mapped. A
 * round trip is a short request and its reply, while rank 1 polls; one to rank 0 itself moves no cache line between
 * cores. The operations take turns, several at a time, because the clock is too coarse for one.
 *
 * Prints: operation,bytes,samples,ns (median),its 95 % interval */
#include <stdio.h>
#include <stdlib.h>

#include "vgasnet_nodes.h"
#include "vgasnet_trip.h"

static const char help[] =
    "vgasnet_near [OPTION]...   operations inside a node; see the head of vgasnet_near.c\n"
    "  --samples 2000       of each operation\n"
    "  --operations all     or some of get,put,trip,self\n";

enum { ASKS, HOME, RANKS };
enum { GET, PUT, TRIP, SELF, OPERATIONS };
enum { COPIES = 256, TRIPS = 16, PLACES = 64 };
static const char *const names[OPERATIONS] = {"get", "put", "trip", "self"};

static void make_trip(gasnet_node_t to) {
    given = 0;
    gasnet_AMRequestShort0(to, WANTED);
    while (given == 0)
        gasnet_AMPoll();
}

static double get_batch(uint64_t *words) {
    uint64_t start = rig_ticks();
    for (size_t i = 0; i < COPIES; i++)
        gasnet_get(&words[i % PLACES], HOME, nodes_at(HOME, i % PLACES * 8), 8);
    return rig_ns(start, rig_ticks()) / COPIES;
}

static double put_batch(uint64_t *words) {
    uint64_t start = rig_ticks();
    for (size_t i = 0; i < COPIES; i++)
        gasnet_put(HOME, nodes_at(HOME, i % PLACES * 8), &words[i % PLACES], 8);
    return rig_ns(start, rig_ticks()) / COPIES;
}

static double trip_batch(gasnet_node_t to) {
    uint64_t start = rig_ticks();
    for (size_t i = 0; i < TRIPS; i++)
        make_trip(to);
    return rig_ns(start, rig_ticks()) / TRIPS;
}

static double batch(int operation) {
    static uint64_t words[PLACES];
    switch (operation) {
    case GET:
        return get_batch(words);
    case PUT:
        return put_batch(words);
    default:
        return trip_batch(operation == SELF ? ASKS : HOME);
    }
}

static void verify(void) {
    for (uint64_t i = 0, back; i < PLACES; i++) {
        gasnet_put(HOME, nodes_at(HOME, i * 8), &i, 8);
        gasnet_get(&back, HOME, nodes_at(HOME, i * 8), 8);
        if (back != i)
            nodes_stop("a put is not there");
    }
}

static void measure(const char *wanted, long samples) {
    struct samples s[OPERATIONS] = {{0}};
    for (long i = -10; i < samples; i++)
        for (int o = 0; o < OPERATIONS; o++) {
            double ns = rig_named(wanted, names[o]) ? batch(o) : 0;
            if (i >= 0)
                samples_add(&s[o], ns);
        }
    for (int o = 0; o < OPERATIONS; o++)
        if (rig_named(wanted, names[o])) {
            printf("%s,%d,", names[o], o == GET || o == PUT ? 8 : 0);
            rig_print(&s[o]);
            printf("\n");
        }
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    nodes_start(argc, argv, GASNET_PAGESIZE, handlers, sizeof handlers / sizeof *handlers);
    if (nodes.size != RANKS || nodes.paged)
        nodes_stop("this program runs on two ranks, with HEARTH_NVM=off");
    rig_take_core(nodes.rank);
    if (nodes.rank == ASKS) {
        verify();
        measure(rig_word(argc, argv, "--operations", "all"), option(argc, argv, "--samples", 2000));
        gasnet_AMRequestShort0(HOME, OVER);
    } else {
        while (over == 0)
            gasnet_AMPoll();
    }
    nodes_end();
}
