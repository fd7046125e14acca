/* progress.h: lets the host MPI progress from calls that would not enter it otherwise. */
#ifndef HEARTH_MPI_PROGRESS_H
#define HEARTH_MPI_PROGRESS_H

#include <stdbool.h>

/* May be called any number of times between MPI_Init and MPI_Finalize. */
void progress_open(void);
/* Called once, before MPI_Finalize. */
void progress_close(void);

/* Lets the host process everything that has arrived, and Hearth its own messages. Any thread may call it, if MPI allows several. The
 * caller holds no lock. */
void progress_make(void);

/* Lets Hearth process its own messages only. */
void progress_make_own(void);

/* The function for Hearth's own messages, while it handles any; NULL: none. */
void progress_register(void (*make)(void));
bool progress_is_registered(void);

#endif
