/* held.c: tests that large messages of a rank that computes do not hold up the messages of others.
 *
 * ranks: 3; timeout: 60
 *
 * Rank 1 starts to send some large messages to rank 0 and then makes no progress; over MPI they cannot
 * complete before it does. Meanwhile rank 0 must answer rank 2. A receiver that copies from the memory of the sender's
 * process needs no progress there, so Open MPI is told not to do that. */
#include "node.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

__attribute__((constructor)) static void copy_through_shared_memory(void) {
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

enum { MOST = 1 << 20, LARGE = 12, SECONDS = 10 };
enum { STALLS = 1, ASKS = 2 };

static struct node node;
static uint64_t replies;

static void count(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
}

/* Memory that all ranks see without calling MPI. */
static _Atomic int *open_flag(void) {
    char name[] = "/tmp/hearth-held-XXXXXX";
    int file = test_rank == 0 ? mkstemp(name) : -1;
    if (test_rank == 0)
        expect_eq(ftruncate(file, sizeof(int)), 0);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (test_rank != 0)
        file = open(name, O_RDWR);
    void *flag = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    expect(flag != MAP_FAILED);
    barrier();
    close(file);
    if (test_rank == 0)
        unlink(name);
    return flag;
}

struct large {
    struct link_send send;
    struct request header;
    bool done;
};

static void large_left(struct link_send *s, int status) {
    expect_eq(status, 0);
    ((struct large *)s)->done = true;
}

static void send_and_stall(_Atomic int *flag) {
    static struct large all[LARGE];
    char *payload = calloc(1, MOST);
    uint64_t end = clock_ns() + (uint64_t)SECONDS * 1000000000u;
    node.paused = true;
    for (uint64_t i = 0; i < LARGE; i++) {
        all[i] = (struct large){.send = {.sent = large_left},
                                .header = {.what = COUNT, .client = (uint32_t)test_rank, .serial = i}};
        all[i].done = net_link_send(node.main, node.helpers[0], &all[i].header, sizeof all[i].header, payload,
                                    MOST, &all[i].send) == 0;
    }
    atomic_store(flag, STALLS);
    while (atomic_load(flag) != ASKS && clock_ns() < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    node.paused = false;
    expect(node_wait(&node, &replies, LARGE, SECONDS));
    for (int i = 0; i < LARGE; i++)
        while (!all[i].done)
            node_rest(&node, 0.001);
    free(payload);
}

static void ask_meanwhile(_Atomic int *flag) {
    while (atomic_load(flag) != STALLS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    node_rest(&node, 0.05); /* rank 0 has begun to receive */
    for (uint64_t i = 0; i < 3; i++) {
        node_ask(&node, 0, ECHO, i, "hold the line", 14);
        expect(node_wait(&node, &replies, i + 1, SECONDS / 4.0));
    }
    atomic_store(flag, ASKS);
}

CASE(sender_computes) {
    SKIP_IF(test_size < 3, "needs three ranks");
    _Atomic int *flag = open_flag();
    node_open(&node, MOST, false);
    node.reply = count;
    replies = 0;
    if (test_rank == STALLS)
        send_and_stall(flag);
    else if (test_rank == ASKS)
        ask_meanwhile(flag);
    lazy_barrier();
    node_close(&node);
    munmap((void *)flag, sizeof(int));
}
