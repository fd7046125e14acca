/* engine.h: the network engine of ARMCI: opened by ARMCI_Init, or that of served windows (net/rpc/share.h). */
#ifndef HEARTH_ARMCI_ENGINE_H
#define HEARTH_ARMCI_ENGINE_H

#include "armci/job/armci_internal.h"

/* Sets armci_job.net and armci_job.share; its communicator, boot and world must be open. Collective. */
int armci_engine_open(void);

/* All operations are complete, in all processes. Returns the engine's counts. Collective. */
void armci_engine_close(struct net_counts *counts);

/* Frees the world and the communicator, or leaves them to the engine, if served windows still use it. */
void armci_engine_free(void);

#endif
