/* leave.h: the end of this process's part in the job. */
#ifndef HEARTH_GAS_LEAVE_H
#define HEARTH_GAS_LEAVE_H

#include "gas/inside.h"

/* When the process ends, however that is begun: gasnet_exit, return from main, MPI_Finalize. */
void leave_prepare(void);
/* Another rank leaves with this code. Also in a signal handler. */
void leave_is_told(int code);
void leave_attached(void);

/* Another rank has called gasnet_exit: this one follows. Another thread of this process has: this one waits
 * for the end. */
extern _Atomic int leave_wanted HIDDEN;
void leave_now(void);
static inline void leave_if_asked(void) {
    if (UNLIKELY(atomic_load_explicit(&leave_wanted, memory_order_relaxed)))
        leave_now();
}

/* For calls that find the process not attached: it waits if it is leaving; otherwise GASNET_ERR_NOT_INIT,
 * after a line. */
int leave_or_refuse(const char *call);

#endif
