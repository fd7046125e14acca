/* devices.c: looks for GPU runtimes among the loaded libraries. The loader counts the libraries that it has loaded: while that number
 * stays, the answer does. */
#include "mpi/host/devices.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic unsigned long long loads_seen;
static _Atomic bool has_gpu;

struct look {
    unsigned long long loads;
    bool found;
};

static bool is_runtime(const char *path) {
    static const char *const names[] = {"libcuda.so", "libamdhip64.so", "libze_loader.so"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Stops at the first library if nothing was loaded since the last look, and at a runtime. */
static int look_at_library(struct dl_phdr_info *info, size_t bytes, void *arg) {
    struct look *look = arg;
    (void)bytes;
    look->loads = info->dlpi_adds;
    if (info->dlpi_adds == atomic_load(&loads_seen))
        return 1;
    look->found |= is_runtime(info->dlpi_name);
    return look->found;
}

bool devices_have_gpu(void) {
    struct look look = {0};
    dl_iterate_phdr(look_at_library, &look);
    if (look.loads != atomic_load(&loads_seen)) {
        if (look.found)
            atomic_store(&has_gpu, true); /* it stays: its memory may be in use after dlclose */
        atomic_store(&loads_seen, look.loads);
    }
    return atomic_load(&has_gpu);
}
