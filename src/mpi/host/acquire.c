/* acquire.c: see acquire.h.
 *
 * An acquire is one increment of a process-wide generation. A window in acquire mode compares it before it reads its
 * cache, and invalidates the cache in constant time if it has changed. */
#include "mpi/host/acquire.h"

#include <stdlib.h>

#include "base/settings.h"
#include "hearth.h"

_Atomic uint64_t acquire_generation = 1;
int acquire_ignored = -1;
bool acquire_is_shared = true;

__attribute__((visibility("default"))) void hearth_acquire(void) {
    if (acquire_ignored !=
        EVENT_GENERIC) /* atomic: any thread may call this, also while another is inside acquire() */
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
}

__attribute__((constructor)) static void acquire_find_ignored(void) {
    static const char words[] =
        "recv|send-sync|probe|collective|request|fence|pscw|lock|sync|file|atomic|flush-poll|recheck|generic";
    const char *ignored = secure_getenv("HEARTH_TEST_IGNORED");
    acquire_ignored = ignored ? settings_word(words, ignored) : -1;
}
