/* acquire.h: news from other processes. In acquire mode cached data is reused until this process may have
 * been told of a write: until it returns from a call that can bring news. */
#ifndef HEARTH_MPI_ACQUIRE_H
#define HEARTH_MPI_ACQUIRE_H

#include <stdatomic.h>

#include "mpi/host.h"

/* How the news came. Only tests care: HEARTH_TEST_DEAF=word makes Hearth deaf to one kind. */
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

extern HIDDEN _Atomic uint64_t acquire_generation; /* one more with each acquire */
extern HIDDEN int acquire_deaf;                    /* a kind, or -1 */

/* Once, by all processes: which collectives a tool wraps on some of them. */
void acquire_agree(void);

/* After the call that brought the news, before its return to the program. Pairs with acquire_catch_up. */
static inline void acquire(enum news how) {
    if (LIKELY(acquire_deaf != (int)how))
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
}

#endif
