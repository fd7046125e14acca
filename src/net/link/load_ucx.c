/* load_ucx.c: loads the network over UCX, which lies in a library of its own, beside libhearth-core: only jobs on several nodes
 * need UCX. It must use the libucp that the MPI uses, because two of them in one process would both intercept memory calls. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "net/link/link_internal.h"

static const struct link_network *loaded;

#ifdef HEARTH_WITHOUT_UCX
static void ucx_load(void) {
    log_error("network ucx: built without UCX: build with libucx-dev installed, or unset HEARTH_NET");
}
#else
/* The libraries of this name in the process, at most two of them. */
struct copies {
    int count;
    const char *paths[2];
};

static int note_copy(struct dl_phdr_info *info, size_t size, void *arg) {
    struct copies *found = arg;
    const char *name = strrchr(info->dlpi_name, '/');
    (void)size;
    if (name && !strncmp(name, "/libucp.so", strlen("/libucp.so")) && found->count < 2)
        found->paths[found->count++] = info->dlpi_name;
    return 0;
}

static void check_copies(void) {
    struct copies found = {.count = 0};
    dl_iterate_phdr(note_copy, &found);
    if (found.count == 2)
        log_warn("network ucx: this process has two copies of UCX, %s and %s: build Hearth with the UCX of "
                 "this MPI, or set HEARTH_NET=mpi",
                 found.paths[0], found.paths[1]);
}

/* Beside the library that contains this function, whatever the search path. It stays loaded until the process ends. */
static void *ucx_find(void) {
    char path[PATH_MAX];
    Dl_info self = {0};
    const char *end = dladdr((void *)ucx_find, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
    int folder = end ? (int)(end - self.dli_fname + 1) : 0;
    snprintf(path, sizeof path, "%.*slibhearth-ucx.so", folder, folder ? self.dli_fname : "");
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* UCX takes over these signals when it is loaded, to print where the process was. Handlers that are there stay: those of segments and
 * of shared memory are no errors of the process. */
static void *ucx_open(void) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct sigaction before[COUNT];
    for (int i = 0; i < COUNT; i++)
        sigaction(numbers[i], NULL, &before[i]);
    void *library = ucx_find();
    for (int i = 0; i < COUNT; i++)
        if (before[i].sa_flags & SA_SIGINFO || before[i].sa_handler != SIG_DFL)
            sigaction(numbers[i], &before[i], NULL);
    return library;
}

static void ucx_load(void) {
    void *library = ucx_open();
    loaded = library ? dlsym(library, "hearth_link_ucx") : NULL;
    log_debug(LOG_NET, "libhearth-ucx.so is %s", loaded ? "loaded" : "not loaded");
    if (loaded)
        check_copies();
    else
        log_error("network ucx: %s: install it beside libhearth-core, or set HEARTH_NET=mpi", dlerror());
}
#endif

const struct link_network *net_link_load_ucx(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ucx_load);
    return loaded;
}
