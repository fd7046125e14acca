/* rpc_load.c: finds and loads libhearth-serve. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "mpi/windows/serving/remote/rpc.h"

static const struct serve_rpc *loaded;
static char reason[256];

static void rpc_note_reason(const char *why) {
    snprintf(reason, sizeof reason, "%s", why ? why : "no reason given");
}

/* The library lies in the folder of the one that contains this function. */
static void rpc_load_once(void) {
    static const char name[] = "libhearth-serve.so";
    char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)rpc_load_once, &self) || !self.dli_fname)
        return rpc_note_reason("the folder of libhearth-mpi is unknown");
    const char *end = strrchr(self.dli_fname, '/');
    int folder = end ? (int)(end - self.dli_fname + 1) : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, name) >= (int)sizeof path)
        return rpc_note_reason("the path of its folder is too long");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return rpc_note_reason(dlerror());
    const struct serve_rpc *rpc = dlsym(library, "hearth_serve_rpc");
    if (!rpc || rpc->bytes != sizeof *rpc || strcmp(rpc->build, net_build_id) != 0)
        return rpc_note_reason("libhearth-serve.so is of another build: install both together");
    loaded = rpc;
}

const struct serve_rpc *serve_rpc_load(const char **why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, rpc_load_once);
    *why = reason;
    return loaded;
}
