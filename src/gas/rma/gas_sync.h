/* gas_sync.h: synchronisation of operations by their handles, for the calls of both interfaces. */
#ifndef HEARTH_GAS_SYNC_H
#define HEARTH_GAS_SYNC_H

#include "gas/rma/gas_handle.h"

/* `polls`: active messages are polled. The tries return GASNET_OK or GASNET_ERR_NOT_READY. Handles that are synchronised
 * become GASNET_INVALID_HANDLE in lists, and are ignored there. */
int gas_sync_try(const char *call, gasnet_handle_t handle, bool polls);
void gas_sync_wait(const char *call, gasnet_handle_t handle, bool polls);
int gas_sync_try_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls);
int gas_sync_try_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls);
void gas_sync_wait_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls);
void gas_sync_wait_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls);

#endif
