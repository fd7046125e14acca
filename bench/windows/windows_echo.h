/* windows_echo.h: a thread of rank 1 that sleeps until 8 bytes arrive over TCP, and sends them back: what any helper thread needs to
 * answer beside a rank that computes. */
#ifndef HEARTH_BENCH_WINDOWS_ECHO_H
#define HEARTH_BENCH_WINDOWS_ECHO_H

#include <stdbool.h>

/* Collective on MPI_COMM_WORLD, which has two ranks. The thread runs with short slices, as Hearth's helpers do, on the cores of its
 * creator. False: the thread or the connection could not be made. */
bool echo_open(int rank);
void echo_close(void);

/* By rank 0: ns until the answer. It spins for it, and so does not wait for a core of its own. */
double echo_once(void);

#endif
