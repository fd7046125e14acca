/* bench.h: two ranks, one of which gets from the other's memory.
 *
 * Rank 0 is the initiator. Rank 1 is the target and waits in a barrier of MPI while rank 0 measures, because
 * neither MPI serves one-sided calls over TCP in the background. The programs run with and without the library
 * under test. */
#ifndef HEARTH_BENCH_H
#define HEARTH_BENCH_H

#include <stdbool.h>

#include "hearth/clampi.h"
#include "sample.h"

enum { TARGET = 1 };

/* Calls MPI_Init, and ends the program unless there are two ranks. */
void bench_start(int *argc, char ***argv);
void bench_end(void);
bool bench_is_initiator(void);

/* Whether the library under test is loaded. */
bool bench_is_cached(void);

/* Memory like the cache's own: fresh pages from the system, page-aligned. */
char *bench_memory(size_t bytes);

/* The byte in the target's memory at this displacement. */
static inline char bench_byte(uint64_t disp) {
    return (char)(disp * 31 + (disp >> 8));
}
void bench_fill(char *memory, size_t bytes);

/* A window over the target's memory, in this mode ("off", "always", ...; NULL: from the settings), locked by
 * MPI_Win_lock_all on the initiator. The initiator exposes nothing. Collective. */
MPI_Win bench_open(char *memory, size_t bytes, const char *mode);
/* The target waits here, in MPI, for the initiator. */
void bench_close(MPI_Win *win);

/* Counters of this window; zeros without the library. */
CLAMPI_Stats bench_stats(MPI_Win win);
void bench_forget(MPI_Win win);

static inline void bench_get(void *buffer, uint64_t disp, uint32_t bytes, MPI_Win win) {
    MPI_Get(buffer, (int)bytes, MPI_BYTE, TARGET, (MPI_Aint)disp, (int)bytes, MPI_BYTE, win);
}

static inline void bench_flush(MPI_Win win) {
    MPI_Win_flush(TARGET, win);
}

/* Ends the job if the buffer does not hold the expected data: a fast wrong answer is not a result. */
void bench_verify(const char *buffer, uint64_t disp, uint32_t bytes);

#endif
