/* leaving.c: calls of a process that is not attached, or that is leaving the job. */
#include "gas/process/process.h"

_Atomic int gas_leave_wanted;
void (*gas_leave_now)(void);

void gas_not_attached(const char *call) {
    gas_leave_if_asked();
    gas_fail(call, "this process is not attached to the job: call gasnet_attach first");
}

int gas_leave_or_refuse(const char *call) {
    gas_leave_if_asked();
    return gas_refuse(GASNET_ERR_NOT_INIT, call,
                      "this process is not attached to the job: call gasnet_attach first");
}
