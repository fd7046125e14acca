/* host.h: the MPI library below us. host_X(...) is MPI_X without Hearth; it goes through another preloaded
 * tool's MPI_X if there is one, so that the tool sees what reaches MPI. */
#ifndef HEARTH_MPI_HOST_H
#define HEARTH_MPI_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct host_table {
#define HOOK(name, params, args) int(*name) params;
#define USE                      HOOK
#include "mpi/calls.def"
};

extern HIDDEN struct host_table host_real; /* the library's PMPI_X */
extern HIDDEN struct host_table host_next; /* the next MPI_X behind ours: a tool's, or again the library's */
extern HIDDEN bool host_has_tool;
/* Calls are not simply passed to their hooks: the functions were not all found (yet), a tool may call on our behalf, or calls
 * are noted for HEARTH_CHECK. */
extern HIDDEN bool host_is_careful;

/* While a tool's MPI_X runs on our behalf: the frame that called it. Its PMPI_X then only forwards. A frame
 * address and not a count, so that an error handler that jumps out leaves no wrong mark: the stack is then
 * above it. */
extern HIDDEN _Thread_local const void *host_mark __attribute__((tls_model("initial-exec")));

/* The library's PMPI_X for "MPI_X", or NULL. *next: the next MPI_X behind ours, which is a tool's if it lies in
 * another object, else the same. */
void *host_find(const char *name, void **next);

/* Finds the functions; at the first call, thread-safe. */
void host_open(void);

/* A tool stands between us and the library for at least one call. */
void host_note_tool(void);

/* Whether a tool wraps just this call. The decision is made per call: a tool that wraps files leaves collectives as they are. */
#define host_is_wrapped(name) UNLIKELY(host_next.name != host_real.name)

#define HOOK(name, params, args)                                                                             \
    static inline int host_##name params {                                                                   \
        if (LIKELY(!host_has_tool) || host_next.name == host_real.name)                                      \
            return host_real.name args;                                                                      \
        const void *outer = host_mark;                                                                       \
        host_mark = __builtin_frame_address(0);                                                              \
        int rc = host_next.name args;                                                                        \
        host_mark = outer;                                                                                   \
        return rc;                                                                                           \
    }
#define USE(name, params, args)                                                                              \
    static inline int host_##name params {                                                                   \
        return host_real.name args;                                                                          \
    }
#include "mpi/calls.def"

static inline bool host_is_marked(const void *frame) {
    return UNLIKELY(host_has_tool) && host_mark && (uintptr_t)frame < (uintptr_t)host_mark;
}

#endif
