/* mutex.h: the mutexes of the program. */
#ifndef HEARTH_ARMCI_MUTEX_H
#define HEARTH_ARMCI_MUTEX_H

/* ARMCI closes, which destroys them. */
void armci_mutex_forget(void);

#endif
