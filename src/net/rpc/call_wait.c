/* call_wait.c: the client side waits: for an operation, or, in a fence, for everything that a helper was sent.
 *
 * A waiting client makes progress. In the leader of a node it may also drive the helper of its own process (drive.h). After
 * a round without progress it spins, if spinning has paid off before (spin.h), and then sleeps until a message arrives. A
 * wait ends the job if the helper is silent for HEARTH_NET_TIMEOUT. */
#include "net/rpc/call.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "net/rpc/rpc_engine.h"
#include "net/rpc/sched_slice.h"

enum { LONGEST_NAP_US = 10000 };
/* a round of a wait never takes this long unless the process was stopped: it sleeps for at most 10 ms */
#define STOPPED_NS 500000000u

void net_progress(struct net *n) {
    if (n->link && net_call_progress(n) == 0 && n->served)
        net_drive(n, 0);
}

void net_nap(struct net *n, uint64_t most_us) {
    if (!n->sliced) {
        n->sliced = true;
        net_sched_slice_shorten();
    }
    if (net_link_arm(n->port) != 0)
        return;
    uint64_t us = net_link_nap(n->port);
    us = us < most_us ? us : most_us;
    struct timespec time = {.tv_nsec = (long)us * 1000};
    struct pollfd fd = {.fd = net_link_descriptor(n->port), .events = POLLIN};
    ppoll(&fd, 1, &time, NULL);
}

static void give_up_after(struct net *n, struct net_target *t, struct patience *p, uint64_t now) {
    uint64_t heard = t->heard > p->begun ? t->heard : p->begun;
    if (n->timeout_ns == 0 || now - heard <= n->timeout_ns)
        return;
    char why[128];
    snprintf(why, sizeof why, "no message from the helper in it for %llu s (HEARTH_NET_TIMEOUT)",
             (unsigned long long)(n->timeout_ns / 1000000000u));
    net_tell_failure(n, t->rank, why);
    p->begun = now;
}

void net_target_wait(struct net *n, struct net_target *t, struct patience *p, bool forever) {
    if (net_call_progress(n) != 0) {
        if (UNLIKELY(t->direct > 0))
            t->heard = clock_ns(); /* data of a long get arrives without messages from the helper */
        if (p->spins)
            net_spin_has_paid(&n->spin, true);
        *p = (struct patience){.begun = p->begun, .last = p->last, .bytes = p->bytes};
        return;
    }
    uint64_t now = clock_ns();
    bool drives = net_drive(n, now) > 0;
    if (p->begun == 0)
        p->begun = now;
    if (p->last > 0 && now - p->last > STOPPED_NS)
        p->begun = now; /* this process was stopped, and perhaps the other one too */
    p->last = now;
    if (drives)
        return;
    if (p->idle_since == 0) {
        p->idle_since = now;
        p->spins = net_spin_is_wanted(&n->spin);
    }
    if (p->spins && now - p->idle_since < n->spin_ns + net_spin_for_bytes(p->bytes))
        return;
    if (p->spins)
        net_spin_has_paid(&n->spin, false);
    p->spins = false;
    if (!forever)
        give_up_after(n, t, p, now);
    net_nap(n, LONGEST_NAP_US);
}

static struct net_target *target_of_op(struct net *n, int node, const struct net_op *op) {
    return net_target_of(n, node, op->first_helper ? 0 : n->world->rank % n->helpers);
}

void net_wait_sent(struct net *n, int node, struct net_op *op) {
    struct patience p = {0};
    while (!net_is_sent(op))
        net_target_wait(n, target_of_op(n, node, op), &p, false);
}

void net_wait_done(struct net *n, int node, struct net_op *op) {
    struct patience p = {.bytes = op->asked + op->left - op->answered};
    while (!net_is_done(op))
        net_target_wait(n, target_of_op(n, node, op), &p, op->waits);
}

static bool is_drained(const struct net_target *t) {
    return !t->first && net_flow_is_idle(&t->flow);
}

static bool has_quiesced(const struct net_target *t) {
    return !t || (is_drained(t) && !t->unflushed && !t->flushing && t->direct == 0);
}

void net_target_drain(struct net *n, struct net_target *t) {
    struct patience p = {0};
    while (!is_drained(t))
        net_target_wait(n, t, &p, false);
}

static void fence_target(struct net *n, struct net_target *t) {
    struct patience p = {0};
    if (t && t->unflushed)
        net_target_flush(n, t);
    while (!has_quiesced(t))
        net_target_wait(n, t, &p, false);
}

void net_fence(struct net *n, int node) {
    for (int h = 0; n->link && h < n->helpers; h++)
        fence_target(n, n->targets[(size_t)node * (size_t)n->helpers + (size_t)h]);
}

void net_fence_all(struct net *n) {
    for (int node = 0; n->link && node < n->world->nodes; node++)
        net_fence(n, node);
}
