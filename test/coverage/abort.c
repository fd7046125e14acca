/* abort.c: linked into the shared libraries of the coverage tree with --wrap=MPI_Abort, and with --wrap=dlsym, by which
 * libhearth-mpi finds it. A process that ends by MPI_Abort writes no counts by itself. */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* A communicator is an int in one MPI and a pointer in the other; either is passed in the first register. */
typedef int abort_function(void *comm, int code);
abort_function __real_MPI_Abort, __wrap_MPI_Abort;
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

int __wrap_MPI_Abort(void *comm, int code) {
    coverage_dump();
    return __real_MPI_Abort(comm, code);
}

static abort_function *found;

static int dump_and_abort(void *comm, int code) {
    coverage_dump();
    return found(comm, code);
}

static const void *object_of(const void *symbol) {
    Dl_info info;
    return dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

/* Whether the name is that of MPI's own MPI_Abort or PMPI_Abort, not a tool's. PMPI_Abort is looked up first. */
static bool is_mpis_abort(const char *name, void *symbol) {
    if (strcmp(name, "PMPI_Abort") == 0)
        *(void **)&found = symbol;
    else if (strcmp(name, "MPI_Abort") != 0)
        return false;
    return found && object_of(*(void **)&found) == object_of(symbol);
}

/* The handle RTLD_NEXT means the libraries behind this one, which also contains the caller. */
void *__wrap_dlsym(void *handle, const char *name) {
    void *symbol = __real_dlsym(handle, name);
    return symbol && is_mpis_abort(name, symbol) ? *(void **)&(abort_function *){dump_and_abort} : symbol;
}
