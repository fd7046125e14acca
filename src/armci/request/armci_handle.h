/* armci_handle.h: non-blocking operations. */
#ifndef HEARTH_ARMCI_HANDLE_H
#define HEARTH_ARMCI_HANDLE_H

#include "armci/request/armci_request.h"

/* A request for an operation of this handle, or without a handle (NULL). */
struct armci_request *armci_handle_request(const char *call, armci_hdl_t *handle);

/* Frees the table of handles and all requests. No operation may be pending. */
void armci_handle_close_all(void);

#endif
