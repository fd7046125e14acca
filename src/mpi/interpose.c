/* interpose.c: MPI_X and PMPI_X of every call that Hearth stands in front of. Each decides one thing: is this
 * the program's call (then hook_X), or the MPI library's own, or a tool's on our behalf (then straight on)?
 */
#include "mpi/hooks.h"

#define EXPORT __attribute__((visibility("default")))

/* Called before our constructor by another library's constructor: find the functions first. */
#define READY(name) (LIKELY(host_real.name != NULL) || (host_open(), host_real.name != NULL))

#define HOOK(name, params, args)                                                                             \
    EXPORT int MPI_##name params {                                                                           \
        if (UNLIKELY(!READY(name)))                                                                          \
            return MPI_ERR_INTERN;                                                                           \
        return host_owns(__builtin_return_address(0)) ? host_real.name args : hook_##name args;              \
    }                                                                                                        \
    EXPORT int PMPI_##name params {                                                                          \
        if (UNLIKELY(!READY(name)))                                                                          \
            return MPI_ERR_INTERN;                                                                           \
        if (host_is_marked(__builtin_frame_address(0)) || host_owns(__builtin_return_address(0)))            \
            return host_real.name args;                                                                      \
        return hook_##name args;                                                                             \
    }
#define USE(name, params, args)
#include "mpi/calls.def"
#undef HOOK
#undef USE
