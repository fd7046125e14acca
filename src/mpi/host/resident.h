/* resident.h: code of the MPI below that must stay in memory after MPI_Finalize. */
#ifndef HEARTH_MPI_RESIDENT_H
#define HEARTH_MPI_RESIDENT_H

/* Open MPI 4.1 unloads its PMIx plugin in MPI_Finalize, while a thread of its own may still have an event for it: if the
 * launcher closes its connection at that moment, the thread calls a function that is gone, and the process ends with
 * SIGSEGV after the program's work. The plugin therefore stays loaded. Before host_Finalize. */
void resident_keep(void);

#endif
