/* echo.c: tests that a helper returns what it is sent, whatever its size, with many clients at once. */
#include "node.h"

#include <stdlib.h>

#include "base/random.h"

enum { MOST = 65536, AHEAD = 16, SERIALS = 2000 };

struct replies {
    uint64_t count;
    size_t expected[SERIALS]; /* bytes, by serial */
};

static void check(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    struct replies *got = arg;
    got->count++;
    expect_eq(header_bytes, sizeof *r);
    expect_eq(r->client, test_rank);
    expect_eq(bytes, got->expected[r->serial]);
    expect(is_random(payload, bytes, seed_of(test_rank, r->serial)));
}

static struct node node;
static struct replies got;
static unsigned char payload[MOST];

static void open_node(void) {
    node_open(&node, MOST, false);
    node.reply = check;
    node.arg = &got;
    got.count = 0;
}

static void ask(int rank, uint64_t serial, size_t bytes) {
    fill_random(payload, bytes, seed_of(test_rank, serial));
    got.expected[serial] = bytes;
    node_ask(&node, rank, ECHO, serial, payload, bytes);
}

CASE(sizes) {
    static const size_t sizes[] = {0,     1,     7,     8,          9,          63,       64,       65,
                                   1000,  2047,  2048,  4095,       4097,       8191,     8192,     8193,
                                   16384, 32768, 65000, MOST - 257, MOST - 256, MOST - 8, MOST - 1, MOST};
    open_node();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int rank = 0; rank < test_size; rank++) {
            uint64_t before = got.count;
            ask(rank, i, sizes[i]);
            expect(node_wait(&node, &got.count, before + 1, 10));
        }
    node_close(&node);
}

CASE(random_sizes_to_all) {
    enum { MESSAGES = SERIALS };
    struct random r;
    open_node();
    random_seed(&r, seed_of(test_rank, 1u << 20));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        if (!expect(node_wait(&node, &got.count, i < AHEAD ? 0 : i - AHEAD + 1, 20)))
            break;
        size_t bytes = random_below(&r, 4) ? random_below(&r, 512) : random_below(&r, MOST + 1);
        ask((int)random_below(&r, (uint32_t)test_size), i, bytes);
    }
    expect(node_wait(&node, &got.count, MESSAGES, 20));
    node_close(&node);
}

/* All clients use the helper of rank 0. */
CASE(many_clients) {
    enum { MESSAGES = 1000 };
    open_node();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        ask(0, i, i * 977 % (MOST + 1));
        if (!expect(node_wait(&node, &got.count, i < AHEAD - 1 ? 0 : i - AHEAD + 2, 20)))
            break;
    }
    expect(node_wait(&node, &got.count, MESSAGES, 20));
    barrier();
    if (test_rank == 0)
        expect_eq(node.served, MESSAGES * test_size);
    node_close(&node);
}

static size_t header_length;

static void check_header(void *arg, const struct request *r, size_t header_bytes, const void *data,
                         size_t bytes) {
    got.count++;
    expect_eq(header_bytes, sizeof *r);
    expect_eq(bytes, header_length);
}

/* A header of up to LINK_HEADER bytes is allowed; the payload after it is complete. */
CASE(headers) {
    unsigned char header[LINK_HEADER];
    open_node();
    node.reply = check_header;
    fill_random(payload, MOST, 1);
    for (size_t bytes = sizeof(struct request); bytes <= LINK_HEADER; bytes += 1 + bytes / 16) {
        struct request r = {.what = ECHO, .client = (uint32_t)test_rank, .serial = bytes};
        struct link_send s = {0};
        memset(header, 7, sizeof header);
        memcpy(header, &r, sizeof r);
        uint64_t before = got.count;
        header_length = bytes;
        /* The first message of a connection may be pending; later ones of this size are not. */
        if (before == 0) {
            node_ask(&node, peer(), ECHO, bytes, payload, bytes);
            expect(node_wait(&node, &got.count, 1, 10));
            before++;
        }
        expect_eq(net_link_send(node.main, node.helpers[peer()], header, bytes, payload, bytes, &s), 0);
        expect(node_wait(&node, &got.count, before + 1, 10));
    }
    node_close(&node);
}
