/* targets.h: what this process did with each other process, observed while a report in JSON is wanted: counts, bytes and
 * the sampled time of the calls that name one target, source or destination. */
#ifndef HEARTH_MPI_TARGETS_H
#define HEARTH_MPI_TARGETS_H

#include "mpi/core/host.h"
#include "mpi/core/target_table.h"

extern HIDDEN bool targets_are_observed;

/* Call in MPI_Init. threads: several may call at once. */
void targets_open(bool wanted, bool threads);

/* What a call does to its target: these move data, the last only synchronises (flushes, locks, receives). */
enum target_access { ACCESS_GET, ACCESS_PUT, ACCESS_MESSAGE, ACCESS_SYNC };

/* The row of a rank in MPI_COMM_WORLD, negative if it has none there. It stays where it is. */
struct target_row *targets_row(int rank);

/* A call that succeeded. ticks: of call_time_end. The second takes the lock. */
static inline void targets_add(struct target_row *row, enum target_access what, uint64_t bytes,
                               uint64_t ticks) {
    if (what == ACCESS_SYNC)
        row->counters[TARGET_TICKS] += ticks;
    else
        target_row_add(row, (enum target_counter)(TARGET_GETS + 2 * what), bytes, ticks);
}
void targets_note(struct target_row *row, enum target_access what, uint64_t bytes, uint64_t ticks);
/* The same for a message; peer: in comm, or its remote group. Others than ranks (MPI_ANY_SOURCE) are ignored. */
void targets_note_message(MPI_Comm comm, int peer, enum target_access what, MPI_Count count,
                          MPI_Datatype type, uint64_t ticks);

/* The rank in MPI_COMM_WORLD, or -1. */
int targets_world_rank(MPI_Group group, int rank);
uint64_t targets_bytes(MPI_Count count, MPI_Datatype type);

/* Writes the member "targets", unless they were not observed. */
void targets_json(struct json *j);

#endif
