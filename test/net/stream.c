/* stream.c: tests many messages in a row: each arrives once and in order, however long the receiver does not poll. */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 65536, MESSAGES = 3000 };

static struct node node;
static uint64_t replies, next, wrong;

static void count(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
    wrong += r->serial != next++;
}

static void open_node(void) {
    node_open(&node, MOST, false);
    node.reply = count;
    replies = next = wrong = 0;
}

static size_t size_of(uint64_t serial) {
    static const size_t sizes[] = {8, 60000, 100, 5000, MOST, 12, 16000, 0, 64, 40000, 1};
    return sizes[serial % (sizeof sizes / sizeof *sizes)];
}

/* Both networks send short and long messages by different paths. */
CASE(in_order) {
    static char payload[MOST];
    enum { AHEAD = 32 };
    open_node();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        node_ask(&node, peer(), i % 3 ? COUNT : ECHO, i, payload, size_of(i));
        if (!expect(node_wait(&node, &replies, i < AHEAD ? 0 : i - AHEAD + 1, 20)))
            break;
    }
    expect(node_wait(&node, &replies, MESSAGES, 20));
    barrier();
    expect_eq(node.served, MESSAGES);
    if (over_ucx()) { /* over MPI a later message may finish first while a long one is incomplete */
        expect_eq(node.overtaken, 0);
        expect_eq(wrong, 0);
    }
    node_close(&node);
}

struct out {
    struct link_send send;
    struct request header;
    int state; /* result of net_link_send; 2: `sent` was called */
    unsigned char payload[MOST];
};

static uint64_t completed;

static void was_sent(struct link_send *s, int status) {
    struct out *o = (struct out *)s;
    expect_eq(status, 0);
    expect_eq(o->state, 1);
    o->state = 2;
    completed++;
    memset(o->payload, 0xee, sizeof o->payload); /* the payload is free again */
}

static void check(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
    expect_eq(bytes, MOST);
    expect(is_random(payload, bytes, seed_of(test_rank, r->serial)));
}

/* The helpers do not poll while more arrives than the sockets hold: sends are pending, not lost, and do not block. */
CASE(receiver_away) {
    enum { COUNT_AWAY = 300 }; /* 19 MB */
    struct out *outs = calloc(COUNT_AWAY, sizeof *outs);
    uint64_t pending = 0;
    completed = 0;
    open_node();
    node.reply = check;
    /* Makes the connection first. */
    fill_random(outs[0].payload, MOST, seed_of(test_rank, 0));
    node_ask(&node, peer(), ECHO, 0, outs[0].payload, MOST);
    expect(node_wait(&node, &replies, 1, 20));
    barrier();
    node.paused = true;
    barrier();
    for (int i = 0; i < COUNT_AWAY; i++) {
        struct out *o = &outs[i];
        o->send.sent = was_sent;
        o->header = (struct request){.what = ECHO, .client = (uint32_t)test_rank, .serial = (uint64_t)i};
        fill_random(o->payload, MOST, seed_of(test_rank, (uint64_t)i));
        o->state = net_link_send(node.main, node.helpers[peer()], &o->header, sizeof o->header, o->payload,
                                 MOST, &o->send);
        expect(o->state == 0 || o->state == 1);
        pending += o->state == 1;
        if (o->state == 0)
            memset(o->payload, 0xdd, MOST); /* the payload is free again */
    }
    expect(!over_ucx() || pending > 0);
    barrier();
    node.paused = false;
    expect(node_wait(&node, &replies, 1 + COUNT_AWAY, 30));
    expect(node_wait(&node, &completed, pending, 20)); /* over MPI the completion may come after the answer */
    expect_eq(completed, pending);
    if (test_rank == 0)
        printf("# %d of %d were pending\n", (int)pending, COUNT_AWAY);
    node_close(&node);
    free(outs);
}
