/* foreign.h: another MPI than the one that this library is built for. */
#ifndef HEARTH_MPI_FOREIGN_H
#define HEARTH_MPI_FOREIGN_H

/* Ends the process with a line if another MPI is loaded into it. Called before main, and before MPI is initialised, as some
 * programs load MPI late. */
void foreign_refuse(void);

#endif
