/* vgasnet_fetch.c: measures fetching a page from the NVM, from its home's memory, and from a third node (Fig.
 * 7).
 *
 * Three ranks, each a node: rank 0 gets from rank 1's segment. One part of it is in no node's memory ("nvm"),
 * one part in that of its home ("home"), one part in that of rank 2 alone ("coop"). The three take turns, piece
 * by piece; every piece is fetched once. With --row each part is fetched in sequence instead, so that the
 * library may read ahead; a sample is the part without its first quarter. With HEARTH_NVM=off there is one part, "plain". The pool
 * must hold all three parts. With --warm rank 0 first gets this many bytes of zeros that were never written:
 * its whole pool is then in use, and each fetch evicts a page, as in a long-running program.
 *
 *  Prints: case,page,piece,row (0 or 1),samples,us per piece (median),its 95 % interval,MB/s */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "vgasnet_nodes.h"

static const char help[] = "vgasnet_fetch [OPTION]...   fetching pages; see the head of vgasnet_fetch.c\n"
                           "  --page 64k      bytes of a page; must equal HEARTH_PAGE_SIZE\n"
                           "  --piece 64k     bytes of a get; default: a page\n"
                           "  --pieces 16     pieces of each case\n"
                           "  --warm 0        bytes that are fetched before\n"
                           "  --row           fetch each case in sequence\n";

enum { ASKS, HOME, HOLDS, RANKS };
enum { NVM, AT_HOME, COOP, CASES };
static const char *const names[CASES] = {"nvm", "home", "coop"};

static size_t piece, pieces;
static char *buffer;

static size_t part_bytes(void) {
    return round_up(piece * pieces, nodes.page);
}

static size_t place(int which, size_t i) {
    return (size_t)which * part_bytes() + i * piece;
}

static double fetch(int which, size_t i) {
    uint64_t start = clock_ns();
    gasnet_get_bulk(buffer, HOME, nodes_at(HOME, place(which, i)), piece);
    uint64_t end = clock_ns();
    nodes_verify(buffer, place(which, i), piece);
    return (double)(end - start) / 1000;
}

static void print(int which, bool row, struct samples *s) {
    struct median m = samples_median(s);
    printf("%s,%zu,%zu,%d,%zu,%.6g,%.6g,%.6g,%.6g\n", nodes.paged ? names[which] : "plain", nodes.page, piece,
           row, s->count, m.value, m.low, m.high, (double)piece / m.value);
    samples_free(s);
}

static void measure_in_turn(int cases) {
    struct samples s[CASES] = {{0}};
    for (size_t i = 0; i < pieces; i++)
        for (int c = 0; c < cases; c++)
            samples_add(&s[c], fetch(c, i));
    for (int c = 0; c < cases; c++)
        print(c, false, &s[c]);
}

static void fetch_row(char *into, int which, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        gasnet_get_bulk(into + i * piece, HOME, nodes_at(HOME, place(which, i)), piece);
}

/* Prefetched pieces take no time of their own: the row is one sample, and nothing else is done meanwhile. Its first quarter opens
 * the connection to the node that holds the part, and starts the read-ahead. */
static void measure_in_row(int cases) {
    size_t lead = pieces / 4;
    char *all = need(calloc(pieces, piece));
    memset(all, 1, pieces * piece); /* backs the buffer with memory */
    for (int c = 0; c < cases; c++) {
        struct samples s = {0};
        fetch_row(all, c, 0, lead);
        uint64_t start = clock_ns();
        fetch_row(all, c, lead, pieces);
        samples_add(&s, (double)(clock_ns() - start) / 1000 / (double)(pieces - lead));
        for (size_t i = 0; i < pieces; i++)
            nodes_verify(all + i * piece, place(c, i), piece);
        print(c, true, &s);
    }
    free(all);
}

static void warm_up(size_t bytes) {
    for (size_t at = 0; at < bytes; at += nodes.page)
        gasnet_get_bulk(buffer, HOME, nodes_at(HOME, CASES * part_bytes() + at), nodes.page);
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    piece = nodes_size(argc, argv, "--piece", rig_word(argc, argv, "--page", "64k"));
    pieces = (size_t)option(argc, argv, "--pieces", 16);
    size_t warm = nodes_size(argc, argv, "--warm", "0");
    nodes_start(argc, argv, CASES * part_bytes() + warm, NULL, 0);
    if (nodes.size != RANKS)
        nodes_stop("this program runs on three ranks: the requester, the home, and the holder");
    buffer = need(calloc(1, piece > nodes.page ? piece : nodes.page));
    nodes_fill(HOME, CASES * part_bytes());
    if (nodes.rank == HOME)
        nodes_hold(HOME, AT_HOME * part_bytes(), part_bytes(), false);
    if (nodes.rank == HOLDS)
        nodes_hold(HOME, COOP * part_bytes(), part_bytes(), false);
    nodes_rest(nodes.rank != ASKS);
    if (nodes.rank == ASKS && nodes.paged)
        warm_up(warm);
    if (nodes.rank == ASKS && rig_flag(argc, argv, "--row"))
        measure_in_row(nodes.paged ? CASES : 1);
    else if (nodes.rank == ASKS)
        measure_in_turn(nodes.paged ? CASES : 1);
    nodes_rest(nodes.rank == ASKS);
    nodes_end();
}
