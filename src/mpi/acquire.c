/* acquire.c: wraps the MPI calls that can be sync events and are not hooked by name, so that they acquire on return.
 * A sync event is a call from which this process may learn of a write by another process.
 *
 * The calls that do not acquire are listed (nonsync.txt); all others do. The build takes all calls that this MPI
 * declares (declared.h) and its library exports, without the listed ones and without those hooked by name, and
 * generates MPI_X and PMPI_X of each here: forward, then acquire. A call that a later MPI adds therefore acquires as
 * well, and so does an extension, MPIX_X. The generated list is sync_calls.def, which holds full names.
 *
 * While such a call blocks in MPI, another thread progresses messages to this process (p2p/transport/p2p_helper.c). That thread
 * does not call MPI. If messages arrive through MPI, a blocking collective is therefore replaced by its non-blocking
 * equivalent, which is tested in a loop with a round of progress in between. waits.txt lists the replaced collectives
 * per MPI, because some MPIs have equivalents with different results. Other collectives, and those that a tool wraps on
 * some process, are called unchanged after a pre-barrier (p2p/collective/prebarrier.c).
 *
 * An acquire is one increment of a process-wide generation. A window in acquire mode compares it before it reads its
 * cache, and invalidates the cache in constant time if it has changed. */
#include "mpi/core/acquire.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "hearth.h"
#include "mpi/core/call_time.h"
#include "mpi/core/declared.h"
#include "mpi/p2p/collective/prebarrier.h"
#include "mpi/p2p/transport/p2p_progress.h"
#include "mpi/report/report_partial.h"
#include "mpi/rma/inflight/rma_check.h"

#define EXPORT __attribute__((visibility("default")))

_Atomic uint64_t acquire_generation = 1;
int acquire_ignored = -1;
bool acquire_is_shared = true;

EXPORT void hearth_acquire(void) {
    if (acquire_ignored !=
        EVENT_GENERIC) /* atomic: any thread may call this, also while another is inside acquire() */
        atomic_fetch_add_explicit(&acquire_generation, 1, memory_order_release);
}

/* ---- the calls ---- */

struct table {
#define SYNC_CALL(name, kind, params, args) int(*name) params;
#define SYNC_CALL_FLAG                      SYNC_CALL
#define SYNC_CALL_COMM                      SYNC_CALL
#define SYNC_CALL_OPEN                      SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    SYNC_CALL(name, kind, params, args)
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
};

static struct table real, next;

/* The non-blocking equivalents of the collectives, and a number for each. */
#define SYNC_CALL(name, kind, params, args)
#define SYNC_CALL_FLAG(name, kind, params, args)
#define SYNC_CALL_COMM(name, kind, params, args)
#define SYNC_CALL_OPEN(name, kind, params, args)
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    __typeof__(&nonblocking) name;
static struct {
#include "sync_calls.def"
} nonblocking;
#undef SYNC_CALL_NONBLOCKING
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args) NONBLOCKING_##name,
enum {
#include "sync_calls.def"
    NONBLOCKING_COUNT
};
_Static_assert(NONBLOCKING_COUNT <= 64, "one bit per collective");
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING

static void acquire_find(const char *name, void **real_one, void **next_one) {
    *real_one = host_find(name, next_one);
    if (*next_one != *real_one)
        host_note_tool();
}

