/* locks.c: mutexes at the helper. A lock request waits here in FIFO order until the mutex is granted. It costs one
 * message each way, however long that takes. */
#include "armci/request/locks.h"

#include <errno.h>
#include <stdlib.h>

#include "armci/job/armci_internal.h"
#include "base/log.h"

enum { NOBODY = -1 };

struct waiter {
    struct waiter *next;
    struct asker asker;
};

struct mutex {
    int holder;
    struct waiter *first, *last;
};

/* The mutexes of one process, made by one ARMCI_Create_mutexes. */
struct mutex_set {
    struct mutex_set *next;
    uint64_t set;
    int owner, count;
    struct mutex mutexes[];
};

static struct mutex_set *sets;

static struct mutex_set **lock_place_of(uint64_t set, int owner) {
    struct mutex_set **at = &sets;
    while (*at && ((*at)->set != set || (*at)->owner != owner))
        at = &(*at)->next;
    return at;
}

int armci_locks_create(uint64_t set, int owner, int count) {
    struct mutex_set *s = malloc(sizeof *s + (size_t)count * sizeof(struct mutex));
    if (!s) {
        log_error("no memory for %d mutexes", count);
        return -ENOMEM;
    }
    *s = (struct mutex_set){.next = sets, .set = set, .owner = owner, .count = count};
    for (int i = 0; i < count; i++)
        s->mutexes[i] = (struct mutex){.holder = NOBODY};
    sets = s;
    return 0;
}

static void free_set(struct mutex_set *s) {
    for (int i = 0; i < s->count; i++)
        while (s->mutexes[i].first) {
            struct waiter *w = s->mutexes[i].first;
            s->mutexes[i].first = w->next;
            free(w);
        }
    free(s);
}

int armci_locks_destroy(uint64_t set, int owner) {
    struct mutex_set **at = lock_place_of(set, owner), *s = *at;
    if (!s)
        return -ENOENT;
    for (int i = 0; i < s->count; i++)
        if (s->mutexes[i].holder != NOBODY || s->mutexes[i].first)
            return -EBUSY;
    *at = s->next;
    free_set(s);
    return 0;
}

void armci_locks_close_all(void) {
    while (sets) {
        struct mutex_set *s = sets;
        sets = s->next;
        free_set(s);
    }
}

static struct mutex *lock_find(const struct op_mutex *m) {
    struct mutex_set *s = *lock_place_of(m->set, (int)m->owner);
    return s && m->mutex < (uint32_t)s->count ? &s->mutexes[m->mutex] : NULL;
}

static bool lock_enqueue(struct mutex *m, const struct asker *asker) {
    struct waiter *w = malloc(sizeof *w);
    if (!w)
        return false;
    *w = (struct waiter){.asker = *asker};
    if (m->last)
        m->last->next = w;
    else
        m->first = w;
    m->last = w;
    return true;
}

enum net_result armci_locks_lock(const struct op_mutex *asked, const struct asker *asker, int64_t *answer) {
    struct mutex *m = lock_find(asked);
    *answer = LOCK_HELD;
    if (!m)
        *answer = -ENOENT;
    else if (m->holder == NOBODY)
        m->holder = asker->rank;
    else if (m->holder == asker->rank)
        *answer = asked->only_try ? LOCK_TAKEN : -EDEADLK;
    else if (asked->only_try)
        *answer = LOCK_TAKEN;
    else if (lock_enqueue(m, asker))
        return NET_LATER;
    else
        *answer = -ENOMEM;
    return NET_DONE;
}

static void lock_grant(const struct asker *asker) {
    int64_t held = LOCK_HELD;
    if (asker->local)
        net_answer_local(armci_job.net, (int)asker->reply, held);
    else
        net_reply(armci_job.net, 0, asker->reply, &held, sizeof held);
}

int armci_locks_unlock(const struct op_mutex *asked, int rank) {
    struct mutex *m = lock_find(asked);
    if (!m)
        return -ENOENT;
    if (m->holder != rank)
        return -EPERM;
    struct waiter *w = m->first;
    m->holder = NOBODY;
    if (!w)
        return 0;
    m->first = w->next;
    if (!w->next)
        m->last = NULL;
    m->holder = w->asker.rank;
    lock_grant(&w->asker);
    free(w);
    return 0;
}
