/* closing.c: tests that links open and close without leaks, and that the others notice a rank that leaves alone. */
#include "node.h"

#include <stdio.h>

enum { MOST = 8192 };

static uint64_t replies;

static void count(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                  size_t bytes) {
    replies++;
}

static void talk_to_all(struct node *n) {
    char data[100] = {0};
    replies = 0;
    n->reply = count;
    for (int i = 0; i < test_size; i++)
        node_ask(n, i, ECHO, 0, data, sizeof data);
    expect(node_wait(n, &replies, (uint64_t)test_size, 20));
}

CASE(again_and_again) {
    int files = 0;
    for (int i = 0; i < 8; i++) {
        struct node n;
        node_open(&n, MOST, false);
        talk_to_all(&n);
        expect_eq(n.failed, 0);
        expect_eq(n.helper_failed, 0);
        node_close(&n);
        if (i == 1)
            files = open_files();
    }
    expect_eq(open_files(), files);
}

/* No rank sends anything: only the ports have to be closed. */
CASE(unused) {
    struct node n;
    node_open(&n, MOST, false);
    node_close(&n);
}

/* Messages to helpers that are not answered yet leave before the port is closed. */
CASE(last_messages) {
    struct node n;
    char data[MOST] = {0};
    node_open(&n, MOST, false);
    talk_to_all(&n);
    for (int i = 0; i < 20; i++)
        node_ask(&n, peer(), COUNT, (uint64_t)i, data, sizeof data);
    net_link_port_quiesce(n.main);
    barrier();
    for (int i = 0; i < 2000 && n.served < (uint64_t)test_size + 20; i++)
        node_rest(&n, 0.001);
    expect_eq(n.served, test_size + 20);
    node_close(&n);
}

static void refused(struct link_send *s, int status) {
    *(int *)(s + 1) = status;
}

/* A send to a rank that has failed: it fails at once, or later. */
static void expect_refusal(struct node *n, int rank) {
    struct {
        struct link_send send;
        int status;
    } s = {.send = {.sent = refused}};
    struct request r = {.what = ECHO};
    int status = net_link_send(n->main, n->helpers[rank], &r, sizeof r, NULL, 0, &s.send);
    for (int i = 0; i < 1000 && status == 1 && !s.status; i++)
        node_rest(n, 0.001);
    expect(status < 0 || s.status < 0);
}

static void expect_only_failure(struct node *n, int rank) {
    for (int i = 0; i < 5000 && !(n->failed && n->helper_failed); i++)
        node_rest(n, 0.001);
    node_rest(n, 0.02);
    expect_eq(n->failed, 1);
    expect_eq(n->helper_failed, 1);
    expect(n->last_failed == n->helpers[rank]);
    expect_refusal(n, rank);
    expect_eq(n->failed, 1);
    replies = 0;
    for (int i = 0; i < test_size; i++)
        if (i != rank)
            node_ask(n, i, ECHO, 0, "still here", 10);
    expect(node_wait(n, &replies, (uint64_t)test_size - 1, 20));
}

/* Rank 0 closes its ports. Every other rank is notified once, and the others still exchange messages. */
CASE(one_leaves) {
    struct node n;
    SKIP_IF(!over_ucx(), "MPI does not report ranks that leave");
    node_open(&n, MOST, false);
    talk_to_all(&n);
    barrier();
    if (test_rank == 0) {
        node_leave(&n);
        return;
    }
    expect_only_failure(&n, 0);
    node_close(&n);
}
