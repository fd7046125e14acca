/* sync_table.c: see sync_table.h. */
#include "mpi/host/sync_table.h"

struct sync_table sync_real, sync_next;
struct sync_nonblocking sync_nonblocking;

static void sync_find(const char *name, void **real_one, void **next_one) {
    *real_one = host_find(name, next_one);
    if (*next_one != *real_one)
        host_note_tool();
}

__attribute__((constructor)) void sync_table_open(void) {
    void *unused;
#define SYNC_CALL(name, kind, params, args)                                                                  \
    sync_find(#name, (void **)&sync_real.name, (void **)&sync_next.name);
#define SYNC_CALL_FLAG SYNC_CALL
#define SYNC_CALL_COMM SYNC_CALL
#define SYNC_CALL_OPEN SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking_name, kind, params, args, nonblocking_args)                  \
    SYNC_CALL(name, kind, params, args)                                                                      \
    *(void **)&sync_nonblocking.name = host_find(#nonblocking_name, &unused);
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
}

static uint64_t wrapped; /* on some process */

void sync_table_agree(void) {
    uint64_t mine = 0;
#define SYNC_CALL(name, kind, params, args)
#define SYNC_CALL_FLAG SYNC_CALL
#define SYNC_CALL_COMM SYNC_CALL
#define SYNC_CALL_OPEN SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    mine |= (uint64_t)(sync_next.name != sync_real.name) << NONBLOCKING_##name;
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
    host_Allreduce(&mine, &wrapped, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
}

bool sync_table_is_wrapped(int number) {
    return wrapped >> number & 1;
}
