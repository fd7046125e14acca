/* host.c: finds the MPI library's own functions. Hearth's functions have the same names, so the next definitions in
 * lookup order are taken. libhearth-mpi is linked to MPI, so that there are such definitions even if the program
 * loads MPI late and privately, as Python does. */
#include "mpi/host/host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/settings.h"

struct host_table host_real, host_next;
bool host_is_off;
bool host_has_tool, host_is_careful = true, host_is_careful_waiting = true;
_Thread_local const void *host_mark __attribute__((tls_model("initial-exec")));

static void *object_of(void *function) {
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

void *host_find(const char *name, void **next) {
    char pmpi[80] = "P";
    strncat(pmpi, name, sizeof pmpi - 2);
    void *real = dlsym(RTLD_NEXT, pmpi), *behind = dlsym(RTLD_NEXT, name);
    if (!real)
        real = behind; /* some extensions have no PMPI name */
    *next = behind && object_of(behind) != object_of(real) ? behind : real;
    return real;
}

void host_be_careful(void) {
    host_is_careful = host_is_careful_waiting = true;
}

void host_note_tool(void) {
    host_has_tool = true;
    host_be_careful();
}

/* Returns false if the function does not exist. */
static bool host_find_symbol(const char *name, void **real, void **next) {
    *real = host_find(name, next);
    if (*next != *real)
        host_note_tool();
    return *real;
}

#if HEARTH_MPI_ABI
bool host_open_mpi;

/* MPI allows this call before MPI_Init. */
static void find_vendor(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    if (host_real.Get_library_version)
        host_real.Get_library_version(version, &length);
    host_open_mpi = strstr(version, "Open MPI");
}
#else
static void find_vendor(void) {
}
#endif

static void find_functions(void) {
    void *unused;
    bool all = true;
#define HOOK(name, params, args)                                                                             \
    all &= host_find_symbol("MPI_" #name, (void **)&host_real.name, (void **)&host_next.name);
#define USE(name, params, args) *(void **)&host_real.name = host_find("MPI_" #name, &unused);
#include "mpi/host/calls.def"
    host_is_off = settings_are_off();
    if (all && !host_has_tool && !host_is_off)
        host_is_careful = host_is_careful_waiting = false;
    find_vendor();
}

void host_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_functions);
}

/* Before main, so that hooks need not check. */
__attribute__((constructor)) static void open_early(void) {
    host_open();
}

bool host_has_world(void) {
    int begun = 0, over = 0;
    host_Initialized(&begun);
    host_Finalized(&over);
    return begun && !over;
}

bool host_is_threaded(void) {
    int level = MPI_THREAD_MULTIPLE;
    if (host_has_world())
        host_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}
