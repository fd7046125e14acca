/* context.h: what the calling thread is doing: whether it runs a handler, holds locks, or is inside a call. */
#ifndef HEARTH_GAS_CONTEXT_H
#define HEARTH_GAS_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/compiler.h"

enum am_where { AM_OUTSIDE, AM_IN_REQUEST, AM_IN_REPLY };

/* Between gasnet_hold_interrupts and gasnet_resume_interrupts; between gex_AM_Prepare and gex_AM_Commit. */
enum { AM_HELD = 1, AM_PREPARED = 2 };

struct gas_thread;
struct am_token;
struct am_context {
    enum am_where where;
    struct am_token *token; /* of the running handler */
    unsigned locks;         /* handler-safe locks held */
    unsigned held;          /* AM_HELD, AM_PREPARED */
    /* How many gas_am_enter are open: the thread is in calls that take locks. Read by signal handlers that interrupt it. */
    unsigned inside;
    /* The thread's record (gas_handle.h), here so that a put or get finds both in one place; NULL before its first call. */
    struct gas_thread *thread;
};
/* initial-exec: every put and get accesses it without a call. It is small enough for the static TLS space that the loader
 * reserves for libraries loaded after start-up. */
extern _Thread_local struct am_context gas_am_context HIDDEN __attribute__((tls_model("initial-exec")));

static inline void gas_am_enter(void) {
    gas_am_context.inside++;
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void gas_am_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    gas_am_context.inside--;
}

/* Whether this thread may communicate: it runs no handler, and holds neither a handler-safe lock nor interrupts. */
static inline bool gas_am_is_free(void) {
    return ((unsigned)gas_am_context.where | gas_am_context.locks | gas_am_context.held) == 0;
}

#endif
