/* vgasnet_small.c: measures how many message round trips a get and a put of 8 bytes take in a page that another
 * node has.
 *
 * Three ranks, each a node: rank 0 gets from and puts to rank 1's segment. The cases differ in where the pages are:
 *
 *      third       rank 2 has them, as on the NVM
 *      changed     rank 2 has them, newer than on the NVM
 *      both        ranks 1 and 2 have them
 *      home        rank 1, their home, has them
 *      nvm         no node has them
 *
 * Every page is used once, and the cases take turns, in another order each time, because the node that was used
 * last is awake. A round trip is a short active message with its reply, to rank 1, which waits for it;
 * armci_link measures the network alone. With HEARTH_NVM=off there is one case, "plain".
 *
 *  Prints: operation,where,page,samples,us (median),its 95 % interval */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "vgasnet_nodes.h"
#include "vgasnet_trip.h"

static const char help[] = "vgasnet_small [OPTION]...   small operations; see the head of vgasnet_small.c\n"
                           "  --page 64k      bytes of a page; must equal HEARTH_PAGE_SIZE\n"
                           "  --pages 100     pages of each case\n";

enum { ASKS, HOME, HOLDS, RANKS };
enum { THIRD, CHANGED, BOTH, AT_HOME, NVM, CASES };
static const char *const names[CASES] = {"third", "changed", "both", "home", "nvm"};

static size_t pages;

/* ---- a round trip ---- */

static double trip(void) {
    uint64_t start = clock_ns();
    given = 0;
    gasnet_AMRequestShort0(HOME, WANTED);
    GASNET_BLOCKUNTIL(given > 0);
    return (double)(clock_ns() - start) / 1000;
}

/* ---- operations ---- */

/* Of each case the first half of the pages is for gets, the second for puts. */
static size_t place(int which, bool puts, size_t i) {
    return ((size_t)which * 2 * pages + (puts ? pages : 0) + i) * nodes.page;
}

static double operate(int which, bool puts, size_t i) {
    size_t at = place(which, puts, i);
    uint64_t word = i, start = clock_ns();
    if (puts)
        gasnet_put(HOME, nodes_at(HOME, at), &word, sizeof word);
    else
        gasnet_get(&word, HOME, nodes_at(HOME, at), sizeof word);
    uint64_t end = clock_ns();
    if (!puts)
        nodes_verify((char *)&word, at, sizeof word);
    return (double)(end - start) / 1000;
}

static void verify_puts(int cases) {
    for (size_t i = 0; i < pages; i++)
        for (int c = 0; c < cases; c++) {
            uint64_t word = ~i;
            gasnet_get(&word, HOME, nodes_at(HOME, place(c, true, i)), sizeof word);
            if (word != i)
                nodes_stop("a put was lost");
        }
}

static void hold_pages(void) {
    size_t part = 2 * pages * nodes.page;
    if (nodes.rank == HOLDS) {
        nodes_hold(HOME, THIRD * part, part, false);
        nodes_hold(HOME, CHANGED * part, part, true);
        nodes_hold(HOME, BOTH * part, part, false);
    }
    nodes_rest(nodes.rank == HOLDS);
    if (nodes.rank == HOME) {
        nodes_hold(HOME, BOTH * part, part, false);
        nodes_hold(HOME, AT_HOME * part, part, false);
    }
    nodes_rest(nodes.rank == HOME);
}

static void print(const char *operation, const char *where, struct samples *s) {
    printf("%s,%s,%zu,", operation, where, nodes.page);
    rig_print(s);
    printf("\n");
}

static void shuffle(int *order, int count, struct random *dice) {
    for (int i = count - 1; i > 0; i--) {
        int j = (int)random_below(dice, (uint32_t)i + 1), other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

/* An operation's number is twice its case, plus one for a put. */
static void measure(int cases) {
    struct samples s[2 * CASES] = {{0}};
    struct random dice;
    int order[2 * CASES];
    random_seed(&dice, 1);
    for (int o = 0; o < 2 * cases; o++)
        order[o] = o;
    for (size_t i = 0; i < pages; i++) {
        shuffle(order, 2 * cases, &dice);
        for (int o = 0; o < 2 * cases; o++)
            samples_add(&s[order[o]], operate(order[o] / 2, order[o] % 2, i));
    }
    for (int o = 0; o < 2 * cases; o++)
        print(o % 2 ? "put" : "get", nodes.paged ? names[o / 2] : "plain", &s[o]);
}

static void measure_trips(void) {
    struct samples s = {0};
    for (size_t i = 0; i < 10 * pages; i++)
        samples_add(&s, trip());
    print("message", "home", &s);
    gasnet_AMRequestShort0(HOME, OVER);
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    pages = (size_t)option(argc, argv, "--pages", 100);
    nodes_start(argc, argv, CASES * 2 * pages * nodes.page, handlers, sizeof handlers / sizeof *handlers);
    if (nodes.size != RANKS)
        nodes_stop("this program runs on three ranks: the requester, the home, and the holder");
    int cases = nodes.paged ? CASES : 1;
    nodes_fill(HOME, CASES * 2 * pages * nodes.page);
    if (nodes.paged)
        hold_pages();
    if (nodes.rank == ASKS)
        measure(cases);
    nodes_rest(nodes.rank == ASKS);
    if (nodes.rank == ASKS)
        measure_trips();
    else if (nodes.rank == HOME)
        GASNET_BLOCKUNTIL(over > 0);
    nodes_rest(nodes.rank != HOLDS);
    if (nodes.rank == ASKS)
        verify_puts(cases);
    nodes_rest(nodes.rank == ASKS);
    nodes_end();
}
