/* memory.c: sends 10000 messages of 64 KB to a helper, faster than it handles them, and ten times as many in the nightly
 * tier: its memory must not grow. Options: --seconds N. timeout: 120; ranks: 2 */
#include "node.h"

#include <stdio.h>

enum { BYTES = 65536, AHEAD = 32, ALLOWED = 8 << 20 };

static uint64_t replies;

static int messages(void) {
    return test_seconds < 10 ? test_times(10000) : 100000;
}

static void count(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
}

static void send_some(struct node *n, uint64_t from, uint64_t to, const char *payload) {
    for (uint64_t i = from; i < to; i++) {
        node_ask(n, 0, COUNT, i, payload, BYTES);
        if (!expect(node_wait(n, &replies, i < AHEAD ? 0 : i - AHEAD + 1, 20)))
            return;
    }
    expect(node_wait(n, &replies, to, 20));
}

/* All ranks but 0 send to the helper of rank 0. Memory needed to start up is not counted. */
CASE(flat) {
    static char payload[BYTES];
    struct node n;
    node_open(&n, BYTES, false);
    n.reply = count;
    if (test_rank != 0)
        send_some(&n, 0, messages() / 20, payload);
    lazy_barrier();
    size_t before = resident_bytes();
    int files = open_files();
    barrier();
    double start = MPI_Wtime();
    if (test_rank != 0)
        send_some(&n, messages() / 20, messages(), payload);
    lazy_barrier();
    double took = MPI_Wtime() - start;
    size_t after = resident_bytes();
    expect(after < before + ALLOWED);
    expect_eq(open_files(), files);
    printf("# rank %d: %zu kB, then %zu kB; %.1f GB/s\n", test_rank, before >> 10, after >> 10,
           (double)messages() * 0.95 * BYTES * (test_size - 1) / took / 1e9);
    node_close(&n);
}
