/* acquire.c: see acquire.h.
 *
 * An acquire is one increment of a process-wide generation. A window in acquire mode compares it before it reads its
 * cache, and invalidates the cache in constant time if it has changed. */
#include "mpi/host/acquire.h"

#include "hearth/hearth.h"

_Atomic uint64_t acquire_generation = 1;
bool acquire_is_shared = true;

__attribute__((visibility("default"))) void hearth_acquire(void) {
    /* Atomic: any thread may call this, also while another is inside acquire(). */
    atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
}
