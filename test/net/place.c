/* place.c: tests large payloads that are received in memory that the receiver names: of every size, many at once, and
 * while their sender leaves. Over MPI they arrive like all others. */
#include "node.h"

#include <stdlib.h>

#include "base/random.h"

enum { MOST = 65536, IN_PLACE = 32768, LARGEST = 4 << 20, AHEAD = 8, SERIALS = 600 };

static struct node node;

struct replies {
    uint64_t count;
    size_t expected[SERIALS]; /* bytes, by serial */
};
static struct replies got;
static unsigned char *payload;

static void check(void *arg, const struct request *r, size_t header_bytes, const void *data, size_t bytes) {
    got.count++;
    expect_eq(bytes, got.expected[r->serial]);
    expect(is_random(data, bytes, seed_of(test_rank, r->serial)));
}

static void ignore(void *arg, const struct request *r, size_t header_bytes, const void *data, size_t bytes) {
}

static size_t largest(void) {
    return node.in_place ? LARGEST : MOST;
}

static void open_node(void) {
    node_open_in_place(&node, MOST, IN_PLACE);
    expect_eq(node.in_place, over_ucx() ? IN_PLACE : 0);
    node.reply = check;
    got.count = 0;
    payload = malloc(LARGEST);
}

static void close_node(void) {
    node_close(&node);
    expect_eq(node.placed, node.announced);
    free(payload);
}

static void ask(int rank, uint64_t serial, size_t bytes) {
    fill_random(payload, bytes, seed_of(test_rank, serial));
    got.expected[serial] = bytes;
    node_ask(&node, rank, ECHO, serial, payload, bytes);
    memset(payload, 0xee, bytes); /* it has left */
}

CASE(sizes) {
    static const size_t sizes[] = {0,      8,        IN_PLACE - 1, IN_PLACE, IN_PLACE + 1,
                                   50000,  MOST - 1, MOST,         MOST + 1, 100001,
                                   262144, 1 << 20,  1000001,      3 << 20,  LARGEST};
    open_node();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int rank = 0; rank < test_size && sizes[i] <= largest(); rank++) {
            uint64_t before = got.count, announced = node.announced;
            ask(rank, i, sizes[i]);
            expect(node_wait(&node, &got.count, before + 1, 10));
            if (node.in_place && sizes[i] >= IN_PLACE)
                expect(node.announced > announced);
        }
    close_node();
}

CASE(random_sizes_to_all) {
    struct random r;
    open_node();
    random_seed(&r, seed_of(test_rank, 1u << 20));
    for (uint64_t i = 0; i < SERIALS; i++) {
        if (!expect(node_wait(&node, &got.count, i < AHEAD ? 0 : i - AHEAD + 1, 20)))
            break;
        size_t most = random_below(&r, 8) ? MOST : largest();
        ask((int)random_below(&r, (uint32_t)test_size), i, random_below(&r, (uint32_t)most + 1));
    }
    expect(node_wait(&node, &got.count, SERIALS, 20));
    close_node();
}

struct out {
    struct link_send send;
    struct request header;
    int status; /* 2: `sent` was not called yet */
};

static void was_sent(struct link_send *s, int status) {
    ((struct out *)s)->status = status;
}

/* Rank 0 announces payloads that no receiver has asked for yet and leaves; then the others do, with payloads to it on the
 * way. Every send ends, and the others are notified once. */
CASE(one_leaves) {
    enum { COUNT_AWAY = 4 };
    static struct out outs[COUNT_AWAY];
    SKIP_IF(!over_ucx(), "MPI does not report ranks that leave");
    open_node();
    ask(test_rank ? 0 : 1, 0, 1000); /* connects */
    expect(node_wait(&node, &got.count, 1, 10));
    node.reply = ignore;
    barrier();
    node.paused = true;
    barrier();
    int to = test_rank ? 0 : 1;
    for (int i = 0; i < COUNT_AWAY; i++) {
        outs[i] = (struct out){.send = {.sent = was_sent},
                               .status = 2,
                               .header = {.what = COUNT, .client = (uint32_t)test_rank, .serial = 1}};
        expect_eq(net_link_send(node.main, node.helpers[to], &outs[i].header, sizeof outs[i].header, payload,
                                LARGEST, &outs[i].send),
                  1);
    }
    barrier();
    node.paused = false;
    if (test_rank == 0) {
        node_leave(&node);
        free(payload);
        return;
    }
    for (int i = 0; i < 5000 && !node.failed; i++)
        node_rest(&node, 0.001);
    expect_eq(node.failed, 1);
    for (int i = 0; i < COUNT_AWAY; i++)
        for (int k = 0; k < 5000 && outs[i].status == 2; k++)
            node_rest(&node, 0.001);
    for (int i = 0; i < COUNT_AWAY; i++)
        expect(outs[i].status <= 0);
    node_close(&node);
    free(payload);
}
