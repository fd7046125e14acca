/* watcher.c: threads that wait for a request while another thread drives progress.
 *
 *      watchers -> watcher -> watcher      on the stacks of the waiting threads; each sleeps on its own word */
#include "mpi/messages/state/watcher.h"

#include <stdatomic.h>

enum { WATCH_LOOKS = 2000 }; /* before a watcher sleeps */

/* A waiting thread. Its word is 1 until its request is done or it must drive progress. The lock guards all but the word. */
struct watcher {
    _Atomic int word;
    struct watcher *next;
};

static struct watcher *watchers;

static void watcher_unlist(struct watcher *w) {
    struct watcher **link = &watchers;
    while (*link && *link != w)
        link = &(*link)->next;
    if (*link)
        *link = w->next;
}

/* Release: pairs with p2p_watcher_sleep. The watcher stays valid during the call: its thread returns only after it has
 * taken the lock, which the caller holds. */
static void watcher_wake(struct watcher *w) {
    watcher_unlist(w);
    atomic_store_explicit(&w->word, 0, memory_order_release);
    p2p_wake_one(&w->word);
}

void p2p_watcher_wake(struct p2p_request *r) {
    struct watcher *w = r->watcher;
    r->watcher = NULL;
    watcher_wake(w);
}

void p2p_watcher_sleep(struct p2p_request *r) {
    struct watcher w = {.word = 1, .next = watchers};
    r->watcher = watchers = &w;
    p2p_unlock_slow();
    for (int looks = 0; looks < WATCH_LOOKS && atomic_load_explicit(&w.word, memory_order_acquire); looks++)
        ;
    while (atomic_load_explicit(&w.word, memory_order_acquire))
        p2p_sleep_on(&w.word, 1);
    p2p_lock_slow();
    r->watcher = NULL;
}

void p2p_watcher_wake_one(void) {
    if (watchers)
        watcher_wake(watchers);
}
