/* Who waits for the service does its work: a thread of the same process that has asked for something.
 *
 * Through the service's thread an answer costs two sleeps inside the node beside the network's: the thread is rung
 * through a pipe, and it wakes who waits. Here the caller itself sends and looks for what comes, as long as the thread
 * sleeps; a baton is with one of them. What arrives wakes the thread all the same, which finds the baton taken, or
 * nothing to do, and sleeps again; it is not in the way of the answer.
 *
 * *Nothing is missed.* What happened since the thread armed its descriptors has woken it, or was taken by the one who
 * stands in. What no descriptor tells of, and what was begun at the disk, is handed over with a ring. Who rings while
 * somebody stands in writes nothing (mailbox_is_watched); therefore, the last look is after mailbox_sleeps.
 *
 * *Only who called us* does it, not who faulted: a fault may be inside the network's own code. A signal's handler that
 * ended the process would wait for the baton for ever, and so signals wait, but for those of faults. */
#include <signal.h>

#include "pages/service.h"

enum { BATON_NS = 5000 /* how long to wait for it: the thread may only be on its way to sleep */ };
enum { QUIET_NS = 100000 /* then the answer will not come soon */, MOST_NS = 1000000 };

static _Thread_local struct service *standing_in; /* of this thread */
static _Thread_local sigset_t signals;            /* before */

static void hold_signals(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_SETMASK, &held, &signals);
}

static bool take_baton(struct service *s) {
    if (pthread_mutex_trylock(&s->baton) == 0)
        return true;
    if (!atomic_load_explicit(&s->pays, memory_order_relaxed))
        return false;
    bool got = false;
    atomic_fetch_add_explicit(&s->wanted, 1, memory_order_relaxed);
    for (uint64_t end = clock_ns() + BATON_NS; !got && clock_ns() < end;)
        got = pthread_mutex_trylock(&s->baton) == 0;
    atomic_fetch_sub_explicit(&s->wanted, 1, memory_order_relaxed);
    return got;
}

bool service_take_over(struct service *s) {
    if (standing_in || !s->channel || !take_baton(s))
        return false;
    if (!s->running || !spin_is_wanted(&s->stand_in)) {
        pthread_mutex_unlock(&s->baton);
        return false;
    }
    hold_signals();
    mailbox_is_watched(s->box);
    standing_in = s;
    return true;
}

static void give_back(struct service *s, bool unfinished) {
    standing_in = NULL;
    s->stood_in = true;
    mailbox_sleeps(s->box);
    service_go_round(s);
    unfinished |= s->ios > 0 || service_is_waiting(s);
    pthread_mutex_unlock(&s->baton);
    if (unfinished)
        mailbox_ring(s->box);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void service_give_back(struct service *s) {
    if (standing_in == s) /* else it was given back when it did not pay */
        give_back(s, false);
}

/* As long as something happens; then the thread goes on, and the caller sleeps. */
static bool work(struct service *s, const _Atomic uint32_t *word, uint32_t seen) {
    uint64_t begun = clock_ns(), quiet = begun, now = begun;
    while (now - quiet < QUIET_NS && now - begun < MOST_NS) {
        unsigned happened = service_go_round(s);
        if (atomic_load_explicit(word, memory_order_acquire) != seen) /* with wake() and pool_small_done() */
            return true;
        now = clock_ns();
        if (happened)
            quiet = now;
        else if (s->ios > 0)
            disk_flush(s);
    }
    return false;
}

bool service_work_until(void *service, const _Atomic uint32_t *word, uint32_t seen) {
    struct service *s = service;
    if (standing_in != s)
        return false;
    bool paid = work(s, word, seen);
    spin_has_paid(&s->stand_in, paid);
    atomic_store_explicit(&s->pays, s->stand_in.worth > 0, memory_order_relaxed);
    if (!paid)
        give_back(s, true); /* the thread waits for others from now on, and must look after them */
    return paid;
}
