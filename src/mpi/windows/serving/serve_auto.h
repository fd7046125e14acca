/* serve_auto.h: decides whether Hearth or the host executes the operations of a window (HEARTH_WINDOWS=auto).
 *
 * The decision is taken with the first window of its kind: of its memory, and ranks on one node or several. Where Hearth can be faster
 * it is a measurement: how long does a get of the MPI take, and does it need the target to call MPI? A process keeps its decisions,
 * so later windows need one exchange. */
#ifndef HEARTH_MPI_SERVE_AUTO_H
#define HEARTH_MPI_SERVE_AUTO_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A window's memory on this rank: the others cannot map it; they can, as it is of MPI_Alloc_mem or of another window; it will be
 * allocated with the window. */
enum serve_memory_kind {
    SERVE_MEMORY_PRIVATE,
    SERVE_MEMORY_SHARED,
    SERVE_MEMORY_ALLOCATED,
    SERVE_MEMORY_KINDS
};

/* Whether a window of these processes is to be served: its info key hearth_windows, or else the setting. Collective;
 * all processes get the same result. */
bool serve_auto_wants(MPI_Comm comm, MPI_Info info, enum serve_memory_kind memory);

/* Whether memory with this info is to be shared, for windows that may be created over it later. Local. */
bool serve_auto_wants_memory(MPI_Info info);

/* The window could not be served after all; HEARTH_LOG=info says why. */
void serve_auto_failed(void);

/* The decision about the window that this thread has created last; 0: it was not decided by measurement. */
uint64_t serve_auto_reason(void);

/* Describes a decision. */
void serve_auto_text(uint64_t reason, char *text, size_t room);

#endif
