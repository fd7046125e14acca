/* buffered.c: MPI_Buffer_attach and MPI_Buffer_detach. The buffer belongs to the host MPI, which uses it for unmanaged
 * communicators; state/p2p_buffered.c has the rest. */
#include "mpi/core/acquire.h"
#include "mpi/core/hooks.h"
#include "mpi/p2p/state/p2p_buffered.h"
#include "mpi/p2p/transport/p2p_enter.h"
#include "mpi/p2p/transport/p2p_progress.h"

static void note_attached(bool is, MPI_Count size) {
    p2p_lock();
    p2p_buffered_attach(is ? (uint64_t)size : 0);
    p2p_unlock();
}

/* All buffered messages have been sent when the program gets its buffer back. */
static void buffered_wait_for_all(void) {
    struct pause pause = {0};
    p2p_lock();
    while (p2p_buffered_is_used()) {
        if (p2p_progress())
            continue;
        p2p_unlock();
        p2p_pause(&pause);
        p2p_lock();
    }
    p2p_unlock();
}

#define ATTACH(name, count_t)                                                                                \
    int hook_##name(void *buffer, count_t size) {                                                            \
        int rc = host_##name(buffer, size);                                                                  \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            note_attached(true, size);                                                                       \
        return rc;                                                                                           \
    }

#define DETACH(name, count_t)                                                                                \
    int hook_##name(void *buffer, count_t *size) {                                                           \
        if (p2p_on)                                                                                          \
            buffered_wait_for_all();                                                                         \
        p2p_enter();                                                                                         \
        int rc = host_##name(buffer, size);                                                                  \
        p2p_leave();                                                                                         \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            note_attached(false, 0);                                                                         \
        acquire(EVENT_GENERIC);                                                                              \
        return rc;                                                                                           \
    }

ATTACH(Buffer_attach, int)
DETACH(Buffer_detach, int)
#if MPI_VERSION >= 4
ATTACH(Buffer_attach_c, MPI_Count)
DETACH(Buffer_detach_c, MPI_Count)
#endif
