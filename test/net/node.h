/* node.h: what the tests of net/link share: every rank plays a node of its own, with a main port, used by
 * the test, and a helper port with a thread that sleeps in poll while nothing comes. HEARTH_NET says
 * through what they talk.
 *
 * The helper does what a request asks for: sends its payload back (ECHO), or only counts it and says so
 * (COUNT). Requests carry a serial number, and the contents follow from it and the rank that sends, so
 * that each side can tell whether it got what was sent. */
#ifndef HEARTH_TEST_NET_NODE_H
#define HEARTH_TEST_NET_NODE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../mpi/test.h"
#include "net/link/link.h"

enum { ECHO, COUNT };

struct request {
    uint32_t what, client;
    uint64_t serial;
};

/* What a client does with a reply. */
typedef void node_reply(void *arg, const struct request *r, size_t header_bytes, const void *payload,
                        size_t bytes);

struct node {
    struct link *link;
    struct link_port *main, *helper;
    struct link_peer **helpers; /* [ranks]: those of all nodes, as seen from the main port */

    node_reply *reply;
    void *arg;
    int failed; /* calls of `failed` at the main port */
    struct link_peer *last_failed;

    pthread_t thread;
    int bell; /* wakes it, to end */
    _Atomic bool stop, paused;
    _Atomic uint64_t served, wakes, overtaken, helper_failed;
    uint64_t *last; /* [ranks]: serials, for `overtaken` */
};

bool over_ucx(void);

/* Collective. True if it worked, on this rank. */
bool node_open(struct node *n, size_t most, bool direct);
void node_close(struct node *n);
/* Closes its ports without the others, and waits for them to close theirs. */
void node_leave(struct node *n);

/* Sends and makes sure that it is sent: the payload is free again. */
void node_ask(struct node *n, int rank, uint32_t what, uint64_t serial, const void *payload, size_t bytes);

/* Progress until *counter is at least `wanted`; false if that takes longer than `seconds`. */
bool node_wait(struct node *n, const uint64_t *counter, uint64_t wanted, double seconds);

/* Progress for so long. */
void node_rest(struct node *n, double seconds);

/* A barrier in which those who wait do not spin. */
void lazy_barrier(void);

void fill_random(void *to, size_t bytes, uint64_t seed);
bool is_random(const void *data, size_t bytes, uint64_t seed);
uint64_t seed_of(int rank, uint64_t serial);

int open_files(void);
size_t resident_bytes(void);
double thread_seconds(pthread_t thread); /* of CPU time */

#endif
