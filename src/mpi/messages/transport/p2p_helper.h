/* p2p_helper.h: the thread that progresses messages while the program is inside a call of the MPI library. */
#ifndef HEARTH_MPI_P2P_HELPER_H
#define HEARTH_MPI_P2P_HELPER_H

void p2p_helper_start(void);
void p2p_helper_stop(void);

#endif