__attribute__((constructor)) static void find_all(void) {
    void *unused;
    static const char words[] =
        "recv|send-sync|probe|collective|request|fence|pscw|lock|sync|file|atomic|flush-poll|recheck|generic";
    const char *ignored = secure_getenv("HEARTH_TEST_IGNORED");
    acquire_ignored = ignored ? settings_word(words, ignored) : -1;
#define SYNC_CALL(name, kind, params, args) acquire_find(#name, (void **)&real.name, (void **)&next.name);
#define SYNC_CALL_FLAG                      SYNC_CALL
#define SYNC_CALL_COMM                      SYNC_CALL
#define SYNC_CALL_OPEN                      SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking_name, kind, params, args, nonblocking_args)                  \
    SYNC_CALL(name, kind, params, args)                                                                      \
    *(void **)&nonblocking.name = host_find(#nonblocking_name, &unused);
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
}

/* Collectives that a tool wraps on any process: the tool must see the original call, and all processes must make the
 * same call. */
static uint64_t wrapped;

void acquire_agree(void) {
    uint64_t mine = 0;
#define SYNC_CALL(name, kind, params, args)
#define SYNC_CALL_FLAG SYNC_CALL
#define SYNC_CALL_COMM SYNC_CALL
#define SYNC_CALL_OPEN SYNC_CALL
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    mine |= (uint64_t)(next.name != real.name) << NONBLOCKING_##name;
#include "sync_calls.def"
#undef SYNC_CALL
#undef SYNC_CALL_FLAG
#undef SYNC_CALL_COMM
#undef SYNC_CALL_OPEN
#undef SYNC_CALL_NONBLOCKING
    host_Allreduce(&mine, &wrapped, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
}

/* Calls that a tool makes on Hearth's behalf are forwarded directly. Calls by the MPI library itself acquire without
 * need, which is harmless. MPI_X and PMPI_X share one body: it takes most of the time that this file takes to compile. */
#define BOTH(name, kind, params, args, brought, instead)                                                     \
    static struct call_time time_##name = CALL_TIME(#name);                                                  \
    static __attribute__((noinline)) int forward_##name params {                                             \
        if (UNLIKELY(!real.name) && (find_all(), !real.name))                                                \
            return MPI_ERR_INTERN;                                                                           \
        int rc;                                                                                              \
        struct call_timer timer = call_time_begin(&time_##name, __builtin_frame_address(0));                 \
        const void *outer = host_mark;                                                                       \
        if (UNLIKELY(next.name != real.name))                                                                \
            host_mark = __builtin_frame_address(0);                                                          \
        instead {                                                                                            \
            p2p_enter();                                                                                     \
            rc = next.name args;                                                                             \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        host_mark = outer;                                                                                   \
        call_time_end(&timer);                                                                               \
        rma_check_note(#name);                                                                               \
        if (brought)                                                                                         \
            acquire(EVENT_##kind);                                                                           \
        report_partial_poll(&timer);                                                                         \
        return rc;                                                                                           \
    }                                                                                                        \
    EXPORT int name params {                                                                                 \
        return forward_##name args;                                                                          \
    }                                                                                                        \
    EXPORT int P##name params {                                                                              \
        if (UNLIKELY(host_is_marked(__builtin_frame_address(0))) && real.name)                               \
            return real.name args;                                                                           \
        return forward_##name args;                                                                          \
    }

#define LOOP(name, nonblocking_args)                                                                         \
    if (p2p_prebarrier_is_needed() &&                                                                        \
        p2p_prebarrier_or_replace(comm, !(wrapped >> NONBLOCKING_##name & 1))) {                             \
        MPI_Request request;                                                                                 \
        rc = p2p_wait_nonblocking(nonblocking.name nonblocking_args, &request, MPI_STATUS_IGNORE);           \
    } else

#define SYNC_CALL(name, kind, params, args)      BOTH(name, kind, params, args, 1, )
#define SYNC_CALL_FLAG(name, kind, params, args) BOTH(name, kind, params, args, rc != MPI_SUCCESS || *flag, )
#define SYNC_CALL_COMM(name, kind, params, args) BOTH(name, kind, params, args, 1, p2p_prebarrier_all(comm);)
#define SYNC_CALL_OPEN(name, kind, params, args) BOTH(name, kind, params, args, 1, p2p_prebarrier_file(fh);)
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    BOTH(name, kind, params, args, 1, LOOP(name, nonblocking_args))
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "sync_calls.def"
