/* acquire.c: every call of MPI that may bring news from another process acquires when it returns.
 *
 * Which calls do is not listed; which do not is (quiet.txt). The build takes all calls that this MPI's mpi.h
 * declares, without those and without the ones that are hooked by name, and makes MPI_X and PMPI_X of each
 * here: call on, then acquire. So a call that a later MPI adds acquires as well. The list that the build
 * makes is news.def.
 *
 * Acquiring is one increment of a process-wide number. A window in acquire mode compares it before it looks
 * into its cache, and forgets everything if it has changed, in constant time. */
#include "mpi/acquire.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "hearth.h"
#include "mpi/rma/check.h"

#define EXPORT __attribute__((visibility("default")))

_Atomic uint64_t acquire_generation = 1;
int acquire_deaf = -1;

EXPORT void hearth_acquire(void) {
    acquire(NEWS_GENERIC);
}

/* ---- the calls ---- */

struct table {
#define NEWS(name, kind, params, args) int(*name) params;
#define NEWS_FLAG                      NEWS
#include "news.def"
#undef NEWS
#undef NEWS_FLAG
};

static struct table real, next;
static bool has_tool;

static void find(const char *name, void **real_one, void **next_one) {
    *real_one = host_find(name, next_one);
    has_tool |= *next_one != *real_one;
}

__attribute__((constructor)) static void find_all(void) {
    static const char words[] =
        "recv|send-sync|probe|collective|request|fence|pscw|lock|sync|file|atomic|flush-poll|recheck|generic";
    const char *deaf = secure_getenv("HEARTH_TEST_DEAF");
    acquire_deaf = deaf ? settings_word(words, deaf) : -1;
#define NEWS(name, kind, params, args) find("MPI_" #name, (void **)&real.name, (void **)&next.name);
#define NEWS_FLAG                      NEWS
#include "news.def"
#undef NEWS
#undef NEWS_FLAG
}

/* What a tool calls on our behalf goes straight on. What the MPI library calls acquires without need, which is harmless. */
#define DEFINE(symbol, name, kind, params, args, straight_on, brought)                                       \
    EXPORT int symbol params {                                                                               \
        if (UNLIKELY(!real.name))                                                                            \
            find_all();                                                                                      \
        if (straight_on)                                                                                     \
            return real.name args;                                                                           \
        const void *outer = host_mark;                                                                       \
        if (UNLIKELY(has_tool))                                                                              \
            host_mark = __builtin_frame_address(0);                                                          \
        int rc = next.name args;                                                                             \
        host_mark = outer;                                                                                   \
        check_note("MPI_" #name);                                                                            \
        if (brought)                                                                                         \
            acquire(NEWS_##kind);                                                                            \
        return rc;                                                                                           \
    }

#define BOTH(name, kind, params, args, brought)                                                              \
    DEFINE(MPI_##name, name, kind, params, args, 0, brought)                                                 \
    DEFINE(PMPI_##name, name, kind, params, args, host_is_marked(__builtin_frame_address(0)), brought)

#define NEWS(name, kind, params, args)      BOTH(name, kind, params, args, 1)
#define NEWS_FLAG(name, kind, params, args) BOTH(name, kind, params, args, rc != MPI_SUCCESS || *flag)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "news.def"
