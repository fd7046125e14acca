/* acquire.h: sync events. In acquire mode cached data is reused until this process may have learned of a write by
 * another, that is, until it returns from a call that can be a sync event. */
#ifndef HEARTH_MPI_ACQUIRE_H
#define HEARTH_MPI_ACQUIRE_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "mpi/host/host.h"

/* How the process may have learned of a write. */
enum sync_event {
    EVENT_RECV,
    EVENT_SEND_SYNC,
    EVENT_PROBE,
    EVENT_COLLECTIVE,
    EVENT_REQUEST,
    EVENT_FENCE,
    EVENT_PSCW,
    EVENT_LOCK,
    EVENT_SYNC,
    EVENT_FILE,
    EVENT_ATOMIC,
    EVENT_FLUSH_POLL,
    EVENT_RECHECK,
    EVENT_GENERIC
};

extern HIDDEN _Atomic uint64_t acquire_generation; /* incremented by each acquire */
extern HIDDEN bool acquire_is_shared; /* threads may call MPI at once; true until MPI_Init returns */

/* Call after the synchronising MPI call, before returning to the program. The release pairs with rma_acquire_catch_up. */
static inline void acquire(enum sync_event how) {
    (void)how;
    if (UNLIKELY(acquire_is_shared))
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
    else
        atomic_store_explicit(&acquire_generation,
                              atomic_load_explicit(&acquire_generation, memory_order_relaxed) + 1,
                              memory_order_release);
}

#endif
