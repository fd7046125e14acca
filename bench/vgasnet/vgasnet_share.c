/* vgasnet_share.c: measures false sharing: all ranks repeatedly put one byte each into the same page of rank 0
 * (Fig. 10).
 *
 * --way put: by gasnet_put. --way message: by an active message whose handler writes the byte, and its reply.
 * All ranks put at the same time, once, with a barrier before the next round; only the puts are timed. With
 * --free there is no barrier, and they put as fast as they can: a rank that has the page then puts many times
 * before it loses the page. At the end every byte is what its rank wrote last.
 *
 *  Prints: way,free (0 or 1),ranks,rounds,us per put of a rank other than the home (of the rounds' means the median;
 *  free: mean),its 95 % interval,puts of all,and totals of all nodes: hits,smalls,pages from peers,from home,NVM
 *  reads,NVM writes,messages */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vgasnet_nodes.h"

static const char help[] = "vgasnet_share [OPTION]...   false sharing; see the head of vgasnet_share.c\n"
                           "  --page 64k           bytes of a page; must equal HEARTH_PAGE_SIZE\n"
                           "  --way put            way of writing: put or message\n"
                           "  --rounds 100\n"
                           "  --free               without rounds\n"
                           "  --milliseconds N     time limit; with --free: duration\n";

enum { HOME = 0, WRITE = 130, WRITTEN, COUNTS = 7, APART = 64 };

static volatile int replies;

static void on_write(gasnet_token_t token, gasnet_handlerarg_t offset, gasnet_handlerarg_t value) {
    *nodes_at(nodes.rank, (size_t)offset) = (char)value;
    gasnet_AMReplyShort0(token, WRITTEN);
}

static void on_written(gasnet_token_t token) {
    (void)token;
    replies++;
}

static gasnet_handlerentry_t handlers[] = {{WRITE, (void (*)())on_write}, {WRITTEN, (void (*)())on_written}};

static size_t place(int rank) {
    return (size_t)rank * APART;
}

static void put(char value, bool by_message) {
    if (!by_message) {
        gasnet_put(HOME, nodes_at(HOME, place(nodes.rank)), &value, 1);
        return;
    }
    replies = 0;
    if (gasnet_AMRequestShort2(HOME, WRITE, (gasnet_handlerarg_t)place(nodes.rank), value) != GASNET_OK)
        nodes_stop("a request failed");
    GASNET_BLOCKUNTIL(replies > 0);
}

/* ---- rounds ---- */

static char last;

static double timed_put(bool by_message) {
    uint64_t start = clock_ns();
    put(++last, by_message);
    return (double)(clock_ns() - start) / 1000;
}

/* Whether all ranks have time left: all must stop after the same round. */
static bool go_on(uint64_t end) {
    int late = clock_ns() > end, any = 0;
    MPI_Allreduce(&late, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return !any;
}

static double *put_in_rounds(bool by_message, long *rounds, uint64_t end) {
    enum { LOOK = 16 };
    double *us = need(calloc((size_t)*rounds, sizeof *us));
    long i = 0;
    for (; i < *rounds; i++) {
        nodes_barrier(); /* a rank that waits in MPI answers no messages: all must be past the round */
        if (i % LOOK == 0 && !go_on(end))
            break;
        us[i] = timed_put(by_message);
    }
    *rounds = i;
    return us;
}

static double *put_freely(bool by_message, long *rounds, uint64_t end) {
    double *us = need(calloc(1, sizeof *us));
    uint64_t start = clock_ns(), now = start;
    long puts = 0;
    nodes_barrier();
    for (; now < end; now = clock_ns(), puts++)
        put(++last, by_message);
    us[0] = (double)(now - start) / 1000 / (double)puts;
    *rounds = puts;
    return us;
}

static void verify(void) {
    char got = 0;
    gasnet_get(&got, HOME, nodes_at(HOME, place(nodes.rank)), 1);
    if (got != last)
        nodes_stop("the last put was lost");
}

/* ---- results ---- */

struct counts {
    double of[COUNTS];
};

static struct counts count_now(void) {
    vgasnet_stats_t s;
    vgasnet_stats(&s);
    return (struct counts){{(double)s.hits, (double)s.smalls, (double)s.from_peers, (double)s.from_home,
                            (double)s.nvm_reads, (double)s.nvm_writes, (double)s.messages}};
}

/* For each round, the mean of the ranks other than the home. */
static void gather(const double *us, long count, struct samples *s) {
    double *all = need(calloc((size_t)(count * nodes.size), sizeof *all));
    MPI_Gather(us, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, HOME, MPI_COMM_WORLD);
    for (long i = 0; i < count && nodes.rank == HOME; i++) {
        double sum = 0;
        for (int r = 1; r < nodes.size; r++)
            sum += all[r * count + i];
        samples_add(s, sum / (nodes.size - 1));
    }
    free(all);
}

static void report(const char *way, bool freely, const double *us, long rounds, const struct counts *done) {
    struct samples s = {0};
    struct counts all;
    double mine = (double)rounds, puts = 0;
    gather(us, freely ? 1 : rounds, &s);
    MPI_Reduce(&mine, &puts, 1, MPI_DOUBLE, MPI_SUM, HOME, MPI_COMM_WORLD);
    MPI_Reduce(done->of, all.of, COUNTS, MPI_DOUBLE, MPI_SUM, HOME, MPI_COMM_WORLD);
    if (nodes.rank != HOME)
        return;
    printf("%s,%d,%d,", way, freely, nodes.size);
    rig_print(&s);
    printf(",%.0f", puts);
    for (int i = 0; i < COUNTS; i++)
        printf(",%.0f", all.of[i]);
    printf("\n");
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    const char *way = rig_word(argc, argv, "--way", "put");
    bool by_message = !strcmp(way, "message"), freely = rig_flag(argc, argv, "--free");
    long rounds = option(argc, argv, "--rounds", 100);
    nodes_start(argc, argv, nodes_size(argc, argv, "--page", "64k"), handlers,
                sizeof handlers / sizeof *handlers);
    if (!rig_named("put,message", way) || place(nodes.size) > nodes.page || nodes.size < 2)
        nodes_stop("--way must be put or message, a page must have room for all ranks, and at least two "
                   "ranks are needed");
    put(0, by_message); /* opens the connections */
    nodes_barrier();
    struct counts before = count_now(), done;
    uint64_t end = clock_ns() + (uint64_t)option(argc, argv, "--milliseconds", 3000) * 1000000;
    double *us = (freely ? put_freely : put_in_rounds)(by_message, &rounds, end);
    nodes_barrier(); /* answers messages while it waits */
    done = count_now();
    for (int i = 0; i < COUNTS; i++)
        done.of[i] -= before.of[i];
    verify();
    report(way, freely, us, rounds, &done);
    free(us);
    nodes_end();
}
