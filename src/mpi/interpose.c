/* interpose.c: MPI_X and PMPI_X of every call that is hooked by name. Both are ours: Fortran and C++ bindings call PMPI_X, and
 * MPICH's mpi_f08 calls some by the one and some by the other name.
 *
 * The MPI library calls some of its own PMPI_X through the linker as well, ROMIO for one. Such a call passes a hook like any
 * other: windows and requests are looked up by handle, and those of the library are unknown. Telling its calls from the program's
 * by the return address was tried and dropped: a callback that ends in `return MPI_Win_free(win)` returns straight into the
 * library, and a window that is freed unseen is served when its handle comes back. */
#include "mpi/hooks.h"
#include "mpi/p2p/meet.h"
#include "mpi/rma/check.h"

#define EXPORT __attribute__((visibility("default")))

/* Called before our constructor by another library's constructor: find the functions first. */
#define READY(name) (LIKELY(host_real.name != NULL) || (host_open(), host_real.name != NULL))

/* The ordinary way is a test and a jump. `waits`: a call in which MPI may wait, and that has something to do before and after it
 * where messages are ours. */
#define DEFINE(symbol, name, params, args, straight_on, waits, before, after)                                \
    static __attribute__((noinline)) int careful_##symbol params {                                           \
        if (UNLIKELY(!READY(name)))                                                                          \
            return MPI_ERR_INTERN;                                                                           \
        if (straight_on)                                                                                     \
            return host_real.name args;                                                                      \
        check_note("MPI_" #name);                                                                            \
        before;                                                                                              \
        int rc = hook_##name args;                                                                           \
        after;                                                                                               \
        return rc;                                                                                           \
    }                                                                                                        \
    EXPORT int symbol params {                                                                               \
        return UNLIKELY(host_is_careful || (waits && p2p_on)) ? careful_##symbol args : hook_##name args;    \
    }

/* A tool that is called on our behalf calls PMPI_X. */
#define BOTH(name, params, args, waits, before, after)                                                       \
    DEFINE(MPI_##name, name, params, args, 0, waits, before, after)                                          \
    DEFINE(PMPI_##name, name, params, args, host_is_marked(__builtin_frame_address(0)), waits, before, after)

/* Another way to do the same. */
#define MEET_RETURN(instead)                                                                                 \
    if (meet_is_needed())                                                                                    \
        return instead;                                                                                      \
    p2p_enter()

#define HOOK(name, params, args)      BOTH(name, params, args, false, , )
#define BLOCK(name, params, args)     BOTH(name, params, args, true, p2p_enter(), p2p_leave())
#define MEET(name, params, args)      BOTH(name, params, args, true, meet_enter(comm), meet_leave(rc, comm, win))
#define MEET_WIN(name, params, args)  BOTH(name, params, args, true, meet_enter_window(&win), p2p_leave())
#define MEET_FREE(name, params, args) BOTH(name, params, args, true, meet_enter_window(win), p2p_leave())
#define MEET_WAIT(name, params, args) BOTH(name, params, args, true, MEET_RETURN(meet_wait(win)), p2p_leave())
#define USE(name, params, args)
#include "mpi/calls.def"
