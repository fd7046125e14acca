/* leave.h: the end of this process's part in the job. */
#ifndef HEARTH_GAS_LEAVE_H
#define HEARTH_GAS_LEAVE_H

#include "base/compiler.h"
#include "gas/process/process.h"

/* Prepares for all ways in which the process can end: gasnet_exit, return from main, MPI_Finalize. */
void gas_leave_prepare(void);
/* Another rank leaves with this code. Also called in signal handlers. */
void gas_leave_is_told(int code);
void gas_leave_attached(void);

#endif
