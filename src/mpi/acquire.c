/* acquire.c: every call of MPI that may bring news from another process acquires when it returns.
 *
 * Which calls do is not listed; which do not is (quiet.txt). The build takes all calls that this MPI declares (declared.h) and its
 * library has, without those and without the ones that are hooked by name, and makes MPI_X and PMPI_X of each here: call on, then
 * acquire. So a call that a later MPI adds acquires as well, and so does an extension, MPIX_X. The list that the build makes is
 * news.def; names stand there in full.
 *
 * While such a call sits in MPI, messages to this process are taken care of by another thread (p2p/helper.c). That thread does not
 * call MPI, so if messages come through MPI, a blocking collective is made of its non-blocking equivalent, which is tested in turn
 * with a round of progress. Which collectives waits.txt says, per MPI: some MPIs have equivalents that give something else. All
 * others, and those that a tool wraps on some process, are made as they are, after a pre-barrier (p2p/meet.c).
 *
 * Acquiring is one increment of a process-wide number. A window in acquire mode compares it before it looks
 * into its cache, and forgets everything if it has changed, in constant time. */
#include "mpi/acquire.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "hearth.h"
#include "mpi/declared.h"
#include "mpi/p2p/meet.h"
#include "mpi/p2p/p2p.h"
#include "mpi/rma/check.h"

#define EXPORT __attribute__((visibility("default")))

_Atomic uint64_t acquire_generation = 1;
int acquire_deaf = -1;

EXPORT void hearth_acquire(void) {
    acquire(NEWS_GENERIC);
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

/* Of the collectives, the calls that do not block; and a number for each. */
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

/* Collectives that a tool wraps, on any process: it has to see the call as it is, and all processes must make the same call. */
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

/* What a tool calls on our behalf goes straight on. What the MPI library calls acquires without need, which is harmless. */
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
