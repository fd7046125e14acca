/* remote_gate.c: the helper queues at the gates of its node on behalf of processes of other nodes.
 *
 * A ticket is drawn when the request arrives, so remote and local processes are served in one order. The helper does not
 * wait: it counts itself among the sleepers of the gate. The process that lets the next ticket in then tells the helper
 * through its mailbox, and the helper replies to the process whose lock is held now.
 *
 * For MPI_Win_lock_all one request locks all ranks of the node, one after the other, in ascending order as everywhere. */
#include <sched.h>
#include <stdlib.h>

#include "base/job_end.h"
#include "base/log.h"
#include "mpi/windows/serving/remote/remote.h"

struct serve_waiter {
    struct serve_waiter *next;
    struct served *window;
    int at, end; /* numbers of the targets of this node whose gates it still has to enter */
    bool exclusive, drawn, asleep;
    uint32_t ticket;
    uint64_t reply;
};

static _Thread_local bool is_helper; /* while this thread executes requests of other nodes */

/* ---- the helper ---- */

/* The targets that a request is for, all of this node or one of them: [*at, *end) of s->here. */
static void request_targets(const struct served *s, const struct remote_head *h, int *at, int *end) {
    bool all = h->target == REMOTE_ALL;
    *at = all ? 0 : (int)serve_target_find(s, (int)h->target)->head.number;
    *end = all ? s->here_count : *at + 1;
}

static struct serve_gate *waiter_gate(const struct serve_waiter *w) {
    return w->at < w->end ? w->window->here[w->at]->gate : NULL;
}

/* Enters as many gates as possible. True: all. */
static bool waiter_advance(struct serve_waiter *w) {
    struct serve_gate *g;
    while ((g = waiter_gate(w))) {
        if (!w->drawn)
            w->ticket = serve_gate_draw(g);
        w->drawn = true;
        bool entered = serve_gate_try(g, w->ticket, w->exclusive);
        if (!entered && !w->asleep) {
            w->asleep = true;
            serve_gate_sleep(g);
            entered = serve_gate_try(g, w->ticket, w->exclusive);
        }
        if (!entered)
            return false;
        if (w->asleep)
            serve_gate_awake(g);
        w->drawn = w->asleep = false;
        w->at++;
    }
    return true;
}

static void waiter_reply(struct serve_domain *d, const struct serve_waiter *w) {
    int64_t held = 1;
    net_reply(d->net, 0, w->reply, &held, sizeof held);
}

/* A waiter that enters may let further ones in, so the list is walked until nothing changes. */
static void waiters_check(struct serve_domain *d) {
    bool changed = d->waiters;
    while (changed) {
        changed = false;
        for (struct serve_waiter **at = &d->waiters; *at;) {
            struct serve_waiter *w = *at;
            int before = w->at;
            bool all = waiter_advance(w);
            changed |= w->at != before;
            if (all) {
                *at = w->next;
                waiter_reply(d, w);
                free(w);
            } else {
                at = &w->next;
            }
        }
    }
}

void serve_remote_gate_check(struct serve_domain *d) {
    is_helper = true;
    waiters_check(d);
    is_helper = false;
}

bool serve_remote_gate_enter(const struct served_target *t, bool exclusive) {
    is_helper = true;
    bool entered = serve_gate_enter_now(t->gate, exclusive);
    is_helper = false;
    return entered;
}

void serve_remote_gate_lock(struct serve_domain *d, struct served *s, const struct remote_head *h,
                            uint64_t reply) {
    struct serve_waiter first = {.window = s, .exclusive = h->exclusive, .reply = reply};
    request_targets(s, h, &first.at, &first.end);
    is_helper = true;
    if (waiter_advance(&first)) {
        waiter_reply(d, &first);
    } else {
        struct serve_waiter *w = malloc(sizeof *w);
        if (!w) {
            log_error("no memory for a rank that waits for a lock; the job is ended");
            job_end(EXIT_FAILURE);
        }
        *w = first;
        struct serve_waiter **at = &d->waiters;
        while (*at)
            at = &(*at)->next;
        *at = w;
    }
    if (!h->exclusive)
        waiters_check(d); /* a shared ticket may follow this one */
    is_helper = false;
}

void serve_remote_gate_unlock(struct serve_domain *d, struct served *s, const struct remote_head *h) {
    int at, end;
    request_targets(s, h, &at, &end);
    is_helper = true;
    for (; at < end; at++)
        serve_gate_leave(s->here[at]->gate, h->exclusive);
    waiters_check(d);
    is_helper = false;
}

/* ---- the processes of the node ---- */

/* A process of the node has let the next ticket in, which may be one of the helper's. */
static void gate_tell_helper(const struct serve_gate *g) {
    enum { NAP_US = 1000 };
    struct serve_domain *d = is_helper ? NULL : serve_domain_find(atomic_load(&g->domain));
    struct mailbox_request request = {.what = LOCAL_GATE_CHANGED};
    int64_t answer;
    if (!d)
        return;
    struct mailbox *box = net_mailbox(d->net);
    int cell = net_mailbox_ask(box, &request);
    while (cell < 0) { /* other threads use all cells, and are answered soon */
        sched_yield();
        cell = net_mailbox_ask(box, &request);
    }
    while (!net_mailbox_answered(box, cell, &answer))
        net_mailbox_wait(box, cell, NAP_US);
}

void serve_remote_gate_open(void) {
    serve_gate_remote = gate_tell_helper;
}
