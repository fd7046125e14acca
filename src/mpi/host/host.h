/* host.h: the MPI library below Hearth. host_X(...) is MPI_X without Hearth. It goes through another preloaded tool's
 * MPI_X if there is one, so that the tool sees the calls that reach MPI. */
#ifndef HEARTH_MPI_HOST_H
#define HEARTH_MPI_HOST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mpi/host/standard.h"

struct host_table {
#define HOOK(name, params, args) int(*name) params;
#define USE                      HOOK
#include "mpi/host/calls.def"
};

extern HIDDEN struct host_table host_real; /* the library's PMPI_X */
extern HIDDEN struct host_table host_next; /* the next MPI_X: a tool's, or else the library's */
extern HIDDEN bool host_has_tool;
/* Whether calls cannot go to their hooks directly: not all functions were found (yet), a tool may call on Hearth's behalf, or
 * calls are timed, or recorded for HEARTH_CHECK. And whether those cannot in which MPI may wait: for the same reasons, or because
 * Hearth handles messages, which must move meanwhile. Each call tests only one of the two. */
extern HIDDEN bool host_is_careful, host_is_careful_waiting;
void host_be_careful(void);
/* HEARTH=off: calls go through the careful path, which only forwards them. */
extern HIDDEN bool host_is_off;

/* While a tool's MPI_X runs on Hearth's behalf: the frame that called it. A PMPI_X call from the tool is then only
 * forwarded. This is a frame address and not a counter, so that an error handler that leaves by longjmp leaves no
 * stale mark: the stack pointer is then above it. */
extern HIDDEN _Thread_local const void *host_mark __attribute__((tls_model("initial-exec")));

/* The library's PMPI_X for "MPI_X", or NULL. *next: the next MPI_X after Hearth's; it is a tool's if it lies in
 * another object, else the same. */
void *host_find(const char *name, void **next);

/* Finds the functions at the first call. Thread-safe. */
void host_open(void);

/* Whether the MPI is Open MPI, not MPICH or an MPI derived from it. */
#if HEARTH_MPI_ABI
extern HIDDEN bool host_open_mpi;
#endif
static inline bool host_is_open_mpi(void) {
#if HEARTH_MPI_ABI
    return host_open_mpi;
#elif defined OPEN_MPI
    return true;
#else
    return false;
#endif
}

/* Whether MPI_COMM_WORLD may be used: a program of MPI Sessions has none. */
bool host_has_world(void);
/* Whether several threads may call MPI at once. MPI does not tell the level of a session: assume so. */
bool host_is_threaded(void);

/* Records that a tool wraps at least one call. */
void host_note_tool(void);

/* Whether a tool wraps this call. Decided per call: a tool that wraps files does not affect collectives. */
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
#include "mpi/host/calls.def"

static inline bool host_is_marked(const void *frame) {
    return UNLIKELY(host_has_tool) && host_mark && (uintptr_t)frame < (uintptr_t)host_mark;
}

#endif
