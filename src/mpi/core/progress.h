/* progress.h: lets the host MPI progress from calls that would not enter it otherwise. */
#ifndef HEARTH_MPI_PROGRESS_H
#define HEARTH_MPI_PROGRESS_H

/* Any number of times, between MPI_Init and MPI_Finalize; before MPI_Finalize. */
void progress_open(void);
void progress_close(void);

/* The host processes everything that has arrived. Any thread, if MPI allows several. */
void progress_make(void);

#endif
