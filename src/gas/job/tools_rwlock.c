/* tools_rwlock.c: gasnet_tools.h: reader-writer locks. POSIX has them, but hides them from programs in strict C99. */
#include "gas/process/process.h"

#include <errno.h>

#include "hearth/gasnet/gasnet_tools.h"

void gasnett_rwlock_init(gasnett_rwlock_t *lock) {
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_cond_init(&lock->freed, NULL);
    lock->holders = 0;
}

void gasnett_rwlock_destroy(gasnett_rwlock_t *lock) {
    pthread_cond_destroy(&lock->freed);
    pthread_mutex_destroy(&lock->mutex);
}

/* Takes the lock if it is free: for one more reader, or for the writer. */
static bool rwlock_take(gasnett_rwlock_t *lock, bool writes) {
    if (writes ? lock->holders != 0 : lock->holders < 0)
        return false;
    lock->holders += writes ? -1 : 1;
    return true;
}

static void rwlock_lock(gasnett_rwlock_t *lock, bool writes) {
    pthread_mutex_lock(&lock->mutex);
    while (!rwlock_take(lock, writes))
        pthread_cond_wait(&lock->freed, &lock->mutex);
    pthread_mutex_unlock(&lock->mutex);
}

static int rwlock_try(gasnett_rwlock_t *lock, bool writes) {
    pthread_mutex_lock(&lock->mutex);
    bool taken = rwlock_take(lock, writes);
    pthread_mutex_unlock(&lock->mutex);
    return taken ? 0 : EBUSY;
}

void gasnett_rwlock_rdlock(gasnett_rwlock_t *lock) {
    rwlock_lock(lock, false);
}

void gasnett_rwlock_wrlock(gasnett_rwlock_t *lock) {
    rwlock_lock(lock, true);
}

int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *lock) {
    return rwlock_try(lock, false);
}

int gasnett_rwlock_trywrlock(gasnett_rwlock_t *lock) {
    return rwlock_try(lock, true);
}

void gasnett_rwlock_unlock(gasnett_rwlock_t *lock) {
    pthread_mutex_lock(&lock->mutex);
    lock->holders -= lock->holders < 0 ? -1 : 1;
    if (lock->holders == 0)
        pthread_cond_broadcast(&lock->freed);
    pthread_mutex_unlock(&lock->mutex);
}
