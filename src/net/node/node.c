/* node.c: connects the processes of a node, and implements everything besides sending (node_send.c) and polling (node_poll.c).
 *
 * A node object is used by one thread at a time. It lies in private memory. The segment holds what others see;
 * plan.h says which process writes each part. A process may have several node objects. */
#include "net/node/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/node/pull.h"

/* ---- open and close ---- */

static void open_readers(struct net_node *n, const struct plan *p) {
    void *base = n->segment.base;
    net_queue_read_open(&n->queue, &n->control->queue, net_plan_queue(p, base), p->queue_bytes);
    for (uint32_t i = 0; i < p->boxes; i++)
        net_box_read_open(&n->boxes[i], &net_plan_boxes(p, base)[i], net_plan_box(p, base, i), p->box_bytes);
    n->doorbells = net_plan_doorbells(p, base);
}

static void open_writer(struct node_peer *peer, void *base, const struct plan *p) {
    peer->control = base;
    peer->plan = *p;
    net_queue_write_open(&peer->queue, &peer->control->queue, net_plan_queue(p, base), p->queue_bytes);
}

static void node_announce(struct net_node *n, const struct plan *p) {
    n->control = n->segment.base;
    n->control->plan = *p;
    n->probe = n->control->token;
    n->control->probe = (uint64_t)(uintptr_t)&n->probe;
    n->control->base = (uint64_t)(uintptr_t)n->segment.base;
}

static int node_no_memory(int count) {
    log_warn("no memory for the state of %d processes of the node; messages within the node go through MPI",
             count);
    return -ENOMEM;
}

/* Private memory. On failure net_node_close frees what was allocated. */
static int node_allocate(struct net_node *n, const struct plan *p) {
    n->doorbell_words = (p->boxes + DOORBELLS_IN_WORD - 1) / DOORBELLS_IN_WORD;
    n->peers = calloc((size_t)n->count, sizeof *n->peers);
    n->boxes = calloc(p->boxes + 1, sizeof *n->boxes);
    n->seen = calloc(n->doorbell_words + 1, sizeof(uint64_t));
    return n->peers && n->boxes && n->seen ? 0 : node_no_memory(n->count);
}

static int open_with(struct net_node *n, const struct plan *p, struct net_address *mine) {
    int err = node_allocate(n, p);
    if (!err)
        err = net_segment_create(&n->segment, round_up(net_plan_bytes(p), (uint64_t)sysconf(_SC_PAGESIZE)),
                                 mine);
    if (err)
        return err;
    node_announce(n, p);
    open_readers(n, p);
    open_writer(&n->peers[n->rank], n->segment.base, p);
    n->peers[n->rank].boxless = true; /* for messages to oneself the queue is good enough */
    net_pull_allow();
    return 0;
}

int net_node_open(const struct net_options *options, struct net_node **node, struct net_address *mine) {
    struct plan plan;
    int err = net_plan_make(&plan, options);
    if (err)
        return err;
    struct net_node *n = calloc(1, sizeof *n);
    if (!n)
        return node_no_memory(options->count);
    n->rank = options->rank;
    n->count = options->count;
    n->header_bytes = plan.header_bytes;
    n->header_room = net_plan_header_room(&plan);
    n->eager = net_plan_eager(&plan);
    err = open_with(n, &plan, mine);
    if (err)
        net_node_close(n);
    else
        *node = n;
    return err;
}

void net_node_close(struct net_node *n) {
    if (!n)
        return;
    for (int i = 0; n->peers && i < n->count; i++)
        net_segment_close(&n->peers[i].segment);
    net_segment_close(&n->segment);
    free(n->seen);
    free(n->boxes);
    free(n->peers);
    free(n);
}

/* ---- connect ---- */

static int check_plan(const struct net_node *n, int rank, const struct plan *p, size_t bytes) {
    if (net_plan_is_valid(p, bytes) && p->count == (uint32_t)n->count && p->header_bytes == n->header_bytes)
        return 0;
    log_error("shared memory of rank %d of this node: its layout differs from ours; do all run the same "
              "version?",
              rank);
    return -EPROTO;
}

