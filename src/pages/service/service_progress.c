/* service_progress.c: caller-driven progress: a thread of the leader's process that waits for an answer does the
 * service's work itself.
 *
 * Through the service's thread an answer costs two wakeups inside the node, in addition to the network's: the caller wakes
 * the thread through a pipe, and the thread wakes the caller. Here the caller itself sends and polls while the thread
 * sleeps. One of the two holds the progress lock. Arriving messages do not wake the thread meanwhile
 * (pages_service_listen).
 *
 * *No event is lost.* An event since the thread armed its descriptors has woken the thread, or was handled by the
 * caller, or makes the network's descriptor readable when the caller listens for the thread again. Work that no descriptor signals, and I/O that was started, is handed over by ringing the doorbell. While a
 * caller makes progress, a ring writes nothing (net_mailbox_is_watched); therefore the last pass comes after
 * net_mailbox_sleeps.
 *
 * *Only threads inside a call* do this, not threads that faulted: a fault may be inside the network library's own code.
 * A signal handler that ends the process would wait for the progress lock forever, so all signals except those of
 * faults are blocked. */
#include <signal.h>

#include "base/clock.h"
#include "pages/service/service.h"

enum { PROGRESS_LOCK_NS = 5000 /* limit for acquiring the lock: the thread may be about to sleep */ };
enum { IDLE_NS = 100000 /* no event for so long: no answer soon */, MOST_NS = 1000000 };

static _Thread_local struct service *driven; /* its progress lock is held by this thread; or NULL */
static _Thread_local sigset_t signals;       /* signal mask before hold_signals */

static void hold_signals(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_SETMASK, &held, &signals);
}

static bool take_progress_lock(struct service *s) {
    if (pthread_mutex_trylock(&s->progress.lock) == 0)
        return true;
    if (!atomic_load_explicit(&s->progress.pays, memory_order_relaxed))
        return false;
    bool got = false;
    atomic_fetch_add_explicit(&s->progress.wanted, 1, memory_order_relaxed);
    for (uint64_t end = clock_ns() + PROGRESS_LOCK_NS; !got && clock_ns() < end;)
        got = pthread_mutex_trylock(&s->progress.lock) == 0;
    atomic_fetch_sub_explicit(&s->progress.wanted, 1, memory_order_relaxed);
    return got;
}

bool pages_progress_try_lock(struct service *s) {
    if (driven || !s->channel || !take_progress_lock(s))
        return false;
    if (!s->thread.running || !net_spin_is_wanted(&s->progress.spin)) {
        pthread_mutex_unlock(&s->progress.lock);
        return false;
    }
    hold_signals();
    net_mailbox_is_watched(s->box);
    pages_service_listen(s, false);
    driven = s;
    return true;
}

static void progress_unlock(struct service *s, bool unfinished) {
    driven = NULL;
    s->progress.happened = true;
    net_mailbox_sleeps(s->box);
    pages_service_go_round(s);
    unfinished |= s->io.under_way > 0 || pages_service_is_waiting(s);
    unfinished |= !pages_service_listen(s, true);
    pthread_mutex_unlock(&s->progress.lock);
    if (unfinished)
        net_mailbox_doorbell(s->box);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void pages_progress_unlock(struct service *s) {
    if (driven == s) /* otherwise pages_progress_work_until has already released the lock */
        progress_unlock(s, false);
}

/* Makes progress while events occur. Then the thread continues, and the caller sleeps. */
static bool progress_work(struct service *s, const _Atomic uint32_t *word, uint32_t seen) {
    uint64_t begun = clock_ns(), idle_since = begun, now = begun;
    while (now - idle_since < IDLE_NS && now - begun < MOST_NS) {
        unsigned happened = pages_service_go_round(s);
        /* Pairs with pool_wake() and pages_pool_small_done(). */
        if (atomic_load_explicit(word, memory_order_acquire) != seen)
            return true;
        now = clock_ns();
        if (happened)
            idle_since = now;
        else if (s->io.under_way > 0)
            pages_behind_flush(s);
    }
    return false;
}

bool pages_progress_work_until(void *service, const _Atomic uint32_t *word, uint32_t seen) {
    struct service *s = service;
    if (driven != s)
        return false;
    bool paid = progress_work(s, word, seen);
    net_spin_has_paid(&s->progress.spin, paid);
    atomic_store_explicit(&s->progress.pays, s->progress.spin.score > 0, memory_order_relaxed);
    if (!paid)
        progress_unlock(s, true); /* the thread must run: only it detects nodes that do not answer */
    return paid;
}
