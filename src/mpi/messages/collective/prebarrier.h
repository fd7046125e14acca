/* prebarrier.h: pre-barriers before collective calls that may wait inside MPI while messages arrive through MPI: see
 * prebarrier.c. */
#ifndef HEARTH_MPI_P2P_PREBARRIER_H
#define HEARTH_MPI_P2P_PREBARRIER_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_peer.h"
#include "mpi/messages/transport/p2p_enter.h"

struct comm;

/* The processes of a window or file, for repeated pre-barriers: a communicator, which may be freed meanwhile, and a
 * number that distinguishes this window or file from others on the same communicator. */
struct prebarrier {
    struct comm *comm; /* NULL: none */
    int number;
};

void p2p_prebarrier_all_slow(MPI_Comm comm);
void p2p_prebarrier_window_slow(MPI_Win win);
void p2p_prebarrier_file_slow(MPI_File file);
void p2p_prebarrier_keep_slow(int rc, MPI_Comm comm, const MPI_Win *win);

/* Registers a new window or file over comm. Collective. made: whether its creation succeeded. */
struct prebarrier p2p_prebarrier_number(MPI_Comm comm, bool made);
void p2p_prebarrier_repeat(const struct prebarrier *m);
void p2p_prebarrier_drop(struct prebarrier *m);

static inline bool p2p_prebarrier_is_needed(void) {
    return UNLIKELY(p2p_on) && p2p_remote_is_used;
}

/* Call before a blocking collective. True: the caller must use the non-blocking equivalent, which is possible only if
 * `may`. False: the caller makes the call unchanged; the pre-barrier was done where it is of use. All members of comm
 * get the same result. */
bool p2p_prebarrier_or_replace(MPI_Comm comm, bool may);

/* MPI_Win_wait. */
int p2p_prebarrier_wait(MPI_Win win);

/* Pre-barrier over the communicator; returns immediately where it is of no use. */
static inline void p2p_prebarrier_all(MPI_Comm comm) {
    if (UNLIKELY(p2p_on))
        p2p_prebarrier_all_slow(comm);
}

/* Pre-barrier over a group of processes of comm. */
void p2p_prebarrier_group(MPI_Comm comm, MPI_Group group, int tag);

/* Pre-barrier over a group of processes of MPI_COMM_WORLD, for a call identified by a string. */
void p2p_prebarrier_word(MPI_Group group, const char *word);

/* Pre-barrier over both sides of an inter-communicator that is about to be created. */
void p2p_prebarrier_sides(MPI_Group group, int leader, MPI_Group others, int remote_leader, const char *word);
void p2p_prebarrier_leaders(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag);

/* Call before a call that is collective over an open file. */
static inline void p2p_prebarrier_file(MPI_File file) {
    if (p2p_prebarrier_is_needed())
        p2p_prebarrier_file_slow(file);
}

/* Around a call that creates a window. */
static inline void p2p_prebarrier_enter(MPI_Comm comm) {
    p2p_prebarrier_all(comm);
    p2p_enter();
}

static inline void p2p_prebarrier_leave(int rc, MPI_Comm comm, const MPI_Win *win) {
    p2p_leave();
    if (p2p_prebarrier_is_needed())
        p2p_prebarrier_keep_slow(rc, comm, win);
}

/* Call before a call that is collective over a window. */
static inline void p2p_prebarrier_enter_window(const MPI_Win *win) {
    if (UNLIKELY(p2p_on) && win)
        p2p_prebarrier_window_slow(*win);
    p2p_enter();
}

#endif
