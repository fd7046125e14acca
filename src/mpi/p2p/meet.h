/* meet.h: before a collective call that may wait inside MPI, where messages come through MPI: see meet.c. */
#ifndef HEARTH_MPI_P2P_MEET_H
#define HEARTH_MPI_P2P_MEET_H

#include "mpi/p2p/lock.h"

struct comm;

/* The processes of a window or file, to meet again: a communicator, which may be freed meanwhile, and a number that tells this window
 * from others of the same communicator. */
struct meeting {
    struct comm *comm; /* NULL: nobody */
    int number;
};

void meet_slowly(MPI_Comm comm);
void meet_window_slowly(MPI_Win win);
void meet_file_slowly(MPI_File file);
void meet_keep_slowly(int rc, MPI_Comm comm, const MPI_Win *win);

/* A new meeting of comm's processes, by all of them; made: whether what it is for has been made. */
struct meeting meet_number(MPI_Comm comm, bool made);
void meet_again(const struct meeting *m);
void meet_drop(struct meeting *m);

static inline bool meet_is_needed(void) {
    return UNLIKELY(p2p_on) && far_is_used;
}

/* Before a blocking collective. True: it is to be made of its non-blocking equivalent, which only is an answer where that `may` stand
 * in. False: as it is; the processes have met, where that is of use. All members of comm get the same answer. */
bool meet_or_replace(MPI_Comm comm, bool may);

/* MPI_Win_wait. */
int meet_wait(MPI_Win win);

/* Returns when all members of the communicator are here; or at once, where that is of no use. */
static inline void meet_all(MPI_Comm comm) {
    if (UNLIKELY(p2p_on))
        meet_slowly(comm);
}

/* All of a group of processes of comm. */
void meet_group(MPI_Comm comm, MPI_Group group, int tag);

/* All of a group of processes of MPI_COMM_WORLD, in a call that is known by a word. */
void meet_word(MPI_Group group, const char *word);

/* Both sides of an inter-communicator, before there is one. */
void meet_sides(MPI_Group group, int leader, MPI_Group others, int remote_leader, const char *word);
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
    if (meet_is_needed())
        meet_keep_slowly(rc, comm, win);
}

/* Before a call that is collective over a window. */
static inline void meet_enter_window(const MPI_Win *win) {
    if (UNLIKELY(p2p_on) && win)
        meet_window_slowly(*win);
    p2p_enter();
}

#endif
