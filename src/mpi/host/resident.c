/* resident.c: keeps Open MPI's PMIx plugin loaded; resident.h says why. */
#include "mpi/host/resident.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "mpi/host/host.h"

enum { PATH = 4096 };

static int note_plugin(struct dl_phdr_info *info, size_t size, void *path) {
    (void)size;
    if (!strstr(info->dlpi_name, "/mca_pmix_"))
        return 0;
    snprintf(path, PATH, "%s", info->dlpi_name);
    return 1;
}

void resident_keep(void) {
    char path[PATH];
    if (!host_is_open_mpi() || !dl_iterate_phdr(note_plugin, path))
        return;
    if (dlopen(path, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY))
        log_debug(LOG_JOB, "%s stays loaded: Open MPI may have an event for it", path);
}
