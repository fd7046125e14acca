/* hearth.h: what a program may say to Hearth as a whole. Link with -lhearth-mpi. */
#ifndef HEARTH_H
#define HEARTH_H

#ifdef __cplusplus
extern "C" {
#endif

/* This process has learnt, in a way that MPI does not see (a file, a socket, shared memory), that others may have written:
 * what windows in acquire mode have cached is forgotten. Constant time, from any thread. */
void hearth_acquire(void);

#ifdef __cplusplus
}
#endif
#endif
