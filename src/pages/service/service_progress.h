/* service_progress.h: caller-driven progress. */
#ifndef HEARTH_PAGES_SERVICE_PROGRESS_H
#define HEARTH_PAGES_SERVICE_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "net/net.h"

struct service;

struct service_progress {
    /* Progress lock: its holder runs the progress loop; the thread holds it unless it sleeps. */
    pthread_mutex_t lock;
    struct spin spin;   /* whether caller-driven progress pays */
    bool happened;      /* callers made progress since the thread last ran */
    _Atomic bool pays;  /* it paid lately, so waiting for the lock is worthwhile */
    _Atomic int wanted; /* callers that wait for the lock; the thread does not spin meanwhile */
};

/* Called by a thread of the leader's process that is about to send a request and wait for the answer. Takes the
 * progress lock and returns true if the service thread sleeps and caller-driven progress has paid lately. The caller
 * must not fault until it calls pages_progress_unlock. */
bool pages_progress_try_lock(struct service *s);
bool pages_progress_work_until(void *service, const _Atomic uint32_t *word, uint32_t seen);
void pages_progress_unlock(struct service *s);

#endif
