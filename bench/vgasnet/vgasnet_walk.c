/* vgasnet_walk.c: all ranks get one rank's segment, in order or shuffled, several times (Figs. 8 and 9).
 *
 * Every rank, including the home, gets the first `bytes` of rank 0's segment, piece by piece. Orders:
 *
 *      sequence    from the first to the last piece
 *      shuffle     each piece once, in an order of each rank's own, another one in each pass
 *      random      pieces at random positions, as many as --gets
 *
 *  Prints for each pass: order,page,piece,bytes,ranks,pass,MB/s of all ranks together,us per get (mean of the
 *  ranks),and totals of all nodes: hits,misses,smalls,from NVM,from home,from peers,NVM reads,evicted,messages */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "vgasnet_nodes.h"

static const char help[] = "vgasnet_walk [OPTION]...   all get one segment; see the head of vgasnet_walk.c\n"
                           "  --page 64k           bytes of a page; must equal HEARTH_PAGE_SIZE\n"
                           "  --piece 64k          bytes of a get; default: a page\n"
                           "  --bytes 16m          size of the data, all of which each rank gets\n"
                           "  --order sequence     sequence, shuffle or random\n"
                           "  --passes 3\n"
                           "  --gets 1000          gets of each rank in each pass, if random\n"
                           "  --seed 1\n";

enum { HOME = 0, COUNTS = 9 };

static size_t piece, bytes;
static uint32_t *order; /* of pieces */
static size_t count;
static char *buffer;
static struct random dice;

static void shuffle(void) {
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = random_below(&dice, (uint32_t)i + 1);
        uint32_t other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

static void lay_out(const char *way, size_t gets) {
    size_t pieces = bytes / piece;
    bool random = !strcmp(way, "random");
    count = random ? gets : pieces;
    order = need(calloc(count, sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = random ? random_below(&dice, (uint32_t)pieces) : (uint32_t)i;
}

/* ---- counters of all nodes ---- */

struct counts {
    double of[COUNTS];
};

static struct counts count_now(void) {
    vgasnet_stats_t s;
    vgasnet_stats(&s);
    return (struct counts){{(double)s.hits, (double)s.misses, (double)s.smalls, (double)s.from_nvm,
                            (double)s.from_home, (double)s.from_peers, (double)s.nvm_reads, (double)s.evicted,
                            (double)s.messages}};
}

/* ---- a pass ---- */

static double walk(void) {
    uint64_t start = clock_ns();
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)order[i] * piece;
        gasnet_get_bulk(buffer, HOME, nodes_at(HOME, at), piece);
        nodes_verify(buffer, at, piece);
    }
    return (double)(clock_ns() - start) / 1000;
}

static void print(const char *way, int pass, double *us, const struct counts *done) {
    double most = 0, sum = 0;
    for (int i = 0; i < nodes.size; i++) {
        most = us[i] > most ? us[i] : most;
        sum += us[i];
    }
    printf("%s,%zu,%zu,%zu,%d,%d,%.6g,%.6g", way, nodes.page, piece, bytes, nodes.size, pass,
           (double)(count * piece) * nodes.size / most, sum / nodes.size / (double)count);
    for (int i = 0; i < COUNTS; i++)
        printf(",%.0f", done->of[i]);
    printf("\n");
}

static void pass(const char *way, int number) {
    double *us = need(calloc((size_t)nodes.size, sizeof *us));
    struct counts before, done, all;
    if (!strcmp(way, "shuffle"))
        shuffle();
    before = count_now();
    nodes_barrier();
    double mine = walk();
    nodes_rest(nodes.rank == HOME);
    done = count_now();
    for (int i = 0; i < COUNTS; i++)
        done.of[i] -= before.of[i];
    MPI_Reduce(done.of, all.of, COUNTS, MPI_DOUBLE, MPI_SUM, HOME, MPI_COMM_WORLD);
    nodes_collect(mine, us);
    if (nodes.rank == HOME)
        print(way, number, us, &all);
    free(us);
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    const char *way = rig_word(argc, argv, "--order", "sequence");
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    piece = nodes_size(argc, argv, "--piece", rig_word(argc, argv, "--page", "64k"));
    bytes = round_up(nodes_size(argc, argv, "--bytes", "16m"), piece > nodes.page ? piece : nodes.page);
    nodes_start(argc, argv, bytes, NULL, 0);
    if (!rig_named("sequence,shuffle,random", way) || piece < sizeof(uint64_t))
        nodes_stop("--order must be sequence, shuffle or random, and a piece at least 8 bytes");
    random_seed(&dice, (uint64_t)option(argc, argv, "--seed", 1) * 1000 + (uint64_t)nodes.rank);
    buffer = need(calloc(1, piece));
    lay_out(way, (size_t)option(argc, argv, "--gets", 1000));
    nodes_fill(HOME, bytes);
    for (int i = 1; i <= option(argc, argv, "--passes", 3); i++)
        pass(way, i);
    nodes_end();
}
