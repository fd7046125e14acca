/* yield.c: makes waiting ranks of MPICH over UCX yield their core to others. For tests and benches only, to be preloaded.
 *
 * Such a rank polls and never sleeps. Where virtual hosts or several jobs share cores, the rank for which it waits runs only
 * when the kernel's tick ends the poller's slice: a get takes 8 ms instead of 0.1 ms, and anything that saves
 * gets looks better than it is. Open MPI has a setting for this, mpi_yield_when_idle; MPICH has none. Hearth's
 * own polling is unchanged. */
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

static unsigned (*progress)(void *worker);
static struct range { uintptr_t begin, end; } callers[2]; /* MPICH, and UCX, in whose calls MPICH waits */
static const char *const names[2] = {"libmpich.so", "libucp.so"};

static void keep_range(struct range *range, const struct dl_phdr_info *info) {
    range->begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > range->end)
            range->end = end;
    }
}

static int find_callers(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < 2; i++)
        if (strstr(info->dlpi_name, names[i]))
            keep_range(&callers[i], info);
    return 0;
}

__attribute__((constructor)) static void start(void) {
    *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    dl_iterate_phdr(find_callers, NULL);
}

static bool is_mpich(uintptr_t caller) {
    for (int i = 0; i < 2; i++)
        if (caller >= callers[i].begin && caller < callers[i].end)
            return true;
    return false;
}

unsigned ucp_worker_progress(void *worker) {
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    unsigned events = progress(worker);

    if (!events && is_mpich(caller))
        sched_yield();
    return events;
}
