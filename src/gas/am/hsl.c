/* hsl.c: handler-safe locks, and the calls that hold off handlers.
 *
 * Handlers run only where a thread polls, so holding them off needs no action; only the rules are checked. A thread
 * that holds a lock, or holds off handlers, must not poll, wait or communicate, because a handler could need the same
 * lock. GASNet checks most of this in debug mode only: here it is a warning (gas_breach). A call that would wait
 * forever ends the job. */
#include "gas/am/am.h"

#include <errno.h>

#include "base/compiler.h"

static _Thread_local char me;

void gasnet_hsl_init(gasnet_hsl_t *hsl) {
    pthread_mutex_init(&hsl->mutex, NULL);
    hsl->holder = NULL;
}
ALSO(void, hsl_init, (gasnet_hsl_t * hsl));

void gasnet_hsl_destroy(gasnet_hsl_t *hsl) {
    if (UNLIKELY(pthread_mutex_destroy(&hsl->mutex) == EBUSY))
        gas_breach("gasnet_hsl_destroy", "the lock at %p is held", (void *)hsl);
}
ALSO(void, hsl_destroy, (gasnet_hsl_t * hsl));

/* A thread only compares the holder with itself, so a relaxed load suffices. */
static void *holder_of(gasnet_hsl_t *hsl) {
    return __atomic_load_n(&hsl->holder, __ATOMIC_RELAXED);
}

static void took(gasnet_hsl_t *hsl) {
    __atomic_store_n(&hsl->holder, &me, __ATOMIC_RELAXED);
    gas_am_context.locks++;
}

static void need_other(const char *call, gasnet_hsl_t *hsl) {
    if (UNLIKELY(holder_of(hsl) == &me))
        gas_fail(call, "this thread already holds the lock at %p: it would wait for itself", (void *)hsl);
}

void gasnet_hsl_lock(gasnet_hsl_t *hsl) {
    need_other("gasnet_hsl_lock", hsl);
    pthread_mutex_lock(&hsl->mutex);
    took(hsl);
}
ALSO(void, hsl_lock, (gasnet_hsl_t * hsl));

int gasnet_hsl_trylock(gasnet_hsl_t *hsl) {
    need_other("gasnet_hsl_trylock", hsl);
    if (pthread_mutex_trylock(&hsl->mutex) != 0)
        return GASNET_ERR_NOT_READY;
    took(hsl);
    return GASNET_OK;
}
ALSO(int, hsl_trylock, (gasnet_hsl_t * hsl));

void gasnet_hsl_unlock(gasnet_hsl_t *hsl) {
    if (UNLIKELY(holder_of(hsl) != &me))
        gas_fail("gasnet_hsl_unlock", "this thread does not hold the lock at %p", (void *)hsl);
    __atomic_store_n(&hsl->holder, NULL, __ATOMIC_RELAXED);
    gas_am_context.locks--;
    pthread_mutex_unlock(&hsl->mutex);
}
ALSO(void, hsl_unlock, (gasnet_hsl_t * hsl));

/* ---- interrupts, which do not exist here ---- */

/* In handlers, and while the thread holds a lock, they are already held, and the calls are ignored, as GASNet
 * specifies. */
static bool are_held_anyway(void) {
    return gas_am_context.where != AM_OUTSIDE || gas_am_context.locks > 0;
}

void gasnet_hold_interrupts(void) {
    if (are_held_anyway())
        return;
    if (UNLIKELY(gas_am_context.held & AM_HELD))
        gas_breach("gasnet_hold_interrupts", "they are already held: the call does not nest");
    gas_am_context.held |= AM_HELD;
}
ALSO(void, hold_interrupts, (void));

void gasnet_resume_interrupts(void) {
    if (are_held_anyway())
        return;
    if (UNLIKELY(!(gas_am_context.held & AM_HELD)))
        gas_breach("gasnet_resume_interrupts", "they are not held");
    gas_am_context.held &= ~(unsigned)AM_HELD;
}
ALSO(void, resume_interrupts, (void));
