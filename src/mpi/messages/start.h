/* start.h: start and end of message passing. The map of the folder:
 *
 *      the program:  Send ...    Recv, Probe ...    Wait, Test ...       Comm_dup, Win_create, File_open ...
 *                      |              |                  |                        |
 *                      |              |             (../requests/)                 |
 *      calls/       send.c         recv.c, probe.c    complete.c     collective/  comm_create.c, prebarrier.c
 *                      |              |                  |
 *      transport/   p2p_channel.c  arrive.c  <------  p2p_progress.c     numbers and order; the engine (match.h)
 *                      |              ^
 *            p2p_node.c (net.h, shared memory)    p2p_link.c (net.h, UCX)    p2p_remote.c (the host MPI)
 *
 *      state/       processes, communicators, requests, the bytes of a message, and the lock of all of it
 *
 * Everything below the calls requires the lock of state/p2p_lock.h. */
#ifndef HEARTH_MPI_P2P_START_H
#define HEARTH_MPI_P2P_START_H

void p2p_start(void);
/* In MPI_Finalize, before the report: saves the counters, and waits for all processes if they write a report. Ends
 * message passing, unless a callback inside MPI_Finalize does so later. */
void p2p_finish(void);
/* Saves the counters while the program runs, for a partial report, unless another thread is in a call. */
void p2p_keep_counts(void);

#endif
