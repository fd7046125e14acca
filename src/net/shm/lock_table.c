/* lock_table.c: a table of robust process-shared mutexes.
 *
 * Each mutex has two cache lines of its own (processors fetch lines in pairs), since users of neighbouring mutexes
 * are unrelated. The block's number is multiplied by the golden ratio, and the upper bits select the lock. Adjacent
 * blocks are always 158 or 159 locks apart. Blocks at distances of powers of two, such as the same offsets in equal
 * parts, are spread too.
 *
 * The kernel handles the death of a holder: it walks the list that the C library keeps for each thread, and marks
 * the mutexes on it. A robust mutex costs some 10 ns more than a plain one, lock and unlock together. A futex word
 * of our own could not be on that list without being such a mutex. */
#include "net/shm/lock_table.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

enum { BITS = 8, LOCKS = 1 << BITS };

struct lock_table_slot {
    _Alignas(128) pthread_mutex_t mutex;
};

struct net_lock_table {
    struct lock_table_slot lock_table[LOCKS];
};

size_t net_lock_table_bytes(void) {
    return sizeof(struct net_lock_table);
}

static int make_mutexes(struct net_lock_table *s, const pthread_mutexattr_t *kind) {
    int err = 0;
    for (int i = 0; i < LOCKS && !err; i++)
        err = pthread_mutex_init(&s->lock_table[i].mutex, kind);
    return -err;
}

int net_lock_table_make(struct net_lock_table *s) {
    pthread_mutexattr_t kind;
    int err = pthread_mutexattr_init(&kind);
    if (err)
        return -err;
    err = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    if (!err)
        err = pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    err = err ? -err : make_mutexes(s, &kind);
    pthread_mutexattr_destroy(&kind);
    return err;
}

static pthread_mutex_t *mutex_of(struct net_lock_table *s, const void *address) {
    uint64_t block = (uint64_t)(uintptr_t)address / LOCK_TABLE_GRAIN;
    return &s->lock_table[block * 0x9e3779b97f4a7c15u >> (64 - BITS)].mutex;
}

/* Whether we hold the mutex now. If its last holder died with it, makes it usable again. */
static bool lock_table_is_ours(pthread_mutex_t *mutex, int result) {
    if (result == EOWNERDEAD)
        result = pthread_mutex_consistent(mutex);
    return result == 0;
}

void net_lock_table_lock(struct net_lock_table *s, const void *address) {
    pthread_mutex_t *mutex = mutex_of(s, address);
    bool ours = lock_table_is_ours(mutex, pthread_mutex_lock(mutex));
    assert(ours);
    (void)ours;
}

bool net_lock_table_try(struct net_lock_table *s, const void *address) {
    pthread_mutex_t *mutex = mutex_of(s, address);
    return lock_table_is_ours(mutex, pthread_mutex_trylock(mutex));
}

void net_lock_table_unlock(struct net_lock_table *s, const void *address) {
    pthread_mutex_unlock(mutex_of(s, address));
}
