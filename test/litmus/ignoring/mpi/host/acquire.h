/* acquire.h: the acquire of libhearth-ignoring, a mutant of the library for test_mutants.sh. It stands before that of src/mpi/host and
 * ignores one kind of sync event. */
#ifndef HEARTH_TEST_ACQUIRE_H
#define HEARTH_TEST_ACQUIRE_H

#define acquire acquire_any
#include_next "mpi/host/acquire.h"
#undef acquire

extern HIDDEN int acquire_ignored; /* enum sync_event, or -1 */

static inline void acquire(enum sync_event how) {
    if (acquire_ignored != (int)how)
        acquire_any(how);
}

#endif