static int connect_peer(struct net_node *n, int rank, const struct net_address *address) {
    struct node_peer *peer = &n->peers[rank];
    int err = net_segment_attach(&peer->segment, address, rank);
    if (err)
        return err;
    const struct control *control = peer->segment.base;
    struct plan plan = control->plan; /* one copy, so that the checked values are the ones used */
    err = check_plan(n, rank, &plan, peer->segment.bytes);
    if (err)
        return err;
    open_writer(peer, peer->segment.base, &plan);
    if (net_plan_eager(&plan) < n->eager)
        n->eager = net_plan_eager(&plan);
    return 0;
}

/* Pulls a known value. The kernel's answer may differ between peers: by user, by namespace, by ancestry. */
static bool try_pull(struct net_node *n, int rank) {
    const struct control *c = n->peers[rank].control;
    struct segment_token got;
    return !net_node_pull(n, rank, c->probe, &got, sizeof got) && !memcmp(&got, &c->token, sizeof got);
}

/* Measures with the next process, whose segment nobody else of the node measures. */
static void compare_pull(struct net_node *n) {
    const struct node_peer *next = &n->peers[(n->rank + 1) % n->count];
    const struct segment *s = &next->segment;
    if (n->can_pull && s->base)
        n->pull_from = net_pull_least(s->process, next->control->base, s->base, s->bytes);
}

int net_node_connect(struct net_node *n, const struct net_address all[]) {
    bool can_pull = true;
    for (int i = 0; i < n->count; i++) {
        int err = i == n->rank ? 0 : connect_peer(n, i, &all[i]);
        if (err)
            return err;
        can_pull = can_pull && try_pull(n, i);
    }
    n->can_pull = can_pull;
    compare_pull(n);
    log_debug(LOG_NET,
              "%d processes of this node are connected in shared memory; eager messages have up to %zu "
              "bytes; memory of others %s be read, faster than a message from %llu bytes on",
              n->count, n->eager, can_pull ? "can" : "cannot", (unsigned long long)n->pull_from);
    return 0;
}

size_t net_node_eager(const struct net_node *n) {
    return n->eager;
}

/* ---- other than messages ---- */

bool net_node_can_pull(const struct net_node *n) {
    return n->can_pull;
}

uint64_t net_node_pull_from(const struct net_node *n) {
    return n->pull_from;
}

static int process_of(const struct net_node *n, int peer) {
    return peer == n->rank ? n->segment.process : n->peers[peer].segment.process;
}

int net_node_pull(struct net_node *n, int peer, uint64_t address, void *to, size_t bytes) {
    return net_pull_copy(process_of(n, peer), address, to, bytes);
}

int net_node_push(struct net_node *n, int peer, uint64_t address, const void *from, size_t bytes) {
    return net_pull_push(process_of(n, peer), address, from, bytes);
}

/* Release: who claims the offer sees what its owner wrote before. Pairs with net_node_claim. */
uint64_t net_node_offer(struct net_node *n) {
    atomic_store_explicit(&n->control->offer, ++n->offers, memory_order_release);
    return n->offers;
}

bool net_node_claim(struct net_node *n, int peer, uint64_t offer) {
    return atomic_compare_exchange_strong_explicit(&n->peers[peer].control->offer, &offer, 0,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Release: a process that sees the mark sees everything before it. Pairs with net_node_is_inside. */
void net_node_inside(struct net_node *n, bool inside) {
    atomic_store_explicit(&n->control->inside, inside, memory_order_release);
}

bool net_node_is_inside(const struct net_node *n, int peer) {
    return atomic_load_explicit(&n->peers[peer].control->inside, memory_order_acquire);
}

void net_node_wake(struct net_node *n, int peer) {
    net_wake_up(&n->peers[peer].control->wake);
}

bool net_node_sleep(struct net_node *n, uint64_t microseconds) {
    return net_wake_wait(&n->control->wake, microseconds);
}
