/* foreign.h: detects a different MPI than the one that this library was built for. */
#ifndef HEARTH_MPI_FOREIGN_H
#define HEARTH_MPI_FOREIGN_H

/* Ends the process with an error line if a different MPI is loaded. Called before MPI is initialised, because some programs
 * load MPI late. */
void foreign_refuse(void);

#endif
