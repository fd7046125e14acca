/* direct.c: tests reads and writes of remote memory through windows; also over TCP, where they have no speed
 * advantage. */
#include "node.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { MOST = 65536, WORDS = 1 << 17 };

static struct node node;
static uint64_t *memory, *local;

static struct {
    struct link_send send;
    bool done;
} op;

static void done(struct link_send *s, int status) {
    expect_eq(status, 0);
    op.done = true;
}

static void finish(int status) {
    expect(status == 0 || status == 1);
    uint64_t end = clock_ns() + 20000000000u;
    while (status == 1 && !op.done && clock_ns() < end)
        if (net_link_progress(node.main) == 0)
            sched_yield();
    expect(status != 1 || op.done);
    op.done = false;
}

struct exposed {
    uint64_t base;
    int bytes;
    char key[LINK_KEY];
};

static struct link_memory *exposed;
static struct link_window **windows;
static struct exposed *all;

static void open_windows(void) {
    struct exposed mine = {.base = (uintptr_t)memory};
    mine.bytes = net_link_expose(node.link, memory, WORDS * 8, &exposed, mine.key);
    expect(mine.bytes > 0 && mine.bytes <= LINK_KEY);
    all = calloc((size_t)test_size, sizeof *all);
    windows = calloc((size_t)test_size, sizeof *windows);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < test_size; i++)
        expect_eq(net_link_window_open(node.helpers[i], all[i].key, &windows[i]), 0);
}

static void close_windows(void) {
    for (int i = 0; i < test_size; i++)
        net_link_window_close(windows[i]);
    barrier();
    net_link_hide(node.link, exposed);
    free(windows);
    free(all);
}

static void open_all(void) {
    node_open(&node, MOST, true);
    memory = aligned_bytes(WORDS * 8);
    local = aligned_bytes(WORDS * 8);
    op.send.sent = done;
    open_windows();
}

static void close_all(void) {
    close_windows();
    node_close(&node);
    free(memory);
    free(local);
}

static void put(int rank, size_t at, const void *from, size_t words) {
    finish(net_link_put(node.main, windows[rank], all[rank].base + at * 8, from, words * 8, &op.send));
}

static void get(int rank, size_t at, void *to, size_t words) {
    finish(net_link_get(node.main, windows[rank], to, all[rank].base + at * 8, words * 8, &op.send));
}

static void flush(int rank) {
    finish(net_link_flush(node.main, node.helpers[rank], &op.send));
}

CASE(get) {
    static const size_t lengths[] = {1, 2, 100, 1024, 9000, WORDS};
    SKIP_IF(!over_ucx(), "no direct memory access through MPI messages");
    open_all();
    fill_random(memory, WORDS * 8, seed_of(test_rank, 0));
    barrier();
    for (int rank = 0; rank < test_size; rank++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            memset(local, 0, WORDS * 8);
            get(rank, 0, local, lengths[i]);
            expect(is_random(local, lengths[i] * 8, seed_of(rank, 0)));
        }
    if (test_rank == 0)
        printf("# in hardware: %s\n", net_link_is_direct(node.link) ? "yes" : "no");
    barrier();
    close_all();
}

/* Every rank writes a part of every rank's memory, and the owner checks it after the flush. */
CASE(put_and_flush) {
    enum { ROUNDS = 5 };
    SKIP_IF(!over_ucx(), "no direct memory access through MPI messages");
    open_all();
    size_t part = WORDS / (size_t)test_size;
    for (int round = 0; round < ROUNDS; round++) {
        memset(memory, 0, WORDS * 8);
        barrier();
        for (int rank = 0; rank < test_size; rank++) {
            fill_random(local, part * 8, seed_of(test_rank, (uint64_t)(round * 100 + rank)));
            put(rank, part * (size_t)test_rank, local, round ? part >> (round * 3) : part);
            flush(rank);
        }
        barrier();
        size_t words = round ? part >> (round * 3) : part;
        for (int rank = 0; rank < test_size; rank++)
            expect(is_random(memory + part * (size_t)rank, words * 8,
                             seed_of(rank, (uint64_t)(round * 100 + test_rank))));
        barrier();
    }
    close_all();
}

CASE(refused_over_mpi) {
    struct link_memory *m;
    char key[LINK_KEY];
    SKIP_IF(over_ucx(), "UCX has direct memory access");
    node_open(&node, MOST, false);
    expect(!net_link_is_direct(node.link));
    expect_eq(net_link_expose(node.link, key, sizeof key, &m, key), -ENOTSUP);
    node_close(&node);
}
