/* hearth.h: what a program may say to Hearth as a whole. Link with -lhearth-mpi. */
#ifndef HEARTH_H
#define HEARTH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Forgets what windows in acquire mode have cached. For a process that has learnt, in a way that MPI does not
 * see (a file, a socket, shared memory), that others may have written. Constant time, from any thread. */
void hearth_acquire(void);

/* Lets the heater rest, a thread that keeps Hearth's own data in the CPU's caches (HEARTH_HEATER), until it
 * is resumed. For phases in which the program wants the caches and the memory for itself. Resume it a little
 * before the next communication. The calls nest. Any thread; a few nanoseconds each, and a microsecond to
 * wake it after a long rest. */
void hearth_heater_pause(void);
void hearth_heater_resume(void);

#ifdef __cplusplus
}
#endif
#endif
