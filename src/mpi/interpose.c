/* interpose.c: defines MPI_X and PMPI_X of every call that is hooked by name. Both names are needed: Fortran and C++
 * bindings call PMPI_X, and MPICH's mpi_f08 uses either name, depending on the call.
 *
 * The MPI library also calls some of its own PMPI_X through the linker, ROMIO for example. Such a call passes a hook
 * like any other: windows and requests are looked up by handle, and those of the library are unknown. The return
 * address does not tell its calls from the program's: a callback that ends in `return MPI_Win_free(win)` returns
 * directly into the library, and a window freed unnoticed would be served when its handle is reused. */
#include "base/compiler.h"
#include "mpi/observe/call_time.h"
#include "mpi/host/hooks.h"
#include "mpi/observed_calls.h"
#include "mpi/messages/collective/prebarrier.h"
#include "mpi/report/report_partial.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/serving/state/served.h"

#define EXPORT __attribute__((visibility("default")))

/* Another library's constructor may call MPI before Hearth's constructor has run: find the functions first. */
#define READY(name) (LIKELY(host_real.name != NULL) || (host_open(), host_real.name != NULL))

/* The common path is a test and a jump. The rest is a function of its own: GCC would load arguments from the stack for it
 * before the test. `waits`: MPI may wait in this call, and `before` and `after` are needed if Hearth handles messages. */
#define DEFINE(symbol, name, params, args, waits)                                                            \
    static __attribute__((noinline)) int counted_##symbol params {                                           \
        if (!IS_LIGHT(name) || host_is_off || (waits && p2p_on) || !call_time_passes(&time_##name))          \
            return careful_##symbol args;                                                                    \
        int rc = hook_##name args;                                                                           \
        if (rc == MPI_SUCCESS)                                                                               \
            COUNT_CALL(name);                                                                                \
        return rc;                                                                                           \
    }                                                                                                        \
    EXPORT int symbol params {                                                                               \
        if (LIKELY(!(waits ? host_is_careful_waiting : host_is_careful)))                                    \
            return hook_##name args;                                                                         \
        return counted_##symbol args;                                                                        \
    }

#define DEFINE_CAREFUL(name, params, args, before, after)                                                    \
    static int waiting_##name params {                                                                       \
        before;                                                                                              \
        int rc = hook_##name args;                                                                           \
        after;                                                                                               \
        return rc;                                                                                           \
    }                                                                                                        \
    static __attribute__((noinline)) int careful_MPI_##name params {                                         \
        if (UNLIKELY(!READY(name)))                                                                          \
            return MPI_ERR_INTERN;                                                                           \
        if (UNLIKELY(host_is_off))                                                                           \
            return host_next.name args;                                                                      \
        rma_check_note("MPI_" #name);                                                                        \
        struct call_timer timer = call_time_begin(&time_##name, __builtin_frame_address(0));                 \
        int rc = waiting_##name args;                                                                        \
        uint64_t ticks = call_time_end(&timer);                                                              \
        if (UNLIKELY(timer.call != NULL) && rc == MPI_SUCCESS) {                                             \
            COUNT_CALL(name);                                                                                \
            if (UNLIKELY(ticks))                                                                             \
                NOTE_TICKS(name);                                                                            \
        }                                                                                                    \
        report_partial_poll(&timer);                                                                         \
        return rc;                                                                                           \
    }

/* A PMPI_X call by a tool that runs on Hearth's behalf is only forwarded, and so are all calls if HEARTH=off. All others continue as MPI_X: one body per
 * call halves the time that this file takes to compile. */
#define DEFINE_CAREFUL_PMPI(name, params, args)                                                              \
    static __attribute__((noinline)) int careful_PMPI_##name params {                                        \
        if (UNLIKELY(host_is_off || host_is_marked(__builtin_frame_address(0))) && READY(name))              \
            return host_real.name args;                                                                      \
        return careful_MPI_##name args;                                                                      \
    }

#define BOTH(name, params, args, waits, before, after)                                                       \
    static struct call_time time_##name = CALL_TIME("MPI_" #name);                                           \
    DEFINE_CAREFUL(name, params, args, before, after)                                                        \
    DEFINE_CAREFUL_PMPI(name, params, args)                                                                  \
    DEFINE(MPI_##name, name, params, args, waits)                                                            \
    DEFINE(PMPI_##name, name, params, args, waits)

/* Replaces the call by `instead` where a pre-barrier is needed. */
#define PREBARRIER_RETURN(instead)                                                                           \
    if (p2p_prebarrier_is_needed())                                                                          \
        return instead;                                                                                      \
    p2p_enter()

/* Operations on windows that Hearth serves inside a node are complete when their calls return: nothing is waited for. */
static inline bool enter_end(MPI_Win win) {
    bool enters = p2p_on && !serve_is_on_node(win);
    if (enters)
        p2p_enter();
    return enters;
}

#define HOOK(name, params, args)  BOTH(name, params, args, false, , )
#define BLOCK(name, params, args) BOTH(name, params, args, true, p2p_enter(), p2p_leave())
#define BLOCK_END(name, params, args)                                                                        \
    BOTH(name, params, args, host_is_careful_waiting && !serve_is_on_node(win),                              \
         bool entered = enter_end(win), if (entered) p2p_leave())
#define PREBARRIER(name, params, args)                                                                       \
    BOTH(name, params, args, true, p2p_prebarrier_enter(comm), p2p_prebarrier_leave(rc, comm, win))
#define PREBARRIER_WIN(name, params, args)                                                                   \
    BOTH(name, params, args, true, p2p_prebarrier_enter_window(&win), p2p_leave())
#define PREBARRIER_FREE(name, params, args)                                                                  \
    BOTH(name, params, args, true, p2p_prebarrier_enter_window(win), p2p_leave())
#define PREBARRIER_WAIT(name, params, args)                                                                  \
    BOTH(name, params, args, true, PREBARRIER_RETURN(p2p_prebarrier_wait(win)), p2p_leave())
#define USE(name, params, args)
#include "mpi/host/calls.def"
