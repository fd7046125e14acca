/* meet.h: before a collective call that may wait inside MPI, where messages come through MPI: see meet.c. */
#ifndef HEARTH_MPI_P2P_MEET_H
#define HEARTH_MPI_P2P_MEET_H

#include "mpi/p2p/lock.h"

void meet_slowly(MPI_Comm comm);
void meet_window_slowly(MPI_Win win);
void meet_file_slowly(MPI_File file);
void meet_keep_slowly(MPI_Comm comm, MPI_Win win);

static inline bool meet_is_needed(void) {
    return UNLIKELY(p2p_on) && far_is_used;
}

/* Whether all processes of the communicator are of this program: only then do all do a collective call in our way. */
bool meet_is_among_us(MPI_Comm comm);

/* MPI_Win_wait. */
int meet_wait(MPI_Win win);

/* Returns when all members of the communicator are here; or at once, where that is of no use. */
static inline void meet_all(MPI_Comm comm) {
    if (UNLIKELY(p2p_on))
        meet_slowly(comm);
}

/* All members, in any case. */
void meet_here(MPI_Comm comm);

/* All of a group of processes of comm. */
void meet_group(MPI_Comm comm, MPI_Group group, int tag);

/* Both sides of an inter-communicator, and before there is one. */
void meet_both(MPI_Comm comm);
void meet_leaders(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag);

/* Before a call that is collective over an open file. */
static inline void meet_file(MPI_File file) {
    if (meet_is_needed())
        meet_file_slowly(file);
}

/* Around a call that makes a window. */
static inline void meet_enter(MPI_Comm comm) {
    meet_all(comm);
    p2p_enter();
}

static inline void meet_leave(int rc, MPI_Comm comm, const MPI_Win *win) {
    p2p_leave();
    if (UNLIKELY(p2p_on) && rc == MPI_SUCCESS)
        meet_keep_slowly(comm, *win);
}

/* Before a call that is collective over a window. */
static inline void meet_enter_window(const MPI_Win *win) {
    if (UNLIKELY(p2p_on) && win)
        meet_window_slowly(*win);
    p2p_enter();
}

#endif
