/* gas_init.h: the beginning of this process's part in the job, for the calls of GASNet-EX. */
#ifndef HEARTH_GAS_INIT_H
#define HEARTH_GAS_INIT_H

#include "gas/gas_internal.h"

/* Collective: joins the job without segments: messages and collective operations can be used on return. Returns GASNET_OK,
 * or an error code after a line. */
int gas_job_begin(const char *call, const char *name, unsigned flags, int *argc, char ***argv);

/* Collective, once, after gas_job_begin: creates the segments. Returns GASNET_OK, or an error code after a line, the same
 * on all ranks. */
int gas_job_attach(const char *call, uintptr_t bytes);

#endif
