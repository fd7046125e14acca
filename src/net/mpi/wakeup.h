/* wakeup.h: wakes a helper that sleeps in poll when MPI has a message for it.
 *
 * No MPI call waits without spinning. So the sender of a message to a helper also sends it a datagram as a wakeup. The
 * content of the datagram is ignored; one from an unrelated process only makes the helper poll. Wakeups may get lost, so
 * a helper also polls now and then. They may overtake the message, so a helper that got one polls often until the
 * message arrives. */
#ifndef HEARTH_NET_LINK_WAKEUP_H
#define HEARTH_NET_LINK_WAKEUP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

union wakeup_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct wakeup {
    int socket;                   /* -1: none */
    int64_t expected;             /* wakeups without a message so far; negative: messages without a wakeup */
    uint64_t when;                /* time of the last wakeup, in ns */
    union wakeup_address address; /* its own address; family AF_UNSPEC: it does not listen */
};

/* `listens`: receives wakeups, for a helper; otherwise it only sends them. `one_machine`: wakeups come only from this
 * machine. If it cannot listen, logs a warning and opens it for sending only. */
void net_wakeup_open(struct wakeup *k, bool listens, bool one_machine);
void net_wakeup_close(struct wakeup *k);

/* Sends a wakeup. Never blocks; a wakeup that cannot be sent is lost. */
void net_wakeup_send(const struct wakeup *k, const union wakeup_address *address);

/* A message has arrived. */
static inline void net_wakeup_answered(struct wakeup *k) {
    k->expected--;
}

/* Before sleep: receives wakeups. Returns whether a message that a wakeup announced has not arrived yet. */
bool net_wakeup_expects(struct wakeup *k);

/* The most microseconds that the helper may sleep after net_wakeup_expects. */
uint64_t net_wakeup_nap(const struct wakeup *k);

#endif
