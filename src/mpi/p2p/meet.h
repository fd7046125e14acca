/* meet.h: pre-barriers before collective calls that may wait inside MPI while messages arrive through MPI: see
 * meet.c. */
#ifndef HEARTH_MPI_P2P_MEET_H
#define HEARTH_MPI_P2P_MEET_H

#include "mpi/p2p/lock.h"

struct comm;

/* The processes of a window or file, for repeated pre-barriers: a communicator, which may be freed meanwhile, and a
 * number that distinguishes this window from others on the same communicator. */
struct meeting {
    struct comm *comm; /* NULL: none */
    int number;
};

void meet_slowly(MPI_Comm comm);
void meet_window_slowly(MPI_Win win);
void meet_file_slowly(MPI_File file);
void meet_keep_slowly(int rc, MPI_Comm comm, const MPI_Win *win);

/* Registers a new window or file over comm. Collective. made: whether its creation succeeded. */
struct meeting meet_number(MPI_Comm comm, bool made);
void meet_again(const struct meeting *m);
void meet_drop(struct meeting *m);

static inline bool meet_is_needed(void) {
    return UNLIKELY(p2p_on) && far_is_used;
}

/* Call before a blocking collective. True: the caller must use the non-blocking equivalent, which is possible only if
 * `may`. False: the caller makes the call unchanged; the pre-barrier was done where it is of use. All members of comm
 * get the same result. */
bool meet_or_replace(MPI_Comm comm, bool may);

/* MPI_Win_wait. */
int meet_wait(MPI_Win win);

/* Pre-barrier over the communicator; returns immediately where it is of no use. */
static inline void meet_all(MPI_Comm comm) {
    if (UNLIKELY(p2p_on))
        meet_slowly(comm);
}

/* Pre-barrier over a group of processes of comm. */
void meet_group(MPI_Comm comm, MPI_Group group, int tag);

/* Pre-barrier over a group of processes of MPI_COMM_WORLD, for a call identified by a string. */
void meet_word(MPI_Group group, const char *word);

/* Pre-barrier over both sides of an inter-communicator that is about to be created. */
void meet_sides(MPI_Group group, int leader, MPI_Group others, int remote_leader, const char *word);
void meet_leaders(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag);

/* Call before a call that is collective over an open file. */
static inline void meet_file(MPI_File file) {
    if (meet_is_needed())
        meet_file_slowly(file);
}

/* Around a call that creates a window. */
static inline void meet_enter(MPI_Comm comm) {
    meet_all(comm);
    p2p_enter();
}

static inline void meet_leave(int rc, MPI_Comm comm, const MPI_Win *win) {
    p2p_leave();
    if (meet_is_needed())
        meet_keep_slowly(rc, comm, win);
}

/* Call before a call that is collective over a window. */
static inline void meet_enter_window(const MPI_Win *win) {
    if (UNLIKELY(p2p_on) && win)
        meet_window_slowly(*win);
    p2p_enter();
}

#endif
