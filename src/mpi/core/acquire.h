/* acquire.h: sync events. In acquire mode cached data is reused until this process may have learned of a write by
 * another, that is, until it returns from a call that can be a sync event. */
#ifndef HEARTH_MPI_ACQUIRE_H
#define HEARTH_MPI_ACQUIRE_H

#include <stdatomic.h>

#include "mpi/core/host.h"

/* The kind of the sync event. Only tests use it: HEARTH_TEST_DEAF=word makes Hearth ignore one kind. */
enum news {
    NEWS_RECV,
    NEWS_SEND_SYNC,
    NEWS_PROBE,
    NEWS_COLLECTIVE,
    NEWS_REQUEST,
    NEWS_FENCE,
    NEWS_PSCW,
    NEWS_LOCK,
    NEWS_SYNC,
    NEWS_FILE,
    NEWS_ATOMIC,
    NEWS_FLUSH_POLL,
    NEWS_RECHECK,
    NEWS_GENERIC
};

extern HIDDEN _Atomic uint64_t acquire_generation; /* incremented by each acquire */
extern HIDDEN int acquire_deaf;                    /* the ignored kind, or -1 */
extern HIDDEN bool acquire_is_shared; /* by threads that call MPI at once; true until MPI says otherwise */

/* Once, collective: agrees on the collectives that a tool wraps on some process. */
void acquire_agree(void);

/* Call after the synchronising MPI call, before returning to the program. The release pairs with acquire_catch_up. */
static inline void acquire(enum news how) {
    if (UNLIKELY(acquire_deaf == (int)how))
        return;
    if (UNLIKELY(acquire_is_shared))
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
    else
        atomic_store_explicit(&acquire_generation,
                              atomic_load_explicit(&acquire_generation, memory_order_relaxed) + 1,
                              memory_order_release);
}

#endif
