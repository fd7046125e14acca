/* guard.c: the recursive mutex behind guard.h. */
#include "armci/request/guard.h"

#include <pthread.h>

static pthread_mutex_t guard;

static void guard_make(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&guard, &kind);
    pthread_mutexattr_destroy(&kind);
}

void armci_guard_lock(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard_make);
    pthread_mutex_lock(&guard);
}

void armci_guard_unlock(void) {
    pthread_mutex_unlock(&guard);
}
