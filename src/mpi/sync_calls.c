/* sync_calls.c: wraps the MPI calls that can be sync events and are not hooked by name, so that they acquire on return.
 * A sync event is a call from which this process may learn of a write by another process.
 *
 * The calls that do not acquire are listed (nonsync.txt); all others do. The build takes all calls that this MPI
 * declares (declared.h) and its library exports, without the listed ones and without those hooked by name, and
 * generates MPI_X and PMPI_X of each here: forward, then acquire. A call that a later MPI adds therefore acquires as
 * well, and so does an extension, MPIX_X. The generated list is sync_calls.def, which holds full names.
 *
 * While such a call blocks in MPI, another thread progresses messages to this process (messages/transport/p2p_helper.c). That thread
 * does not call MPI. If messages arrive through MPI, a blocking collective is therefore replaced by its non-blocking
 * equivalent, which is tested in a loop with a round of progress in between. waits.txt lists the replaced collectives
 * per MPI, because some MPIs have equivalents with different results. Other collectives, and those that a tool wraps on
 * some process, are called unchanged after a pre-barrier (messages/collective/prebarrier.c). */
#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/observe/call_time.h"
#include "mpi/host/sync_table.h"
#include "mpi/messages/collective/prebarrier.h"
#include "mpi/messages/transport/p2p_progress.h"
#include "mpi/report/report_partial.h"
#include "mpi/windows/caching/inflight/rma_check.h"

#define EXPORT __attribute__((visibility("default")))

/* Calls that a tool makes on Hearth's behalf are forwarded directly. Calls by the MPI library itself acquire without
 * need, which is harmless. MPI_X and PMPI_X share one body: it takes most of the time that this file takes to compile. */
#define BOTH(name, kind, params, args, brought, instead)                                                     \
    static struct call_time time_##name = CALL_TIME(#name);                                                  \
    static __attribute__((noinline)) int forward_##name params {                                             \
        if (UNLIKELY(!sync_real.name) && (sync_table_open(), !sync_real.name))                               \
            return MPI_ERR_INTERN;                                                                           \
        if (UNLIKELY(host_is_off))                                                                           \
            return sync_next.name args;                                                                      \
        int rc;                                                                                              \
        struct call_timer timer = call_time_begin(&time_##name, __builtin_frame_address(0));                 \
        const void *outer = host_mark;                                                                       \
        if (UNLIKELY(sync_next.name != sync_real.name))                                                      \
            host_mark = __builtin_frame_address(0);                                                          \
        instead {                                                                                            \
            p2p_enter();                                                                                     \
            rc = sync_next.name args;                                                                        \
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
        if (UNLIKELY(host_is_off || host_is_marked(__builtin_frame_address(0))) && sync_real.name)           \
            return sync_real.name args;                                                                      \
        return forward_##name args;                                                                          \
    }

#define LOOP(name, nonblocking_args)                                                                         \
    if (p2p_prebarrier_is_needed() &&                                                                        \
        p2p_prebarrier_or_replace(comm, !sync_table_is_wrapped(NONBLOCKING_##name))) {                       \
        MPI_Request request;                                                                                 \
        rc = p2p_wait_nonblocking(sync_nonblocking.name nonblocking_args, &request, MPI_STATUS_IGNORE);      \
    } else

#define SYNC_CALL(name, kind, params, args)      BOTH(name, kind, params, args, 1, )
#define SYNC_CALL_FLAG(name, kind, params, args) BOTH(name, kind, params, args, rc != MPI_SUCCESS || *flag, )
#define SYNC_CALL_COMM(name, kind, params, args) BOTH(name, kind, params, args, 1, p2p_prebarrier_all(comm);)
#define SYNC_CALL_OPEN(name, kind, params, args) BOTH(name, kind, params, args, 1, p2p_prebarrier_file(fh);)
#define SYNC_CALL_NONBLOCKING(name, nonblocking, kind, params, args, nonblocking_args)                       \
    BOTH(name, kind, params, args, 1, LOOP(name, nonblocking_args))
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "sync_calls.def"
