/* sync_table.h: the host's functions for the calls that can be sync events and are not hooked by name: see sync_calls.c. The build
 * generates their list, sync_calls.def, which holds full names. */
#ifndef HEARTH_MPI_SYNC_TABLE_H
#define HEARTH_MPI_SYNC_TABLE_H

#include "base/compiler.h"
#include "mpi/host/declared.h"
#include "mpi/host/host.h"

struct sync_table {
#define SYNC_CALL(name, kind, params, args) int(*name) params;
#define SYNC_CALL_FLAG                      SYNC_CALL
#define SYNC_CALL_COMM                      SYNC_CALL
#define SYNC_CALL_OPEN                      SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    SYNC_CALL(name, kind, params, args)
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
};

extern HIDDEN struct sync_table sync_real, sync_next; /* as host_real and host_next */

/* The non-blocking equivalents of the collectives, and a number for each. */
#define SYNC_CALL(name, kind, params, args)
#define SYNC_CALL_FLAG(name, kind, params, args)
#define SYNC_CALL_COMM(name, kind, params, args)
#define SYNC_CALL_OPEN(name, kind, params, args)
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    __typeof__(&nonblocking) name;
struct sync_nonblocking {
#include "sync_calls.def"
};
#undef SYNC_CALL_NONBLOCKING
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args) NONBLOCKING_##name,
enum {
#include "sync_calls.def"
    NONBLOCKING_COUNT
};
_Static_assert(NONBLOCKING_COUNT <= 64, "one bit per collective");
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING

extern HIDDEN struct sync_nonblocking sync_nonblocking;

/* Finds the functions, if another library's constructor calls MPI before Hearth's constructor has run. */
void sync_table_open(void);

/* Once, collective: agrees on the collectives that a tool wraps on some process. */
void sync_table_agree(void);

/* Whether a tool wraps the collective of this number on some process: it must see the original call, and all processes must make the
 * same call. */
bool sync_table_is_wrapped(int number);

#endif
