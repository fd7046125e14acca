/* sleeping.c: tests that an idle helper sleeps, uses no CPU time, and wakes at once when a message arrives. The
 * latency is only printed: it depends on the machine and its load. */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

enum { MOST = 65536, ROUNDS = 1000 };

static struct node node;
static uint64_t replies;

static void count(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
}

static void open_node(void) {
    node_open(&node, MOST, false);
    node.reply = count;
    replies = 0;
}

static void connect_all(void) {
    for (int i = 0; i < test_size; i++)
        node_ask(&node, i, ECHO, 0, "", 1);
    expect(node_wait(&node, &replies, (uint64_t)test_size, 20));
    barrier();
}

CASE(idle_helper_takes_no_time) {
    open_node();
    connect_all();
    double before = thread_seconds(node.thread);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    double used = thread_seconds(node.thread) - before;
    expect(used < 0.05); /* of 0.5 s: the helper checks periodically */
    if (test_rank == 0)
        printf("# an idle helper uses %.1f %% of a core\n", used / 0.5 * 100);
    barrier();
    node_close(&node);
}

/* A helper that never had a connection must not spin either. */
CASE(lonely_helper_takes_no_time) {
    open_node();
    double before = thread_seconds(node.thread);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    expect(thread_seconds(node.thread) - before < 0.03);
    barrier();
    node_close(&node);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void pause_us(double us) {
    for (uint64_t end = clock_ns() + (uint64_t)(us * 1000); clock_ns() < end;)
        ;
}

static void measure(size_t bytes, double pause) {
    static double took[ROUNDS];
    static char payload[MOST];
    int rounds = test_seconds < 2 ? ROUNDS / 4 : ROUNDS;
    for (int i = 0; i < rounds; i++) {
        pause_us(pause);
        uint64_t start = clock_ns(), before = replies;
        node_ask(&node, peer(), ECHO, 0, payload, bytes);
        if (!expect(node_wait(&node, &replies, before + 1, 20)))
            return;
        took[i] = (double)(clock_ns() - start) / 1000;
    }
    qsort(took, (size_t)rounds, sizeof *took, compare);
    printf("# %6zu bytes to a sleeping helper and back: %.1f us, one in 100 above %.1f us\n", bytes,
           took[rounds / 2], took[rounds * 99 / 100]);
}

/* How soon the helper of rank 1 sleeps depends on the load. */
static void ask_until_it_woke(uint64_t before) {
    int woke = test_rank == 1 && node.wakes > before;
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(MPI_IN_PLACE, &woke, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (woke)
            return;
        if (test_rank == 0)
            measure(8, 20000);
        lazy_barrier();
        woke = test_rank == 1 && node.wakes > before;
    }
    expect(!"the helper slept and woke");
}

/* Rank 0 sends to the helper of rank 1. */
CASE(wakes_fast) {
    open_node();
    connect_all();
    uint64_t before = node.wakes;
    if (test_rank == 0) {
        measure(8, 200);
        measure(MOST, 200);
    }
    lazy_barrier();
    ask_until_it_woke(before);
    node_close(&node);
}
