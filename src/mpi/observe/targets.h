/* targets.h: what this process did with each other process, observed while a report in JSON is wanted: counts, bytes and
 * the sampled time of the calls that name one target, source or destination. */
#ifndef HEARTH_MPI_TARGETS_H
#define HEARTH_MPI_TARGETS_H

#include "base/compiler.h"
#include "mpi/host/host.h"
#include "mpi/types/layout.h"
#include "mpi/observe/target_table.h"
#include "observe/json.h"

extern HIDDEN bool targets_are_observed;

/* Call in MPI_Init. threads: several may call at once. */
void targets_open(bool wanted, bool threads);

/* What a call does to its target. */
enum target_access { ACCESS_GET, ACCESS_PUT, ACCESS_MESSAGE };

/* The row of a rank in MPI_COMM_WORLD, negative if it has none there. It stays where it is. */
struct target_row *targets_row(int rank);

static inline void targets_add(struct target_row *row, enum target_access what, uint64_t bytes) {
    target_row_add(row, (enum target_counter)(TARGET_GETS + 2 * what), 1, bytes);
}
/* These take the lock: a call that succeeded; several gets; the time of calls, as call_time_end tells it. */
void targets_note(struct target_row *row, enum target_access what, uint64_t bytes);
void targets_note_gets(struct target_row *row, uint64_t gets, uint64_t bytes);
void targets_note_row_ticks(struct target_row *row, uint64_t ticks);

/* The rows of the peers of recent messages. A communicator that is freed leaves it. */
enum { TARGETS_RECENT = 16 };
struct recent_peer {
    MPI_Comm comm;
    int peer;
    struct target_row *row; /* NULL: none */
};
extern HIDDEN struct recent_peer targets_recent[TARGETS_RECENT];
extern HIDDEN bool targets_has_threads;

/* The sizes of the types of recent messages, by a few bits of their handles. A type that is freed leaves it. */
enum { TARGETS_TYPES = 8 };
struct recent_type {
    MPI_Datatype type; /* 0: none */
    uint64_t size;
};
extern HIDDEN struct recent_type targets_types[TARGETS_TYPES];
static inline struct recent_type *targets_recent_type(MPI_Datatype type) {
    uint64_t key = layout_key(type);
    return &targets_types[(key ^ key >> 9) % TARGETS_TYPES];
}
/* Call before MPI frees the type. */
void targets_forget_type(MPI_Datatype type);

/* A message to a peer: its rank in comm, or in its remote group. Others than ranks (MPI_PROC_NULL) are ignored. */
void targets_count_message_slow(MPI_Comm comm, int peer, MPI_Count count, MPI_Datatype type);
static inline void targets_count_message(MPI_Comm comm, int peer, MPI_Count count, MPI_Datatype type) {
    const struct recent_peer *r = &targets_recent[(unsigned)peer % TARGETS_RECENT];
    const struct recent_type *t = targets_recent_type(type);
    if (LIKELY(r->peer == peer && r->comm == comm && r->row && t->type == type && !targets_has_threads))
        targets_add(r->row, ACCESS_MESSAGE, LIKELY(count > 0) ? (uint64_t)count * t->size : 0);
    else
        targets_count_message_slow(comm, peer, count, type);
}
/* A timed call with this peer or, if it receives, from it. */
void targets_note_ticks(MPI_Comm comm, int peer, uint64_t ticks);

/* The rank in MPI_COMM_WORLD, or -1. */
int targets_world_rank(MPI_Group group, int rank);
uint64_t targets_bytes(MPI_Count count, MPI_Datatype type);

/* Writes the member "targets", unless they were not observed. */
void targets_json(struct json *j);

#endif
