/* knock.h: how a helper that sleeps in poll learns of a message that MPI has for it.
 *
 * No call of MPI waits without spinning, so who sends a message to a helper also sends it a datagram: a
 * knock. It says nothing but that there is something to look for; whoever else sends one only makes the
 * helper look. Knocks may get lost, so that a helper looks now and then anyway; and they may be faster
 * than the message, so that who was knocked for looks often until it is there. */
#ifndef HEARTH_NET_LINK_KNOCK_H
#define HEARTH_NET_LINK_KNOCK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

union knock_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct knock {
    int socket;                  /* -1: none */
    int64_t expected;            /* knocks without a message so far; negative: messages without a knock */
    uint64_t when;               /* of the last knock, in ns */
    union knock_address address; /* where it listens; family AF_UNSPEC: it does not */
};

/* For a helper: to be knocked at, from this machine only or from others. If that cannot be, it says so and is
 * opened as for others: to knock only. */
void knock_open(struct knock *k, bool listens, bool one_machine);
void knock_close(struct knock *k);

/* Knocks at somebody else's. Never waits; a knock that cannot be sent is lost. */
void knock_at(const struct knock *k, const union knock_address *address);

/* A message has come. */
static inline void knock_answered(struct knock *k) {
    k->expected--;
}

/* Before sleep: takes knocks in, and then tells whether a message is still to come. */
bool knock_expects(struct knock *k);

/* For how many microseconds the helper may sleep then. */
uint64_t knock_nap(const struct knock *k);

#endif
