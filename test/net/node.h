/* node.h: shared declarations of the tests of net/link. Every rank is a node of its own, with a main port, used by
 * the test, and a helper port with a thread that sleeps in poll while nothing arrives. HEARTH_NET selects the
 * network.
 *
 * The helper executes requests: it sends the payload back (ECHO), or only counts it and answers (COUNT). Requests
 * carry a serial number. The contents depend on it and on the sender, so that each side can check what it received. */
#ifndef HEARTH_TEST_NET_NODE_H
#define HEARTH_TEST_NET_NODE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../mpi/test.h"
#include "net/link/link.h"
#include "net/mpi/boot_mpi.h"

enum { ECHO, COUNT };

struct request {
    uint32_t what, client;
    uint64_t serial;
};

/* Called at the client for each reply. */
typedef void node_reply(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                        size_t bytes);

struct node {
    struct link *link;
    struct link_port *main, *helper;
    struct link_peer **helpers; /* [ranks]: the helpers of all nodes, as seen from the main port */

    node_reply *reply;
    void *arg;
    int failed; /* calls of `failed` at the main port */
    struct link_peer *last_failed;

    pthread_t thread;
    int bell; /* doorbell that ends it */
    _Atomic bool stop, paused;
    _Atomic uint64_t served, wakes, overtaken, helper_failed;
    uint64_t *last; /* [ranks]: last serial numbers, for `overtaken` */

    size_t in_place;                    /* link_options.in_place, where the network can do it; else 0 */
    _Atomic uint64_t announced, placed; /* messages that were announced, and that arrived in place */
};

bool over_ucx(void);

/* Collective. Returns whether it succeeded on this rank. */
bool node_open(struct node *n, size_t most, bool direct);
/* The same; payloads of at least `in_place` bytes are received in memory of their own. */
bool node_open_in_place(struct node *n, size_t most, size_t in_place);
void node_close(struct node *n);
/* Closes this rank's ports without the others, and waits for them to close theirs. */
void node_leave(struct node *n);

/* Sends, and returns when the payload may be reused. */
void node_ask(struct node *n, int rank, uint32_t what, uint64_t serial, const void *payload, size_t bytes);

/* Makes progress until *counter is at least `wanted`; returns false if that takes longer than `seconds`. */
bool node_wait(struct node *n, const uint64_t *counter, uint64_t wanted, double seconds);

/* Makes progress for this long. */
void node_rest(struct node *n, double seconds);

/* Collective: closes a link with one port. */
void close_only_port(struct link *link, struct link_port *port);

/* A barrier in which waiting ranks do not spin. */
void lazy_barrier(void);

void fill_random(void *to, size_t bytes, uint64_t seed);
bool is_random(const void *data, size_t bytes, uint64_t seed);
uint64_t seed_of(int rank, uint64_t serial);

int open_files(void);
size_t resident_bytes(void);
double thread_seconds(pthread_t thread); /* of CPU time */

#endif
