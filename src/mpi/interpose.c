/* interpose.c: MPI_X and PMPI_X of every call that is hooked by name. Both are ours: Fortran and C++ bindings call PMPI_X, and
 * MPICH's mpi_f08 calls some by the one and some by the other name.
 *
 * The MPI library calls some of its own PMPI_X through the linker as well, ROMIO for one. Such a call passes a hook like any
 * other: windows and requests are looked up by handle, and those of the library are unknown. Telling its calls from the program's
 * by the return address was tried and dropped: a callback that ends in `return MPI_Win_free(win)` returns straight into the
 * library, and a window that is freed unseen is served when its handle comes back. */
#include "mpi/rma/check.h"
#include "mpi/hooks.h"

#define EXPORT __attribute__((visibility("default")))

/* Called before our constructor by another library's constructor: find the functions first. */
#define READY(name) (LIKELY(host_real.name != NULL) || (host_open(), host_real.name != NULL))

#define DEFINE(symbol, name, params, args, straight_on)                                                      \
    EXPORT int symbol params {                                                                               \
        if (UNLIKELY(!READY(name)))                                                                          \
            return MPI_ERR_INTERN;                                                                           \
        if (straight_on)                                                                                     \
            return host_real.name args;                                                                      \
        check_note("MPI_" #name);                                                                            \
        return hook_##name args;                                                                             \
    }

/* A tool that is called on our behalf calls PMPI_X. */
#define HOOK(name, params, args)                                                                             \
    DEFINE(MPI_##name, name, params, args, 0)                                                                \
    DEFINE(PMPI_##name, name, params, args, host_is_marked(__builtin_frame_address(0)))
#define USE(name, params, args)
#include "mpi/calls.def"
#undef HOOK
#undef USE
