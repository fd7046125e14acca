/* foreign.c: detects a different MPI than the one that this library was built for.
 *
 * Handles are ints in one MPI and pointers in the other, so Hearth cannot forward calls of a different MPI: arguments
 * would be truncated, and the program would crash in its first calls. The check runs before the first call and
 * ends the process with an error line and a remedy instead.
 *
 * An MPI is a loaded library named libmpi or libmpich that exports MPI_Init. Open MPI has ompi_mpi_comm_world, which
 * no other MPI has. The MPIs of the MPICH family share one binary interface and count as one. */
#include "mpi/core/foreign.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#ifdef OPEN_MPI
static const bool built_for_open_mpi = true;
#else
static const bool built_for_open_mpi = false;
#endif

enum { MOST = 16, PATH = 512 };

struct candidates {
    int count;
    char paths[MOST][PATH];
};

/* The loader must not be called while it walks its list, so this only collects paths. */
static int note_candidate(struct dl_phdr_info *info, size_t bytes, void *arg) {
    struct candidates *found = arg;
    const char *base = strrchr(info->dlpi_name, '/');
    (void)bytes;
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi.so", 9) != 0 && strncmp(base, "libmpich.so", 11) != 0)
        return 0;
    snprintf(found->paths[found->count++], PATH, "%s", info->dlpi_name);
    return found->count == MOST;
}

static bool is_foreign(const char *path) {
    void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    bool foreign = false;
    if (!library)
        return false;
    if (dlsym(library, "MPI_Init"))
        foreign = (dlsym(library, "ompi_mpi_comm_world") != NULL) != built_for_open_mpi;
    dlclose(library);
    return foreign;
}

void foreign_refuse(void) {
    struct candidates found = {0};
    dl_iterate_phdr(note_candidate, &found);
    for (int i = 0; i < found.count; i++) {
        if (!is_foreign(found.paths[i]))
            continue;
        if (log_is_first_rank())
            log_error(
                "this libhearth-mpi.so is built for %s, but the program uses %s, which is %s: preload "
                "the library of that MPI, or start the program with hearth run, which finds the right one",
                built_for_open_mpi ? "Open MPI" : "MPICH", found.paths[i],
                built_for_open_mpi ? "another MPI" : "Open MPI");
        log_settle();
        _exit(1);
    }
}

__attribute__((constructor)) static void refuse_early(void) {
    foreign_refuse();
}
