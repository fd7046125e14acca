/* handle.h: non-blocking operations. */
#ifndef HEARTH_ARMCI_HANDLE_H
#define HEARTH_ARMCI_HANDLE_H

#include "armci/request/transfer.h"

/* A request for an operation of this handle, or without a handle (NULL). */
struct request *handle_request(const char *call, armci_hdl_t *handle);

/* Frees their memory. No operation may be pending. */
void handle_close_all(void);

#endif
