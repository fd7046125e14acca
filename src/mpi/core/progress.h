/* progress.h: lets the host MPI progress from calls that would not enter it otherwise. */
#ifndef HEARTH_MPI_PROGRESS_H
#define HEARTH_MPI_PROGRESS_H

/* May be called any number of times between MPI_Init and MPI_Finalize. */
void progress_open(void);
/* Called once, before MPI_Finalize. */
void progress_close(void);

/* Lets the host process everything that has arrived. Any thread may call it, if MPI allows several. */
void progress_make(void);

#endif
