/* acquire.c: every MPI call that can be a sync event, that is, tell this process of a write by another, acquires on
 * return.
 *
 * The calls that do not acquire are listed (quiet.txt); all others do. The build takes all calls that this MPI
 * declares (declared.h) and its library exports, without the listed ones and without those hooked by name, and
 * generates MPI_X and PMPI_X of each here: forward, then acquire. A call that a later MPI adds therefore acquires as
 * well, and so does an extension, MPIX_X. The generated list is news.def, which holds full names.
 *
 * While such a call blocks in MPI, another thread progresses messages to this process (p2p/helper.c). That thread
 * does not call MPI. If messages arrive through MPI, a blocking collective is therefore replaced by its non-blocking
 * equivalent, which is tested in a loop with a round of progress in between. waits.txt lists the replaced collectives
 * per MPI, because some MPIs have equivalents with different results. All others, and those that a tool wraps on some
 * process, are called unchanged after a pre-barrier (p2p/meet.c).
 *
 * An acquire is one increment of a process-wide generation. A window in acquire mode compares it before it reads its
 * cache, and invalidates the cache in constant time if it has changed. */
#include "mpi/core/acquire.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "hearth.h"
#include "mpi/core/declared.h"
#include "mpi/p2p/meet.h"
#include "mpi/p2p/p2p.h"
#include "mpi/rma/check.h"

#define EXPORT __attribute__((visibility("default")))

_Atomic uint64_t acquire_generation = 1;
int acquire_deaf = -1;
bool acquire_is_shared = true;

EXPORT void hearth_acquire(void) {
    if (acquire_deaf !=
        NEWS_GENERIC) /* atomic: any thread may call this, also beside one that is inside acquire() */
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
}

/* ---- the calls ---- */

struct table {
#define NEWS(name, kind, params, args)                       int(*name) params;
#define NEWS_FLAG                                            NEWS
#define NEWS_COMM                                            NEWS
#define NEWS_OPEN                                            NEWS
#define NEWS_TWIN(name, twin, kind, params, args, twin_args) NEWS(name, kind, params, args)
#include "news.def"
#undef NEWS
#undef NEWS_FLAG
#undef NEWS_COMM
#undef NEWS_OPEN
#undef NEWS_TWIN
};

static struct table real, next;

/* The non-blocking equivalents of the collectives, and a number for each. */
#define NEWS(name, kind, params, args)
#define NEWS_FLAG(name, kind, params, args)
#define NEWS_COMM(name, kind, params, args)
#define NEWS_OPEN(name, kind, params, args)
#define NEWS_TWIN(name, twin, kind, params, args, twin_args) __typeof__(&twin) name;
static struct {
#include "news.def"
} twin;
#undef NEWS_TWIN
#define NEWS_TWIN(name, twin, kind, params, args, twin_args) TWIN_##name,
enum {
#include "news.def"
    TWINS
};
_Static_assert(TWINS <= 64, "one bit per collective");
#undef NEWS
#undef NEWS_FLAG
#undef NEWS_COMM
#undef NEWS_OPEN
#undef NEWS_TWIN

static void find(const char *name, void **real_one, void **next_one) {
    *real_one = host_find(name, next_one);
    if (*next_one != *real_one)
        host_note_tool();
}

__attribute__((constructor)) static void find_all(void) {
    void *unused;
    static const char words[] =
        "recv|send-sync|probe|collective|request|fence|pscw|lock|sync|file|atomic|flush-poll|recheck|generic";
    const char *deaf = secure_getenv("HEARTH_TEST_DEAF");
    acquire_deaf = deaf ? settings_word(words, deaf) : -1;
#define NEWS(name, kind, params, args) find(#name, (void **)&real.name, (void **)&next.name);
#define NEWS_FLAG                      NEWS
#define NEWS_COMM                      NEWS
#define NEWS_OPEN                      NEWS
#define NEWS_TWIN(name, twin_name, kind, params, args, twin_args)                                            \
    NEWS(name, kind, params, args)                                                                           \
    *(void **)&twin.name = host_find(#twin_name, &unused);
#include "news.def"
#undef NEWS
#undef NEWS_FLAG
#undef NEWS_COMM
#undef NEWS_OPEN
#undef NEWS_TWIN
}

/* Collectives that a tool wraps on any process: the tool must see the original call, and all processes must make the
 * same call. */
static uint64_t wrapped;

void acquire_agree(void) {
    uint64_t mine = 0;
#define NEWS(name, kind, params, args)
#define NEWS_FLAG NEWS
#define NEWS_COMM NEWS
#define NEWS_OPEN NEWS
#define NEWS_TWIN(name, twin, kind, params, args, twin_args)                                                 \
    mine |= (uint64_t)(next.name != real.name) << TWIN_##name;
#include "news.def"
#undef NEWS
#undef NEWS_FLAG
#undef NEWS_COMM
#undef NEWS_OPEN
#undef NEWS_TWIN
    host_Allreduce(&mine, &wrapped, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
}

/* Calls that a tool makes on Hearth's behalf are forwarded directly. Calls by the MPI library itself acquire without
 * need, which is harmless. */
#define DEFINE(symbol, name, kind, params, args, straight_on, brought, instead)                              \
    EXPORT int symbol params {                                                                               \
        if (UNLIKELY(!real.name) && (find_all(), !real.name))                                                \
            return MPI_ERR_INTERN;                                                                           \
        if (straight_on)                                                                                     \
            return real.name args;                                                                           \
        int rc;                                                                                              \
        const void *outer = host_mark;                                                                       \
        if (UNLIKELY(next.name != real.name))                                                                \
            host_mark = __builtin_frame_address(0);                                                          \
        instead {                                                                                            \
            p2p_enter();                                                                                     \
            rc = next.name args;                                                                             \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        host_mark = outer;                                                                                   \
        check_note(#name);                                                                                   \
        if (brought)                                                                                         \
            acquire(NEWS_##kind);                                                                            \
        return rc;                                                                                           \
    }

#define BOTH(name, kind, params, args, brought, instead)                                                     \
    DEFINE(name, name, kind, params, args, 0, brought, instead)                                              \
    DEFINE(P##name, name, kind, params, args, host_is_marked(__builtin_frame_address(0)), brought, instead)

#define LOOP(name, twin_args)                                                                                \
    if (meet_is_needed() && meet_or_replace(comm, !(wrapped >> TWIN_##name & 1))) {                          \
        MPI_Request request;                                                                                 \
        rc = p2p_wait_twin(twin.name twin_args, &request, MPI_STATUS_IGNORE);                                \
    } else

#define NEWS(name, kind, params, args)      BOTH(name, kind, params, args, 1, )
#define NEWS_FLAG(name, kind, params, args) BOTH(name, kind, params, args, rc != MPI_SUCCESS || *flag, )
#define NEWS_COMM(name, kind, params, args) BOTH(name, kind, params, args, 1, meet_all(comm);)
#define NEWS_OPEN(name, kind, params, args) BOTH(name, kind, params, args, 1, meet_file(fh);)
#define NEWS_TWIN(name, twin, kind, params, args, twin_args)                                                 \
    BOTH(name, kind, params, args, 1, LOOP(name, twin_args))
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "news.def"
