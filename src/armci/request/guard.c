/* guard.c: the recursive mutex behind guard.h. It belongs to the engine, which served windows may use, too. */
#include "armci/request/guard.h"

#include <pthread.h>

void armci_guard_lock(void) {
    pthread_mutex_lock(&armci_job.share->guard);
}

void armci_guard_unlock(void) {
    pthread_mutex_unlock(&armci_job.share->guard);
}
