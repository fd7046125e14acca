/* each.c: every call that Hearth interposes, from the library's own lists, in one of four parts:
 *
 *   PART_HOST    an empty MPI library: it records that it was called and returns an error
 *   PART_USED    the same for calls that Hearth only makes; some of them are in both lists
 *   PART_TOOL    a tool that wraps all of them; test_each.sh links it once per call, so that only this call is wrapped
 *   PART_CALLS   makes one call by name and prints how often the tool and the library were called
 *
 * MPI is not initialized: a process per call takes milliseconds. */
#include "mpi/host/declared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SYNC_CALL_FLAG                                                   SYNC_CALL
#define SYNC_CALL_COMM                                                   SYNC_CALL
#define SYNC_CALL_OPEN                                                   SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, twin, kind, params, args, twin_args) SYNC_CALL(name, kind, params, args)

#ifdef PART_USED
#define HOOK(name, params, args)
#define USE(name, params, args)                                                                              \
    __attribute__((weak)) int PMPI_##name params {                                                           \
        return MPI_ERR_OTHER;                                                                                \
    }
#include "mpi/host/calls.def"
#endif

#ifdef PART_HOST
long host_calls;
#define BODY                                                                                                 \
    {                                                                                                        \
        host_calls++;                                                                                        \
        return MPI_ERR_OTHER;                                                                                \
    }
#define HOOK(name, params, args) int MPI_##name params BODY int PMPI_##name params BODY
#define USE(name, params, args)
#include "mpi/host/calls.def"
#define SYNC_CALL(name, kind, params, args) int name params BODY int P##name params BODY
#include "sync_calls.def"
#endif

#ifdef PART_TOOL
static long tool_calls;
long each_tool_calls(void);
long each_tool_calls(void) {
    return tool_calls;
}
#define THROUGH(call)                                                                                        \
    { return ++tool_calls > 100 ? MPI_ERR_OTHER : call; }
#define HOOK(name, params, args) int MPI_##name params THROUGH(PMPI_##name args)
#define USE(name, params, args)
#include "mpi/host/calls.def"
#define SYNC_CALL(name, kind, params, args) int name params THROUGH(P##name args)
#include "sync_calls.def"
#endif

#ifdef PART_CALLS
/* Memory for any pointer argument. */
static long memory[64];

struct call {
    const char *name;
    void *function;
};
static const struct call calls[] = {
#define HOOK(name, params, args) {"MPI_" #name, (void *)MPI_##name},
#define USE(name, params, args)
#include "mpi/host/calls.def"
#define SYNC_CALL(name, kind, params, args) {#name, (void *)name},
#include "sync_calls.def"
};

/* Arguments that are valid as pointers to memory, and invalid as numbers and handles, for any of these functions. */
typedef int function(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                     void *, void *);

int main(int argc, char **argv) {
    long (*tool)(void), *host = dlsym(RTLD_DEFAULT, "host_calls");
    *(void **)&tool = dlsym(RTLD_DEFAULT, "each_tool_calls");
    if (argc < 2) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            puts(calls[i].name);
        return 0;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, argv[1]))
            continue;
        function *f;
        *(void **)&f = calls[i].function;
        void *m = memory;
        long before = *host;
        alarm(10);
        f(m, m, m, m, m, m, m, m, m, m, m, m, m);
        printf("%s: tool %ld, library %s\n", argv[1], tool(), *host > before ? "called" : "not called");
        return tool() < 1 || tool() > 2 || *host == before;
    }
    return 1;
}
#endif
