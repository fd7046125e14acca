/* handle.h: operations that are waited for later. */
#ifndef HEARTH_ARMCI_HANDLE_H
#define HEARTH_ARMCI_HANDLE_H

#include "armci/transfer.h"

/* A request for an operation that this handle, or none, will be asked for. */
struct request *handle_request(const char *call, armci_hdl_t *handle);

/* Frees what they took; nothing is under way. */
void handle_close_all(void);

#endif
