/* leave.h: the end of this process's part in the job. */
#ifndef HEARTH_GAS_LEAVE_H
#define HEARTH_GAS_LEAVE_H

#include "base/compiler.h"
#include "gas/gas_internal.h"

/* Prepares for all ways in which the process can end: gasnet_exit, return from main, MPI_Finalize. */
void gas_leave_prepare(void);
/* Another rank leaves with this code. Also called in signal handlers. */
void gas_leave_is_told(int code);
void gas_leave_attached(void);

/* If another rank has called gasnet_exit, this one follows. If another thread of this process has, this one waits for
 * the end. */
extern _Atomic int gas_leave_wanted HIDDEN;
void gas_leave_now(void);
static inline void gas_leave_if_asked(void) {
    if (UNLIKELY(atomic_load_explicit(&gas_leave_wanted, memory_order_relaxed)))
        gas_leave_now();
}

/* For calls that find the process not attached: waits if it is leaving; otherwise returns GASNET_ERR_NOT_INIT after an
 * error line. */
int gas_leave_or_refuse(const char *call);

#endif
