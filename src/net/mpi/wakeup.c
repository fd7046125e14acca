/* wakeup.c: sends and receives wakeup datagrams. Each port has one socket; a helper's is bound to a port number that the
 * system chooses. Its address is the loopback address if all processes are on one machine, otherwise the address of the
 * host's name or of the first device that is up.
 *
 * `expected` is the number of wakeups minus the number of messages. If it is positive, a message is still to come.
 * When nothing is left to receive, a negative value is set to 0: the missing wakeups were lost, or arrive late. A
 * positive value is set to 0 after a while: the wakeups came from an unrelated process, or were such late ones. */
#include "net/mpi/wakeup.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    SHORT_US = 20,      /* between polls while a message is to come */
    LONG_US = 1000,     /* between polls otherwise: the delay by a lost wakeup */
    FORGET_NS = 1000000 /* most messages follow their wakeup sooner */
};

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

/* Link-local addresses, fe80::, are valid only with a device and of no use to others. */
static bool wakeup_is_usable(const struct sockaddr *a) {
    if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6) || is_loopback(a))
        return false;
    return a->sa_family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static socklen_t length_of(const union wakeup_address *a) {
    return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}

static void wakeup_keep(union wakeup_address *into, const struct sockaddr *a) {
    memset(into, 0, sizeof *into);
    memcpy(into, a, a->sa_family == AF_INET ? sizeof into->v4 : sizeof into->v6);
    if (a->sa_family == AF_INET)
        into->v4.sin_port = 0;
    else
        into->v6.sin6_port = 0;
}

static bool is_of_a_device(const struct ifaddrs *devices, const struct sockaddr *a) {
    for (const struct ifaddrs *d = devices; d; d = d->ifa_next) {
        if (!d->ifa_addr || d->ifa_addr->sa_family != a->sa_family || !(d->ifa_flags & IFF_UP))
            continue;
        union wakeup_address own, other;
        wakeup_keep(&own, d->ifa_addr);
        wakeup_keep(&other, a);
        if (a->sa_family == AF_INET
                ? own.v4.sin_addr.s_addr == other.v4.sin_addr.s_addr
                : !memcmp(&own.v6.sin6_addr, &other.v6.sin6_addr, sizeof own.v6.sin6_addr))
            return true;
    }
    return false;
}

static bool find_by_name(const struct ifaddrs *devices, union wakeup_address *into) {
    char name[256] = "";
    struct addrinfo *list, wanted = {.ai_socktype = SOCK_DGRAM};
    bool found = false;
    if (gethostname(name, sizeof name - 1) != 0 || getaddrinfo(name, NULL, &wanted, &list) != 0)
        return false;
    for (struct addrinfo *i = list; i && !found; i = i->ai_next) {
        found = wakeup_is_usable(i->ai_addr) && is_of_a_device(devices, i->ai_addr);
        if (found)
            wakeup_keep(into, i->ai_addr);
    }
    freeaddrinfo(list);
    return found;
}

static bool find_by_device(const struct ifaddrs *devices, int family, union wakeup_address *into) {
    for (const struct ifaddrs *d = devices; d; d = d->ifa_next) {
        if (!wakeup_is_usable(d->ifa_addr) || d->ifa_addr->sa_family != family || !(d->ifa_flags & IFF_UP) ||
            !(d->ifa_flags & IFF_RUNNING))
            continue;
        wakeup_keep(into, d->ifa_addr);
        return true;
    }
    return false;
}

static bool wakeup_find_address(bool one_machine, union wakeup_address *into) {
    struct ifaddrs *devices;
    if (one_machine) {
        memset(into, 0, sizeof *into);
        into->v4.sin_family = AF_INET;
        into->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return true;
    }
    if (getifaddrs(&devices) != 0)
        return false;
    bool found = find_by_name(devices, into) || find_by_device(devices, AF_INET, into) ||
                 find_by_device(devices, AF_INET6, into);
    freeifaddrs(devices);
    return found;
}

static int open_socket(int family) {
    return socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static bool listen_at(struct wakeup *k, bool one_machine) {
    socklen_t bytes = sizeof k->address;
    if (!wakeup_find_address(one_machine, &k->address))
        return false;
    k->socket = open_socket(k->address.any.sa_family);
    if (k->socket >= 0 && bind(k->socket, &k->address.any, length_of(&k->address)) == 0 &&
        getsockname(k->socket, &k->address.any, &bytes) == 0)
        return true;
    int why = errno;
    net_wakeup_close(k);
    errno = why;
    return false;
}

void net_wakeup_open(struct wakeup *k, bool listens, bool one_machine) {
    *k = (struct wakeup){.socket = -1};
    if (listens && listen_at(k, one_machine))
        return;
    if (listens)
        log_warn("network mpi: a helper cannot be woken by datagrams (%s): it polls every %d us",
                 strerror(errno), LONG_US);
    *k = (struct wakeup){.socket = open_socket(AF_INET)};
}

void net_wakeup_close(struct wakeup *k) {
    if (k->socket >= 0)
        close(k->socket);
    *k = (struct wakeup){.socket = -1};
}

void net_wakeup_send(const struct wakeup *k, const union wakeup_address *address) {
    static const char wakeup = 1;
    if (address->any.sa_family != AF_UNSPEC)
        (void)sendto(k->socket, &wakeup, sizeof wakeup, MSG_DONTWAIT | MSG_NOSIGNAL, &address->any,
                     length_of(address));
}

/* A bounded number at a time: datagrams of unrelated processes must not keep the helper in this loop. */
static int take_wakeups(struct wakeup *k) {
    enum { MOST = 512 };
    char data[8];
    int taken = 0;
    while (taken < MOST && recv(k->socket, data, sizeof data, MSG_DONTWAIT) >= 0)
        taken++;
    return taken;
}

bool net_wakeup_expects(struct wakeup *k) {
    int taken = take_wakeups(k);
    if (taken) {
        k->expected += taken;
        k->when = clock_ns();
    }
    if (k->expected < 0 || (k->expected > 0 && clock_ns() - k->when > FORGET_NS))
        k->expected = 0;
    return k->expected > 0;
}

uint64_t net_wakeup_nap(const struct wakeup *k) {
    return k->expected > 0 ? SHORT_US : LONG_US;
}
