/* service_alive.c: detection of unresponsive nodes. The network reports a node that is killed, but not always one that
 * is cut off.
 *
 * While answers may be outstanding, every node to which something was ever sent is pinged from time to time. Its
 * service answers immediately, whatever its ranks do. A node is considered lost if nothing at all arrives from it for
 * HEARTH_NET_TIMEOUT after a ping. So it is not necessary to know which request waits for which node, and a request
 * that waits for a disk, or for the program to synchronise, does not end the job. The node that forwarded a request
 * monitors the node that it forwarded it to.
 *
 * A process that was stopped notices that its last check was long ago, and restarts the timeouts of the others: they
 * may have been stopped with it. */
#include "base/clock.h"
#include "base/settings.h"
#include "pages/service/service.h"

#define STOPPED_NS (4 * (uint64_t)SERVICE_LOOK_US * 1000)

/* Requests that are held back wait for no node, but for a checkpoint. */
bool pages_alive_is_wanted(const struct service *s) {
    return s->channel && (pages_service_open_requests(s) > 0 || s->home.works_taken > 0 || s->room.asked > 0);
}

static void send_ping(struct service *s, int node) {
    struct pages_message m = {.kind = SERVICE_PING, .from = s->self, .to = (uint16_t)node};
    pages_service_send(s, &m, (struct load){0});
}

static void peer_look_at(struct service *s, int node, uint64_t now, uint64_t limit_ns, bool pings) {
    struct service_peer *p = &s->alive.peers[node];
    if (p->pinged > 0 && now - p->pinged > limit_ns)
        pages_service_fail(s,
                           "node %d has not answered for %llu s (HEARTH_NET_TIMEOUT); requests wait for it",
                           node, (unsigned long long)(limit_ns / 1000000000u));
    else if (pings && p->known && p->pinged == 0) {
        p->pinged = now;
        send_ping(s, node);
    }
}

static void begin_anew(struct service *s, uint64_t now) {
    for (int node = 0; node < s->world->nodes; node++)
        if (s->alive.peers[node].pinged > 0)
            s->alive.peers[node].pinged = now;
}

/* Pings four times per timeout. */
void pages_alive_look(struct service *s) {
    uint64_t limit_ns = settings_get()->net_timeout * 1000000000u, now = clock_ns();
    if (limit_ns == 0 || !pages_alive_is_wanted(s)) {
        s->alive.pinged = now;
        return;
    }
    if (now - s->alive.looked > STOPPED_NS)
        begin_anew(s, now);
    s->alive.looked = now;
    bool pings = now - s->alive.pinged > limit_ns / 4;
    if (pings)
        s->alive.pinged = now;
    for (int node = 0; node < s->world->nodes; node++)
        peer_look_at(s, node, now, limit_ns, pings);
}

/* pages_service_arrived has already recorded the arrival. */
void pages_alive_take(struct service *s, const struct pages_message *m) {
    if (m->kind == SERVICE_PONG)
        return;
    struct pages_message back = {.kind = SERVICE_PONG, .from = s->self, .to = m->from};
    pages_service_send(s, &back, (struct load){0});
}
