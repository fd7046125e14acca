/* leave.c: ends the job, in all its ranks together if possible.
 *
 * Every rank ends by gasnet_exit, by the end of main, or by MPI_Finalize, and waits for the others in an MPI reduction.
 * Then everything is closed in order, and named segments are consistent. A rank that calls gasnet_exit alone notifies the
 * others after a moment, by a message and by SIGQUIT: ranks that poll follow it, and so do ranks whose signal handler calls
 * gasnet_exit. If some do not arrive, the job is aborted.
 *
 *      gasnet_exit(code) ---> reduction: all are here ------------> close all -> MPI_Finalize -> _exit(code)
 *                             after TELL_MS: notify the others
 *                             after LEAVE_MS: MPI_Abort(code)
 *      gasnet_exit(0)    ---> the same with a longer timeout (HEARTH_EXIT_TIMEOUT): others may still work for a while.
 *                             If segments have names, the others are not notified: they would leave in mid-computation.
 *      main returns 0    ---> the same, and the others are never notified
 *
 * Named segments keep their content only if all ranks end by themselves and with success; else they stay as they were
 * at their last checkpoint.
 *
 * Once a thread of the process leaves, no other thread of it works for GASNet: a thread that polls, or uses the network,
 * blocks in that call until the process ends. */
#include "gas/job/leave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/log.h"
#include "base/settings.h"
#include "gas/am/am.h"
#include "gas/memory/ask.h"
#include "gas/am/am_remote.h"
#include "gas/rma/gas_handle.h"
#include "gas/memory/gas_memory.h"
#include "gas/process/gas_comm.h"
#include "gas/job/signals.h"
#include "gas/rma/stats.h"
#include "observe/live.h"

enum { TELL_MS = 200, LEAVE_MS = 5000 };

struct ending {
    int code;
    bool tells; /* notify the others, so that those that poll follow */
    uint64_t patience_ms;
};

static _Atomic bool told; /* another rank leaves */
static _Atomic int told_code;
static _Atomic bool begun; /* a thread of this process leaves */
static _Thread_local bool mine;
static pid_t process; /* a child that the program forks has nothing to close */

/* ---- threads ---- */

static _Noreturn void stay(void) {
    for (;;)
        pause();
}

static void leave_now(void) {
    if (mine)
        return; /* this thread is closing */
    if (atomic_load(&begun))
        stay();
    if (atomic_load(&told))
        gasnet_exit(atomic_load(&told_code));
}

/* ---- notifying the others ---- */

void gas_leave_is_told(int code) {
    log_trace(LOG_GAS, "another rank leaves with code %d", code);
    atomic_store(&told_code, code);
    atomic_store(&told, true);
    atomic_store(&gas_leave_wanted, 1);
}

static void on_leave(gasnet_token_t token, int32_t code) {
    (void)token;
    gas_leave_is_told(code);
}

void gas_leave_attached(void) {
    gas_am_register_own(AM_LEAVE, (am_handler *)on_leave, 1, GEX_FLAG_AM_SHORT);
}

/* The ranks of this node get SIGQUIT; on other nodes the helper sends it when the message arrives (am_arrive.c). */
static void signal_node(int code) {
    for (int rank = 0; rank < gas_job.size; rank++)
        if (rank != gas_job.rank && gas_same_node((gasnet_node_t)rank))
            gas_box_quit((int)gas_job.world->local_of[rank], code);
}

struct telling {
    int next, tries; /* distance of the rank to notify next, and attempts to */
};

static bool leaves_already(int rank) {
    return gas_same_node((gasnet_node_t)rank) && gas_box_is_leaving((int)gas_job.world->local_of[rank]);
}

/* Notifies ranks by messages, for those that poll, without waiting: a message keeps one of a few slots until its receiver polls, which
 * ranks that leave do not. Returns whether nothing is left to do; else it is called again a moment later. */
static bool tell_more(struct telling *t, int code) {
    enum { TRIES = 50 };
    for (; t->next < gas_job.size; t->next++, t->tries = 0) {
        int rank = (gas_job.rank + t->next) % gas_job.size;
        if (!leaves_already(rank) && !gas_am_send_if_possible(rank, AM_LEAVE, 1, (int32_t[]){code}) &&
            t->tries++ < TRIES)
            return false;
    }
    return true;
}

/* ---- rendezvous ---- */

static uint64_t milliseconds(void) {
    return clock_ns() / 1000000;
}

static uint64_t patience(int code) {
    uint64_t seconds = settings_get()->exit_timeout;
    return code != 0 ? LEAVE_MS : seconds ? seconds * 1000 : UINT64_MAX;
}

/* Returns whether all ranks arrived; *well: all of them by themselves and with success. */
static bool job_rendezvous(const struct ending *end, bool attached, bool *well) {
    static int failed, any_failed; /* static, as MPI may still use them if we stop waiting */
    MPI_Request all;
    int here = 0;
    bool tells = attached && end->tells, signalled = false;
    struct telling telling = {.next = 1};
    uint64_t start = milliseconds();
    failed = end->code != 0 || atomic_load(&told);
    MPI_Iallreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, gas_comm.all, &all);
    for (;;) {
        MPI_Test(&all, &here, MPI_STATUS_IGNORE);
        uint64_t waited = milliseconds() - start;
        *well = here && !any_failed;
        if (here || waited > end->patience_ms) {
            log_debug(LOG_GAS, "%s after %llu ms%s", here ? "all ranks leave" : "not all ranks leave",
                      (unsigned long long)waited, here && any_failed ? "; one of them failed" : "");
            return here;
        }
        if (tells && waited > TELL_MS) {
            if (!signalled) {
                log_debug(LOG_GAS, "the others did not come within %d ms: they get SIGQUIT and messages",
                          TELL_MS);
                signal_node(end->code);
            }
            signalled = true;
            tells = !tell_more(&telling, end->code);
        }
        if (gas_job.world->nodes > 1)
            gas_ask_progress(); /* sends what is left of operations that were started */
        usleep(waited < 10 ? 50 : 1000);
    }
}

/* ---- closing ---- */

static bool unsaved; /* a named segment was not saved; the error was logged */

/* `ends`: the process is about to exit. Its memory is then released with it, and not before: another thread may still
 * be on its way out of a call. */
static void leave_close_all(bool attached, bool ends, bool well) {
    gas_signals_guard_longer();
    if (attached) {
        gas_handle_finish_all();
        gas_stats_report();
    }
    gas_ask_close();
    MPI_Barrier(gas_comm.all);
    net_close(gas_job.net, &gas_job.boot, NULL);
    live_close(LIVE_BY_GASNET);
    if (attached && gas_memory_detach(well, ends) != 0)
        unsaved = true;
    if (!ends) {
        gas_signals_close();
        gas_arrive_close();
        net_world_close(gas_job.world);
    }
    MPI_Comm_free(&gas_comm.node);
    MPI_Comm_free(&gas_comm.all);
}

/* Ends this process's part. False: the others did not arrive, which is logged if it is unexpected. */
static bool job_leave(const struct ending *end, const char *how, bool ends) {
    bool attached = gas_is_attached(), well;
    log_debug(LOG_GAS, "%s with code %d: this rank waits for the others, %s", how, end->code,
              end->tells ? "and tells them to leave" : "which are not told");
    gas_signals_hold();
    gas_signals_guard(end->code, false);
    mine = true;
    atomic_store(&begun, true);
    atomic_store(&gas_leave_wanted, 1);
    atomic_store(&gas_job.stage, GAS_LEAVING);
    if (job_rendezvous(end, attached, &well)) {
        leave_close_all(attached, ends, well);
        return true;
    }
    if (end->code == 0)
        log_error(
            "%s on this node, but other ranks have not ended for %llu s (HEARTH_EXIT_TIMEOUT); the job is "
            "ended%s",
            how, (unsigned long long)end->patience_ms / 1000,
            attached && gas_memory_is_durable()
                ? ", and what was written since the last checkpoint is not kept"
                : "");
    return false;
}

static void leave_finalize_mpi(void) {
    int over;
    MPI_Finalized(&over);
    if (!over)
        MPI_Finalize();
}

void gasnet_exit(int exitcode) {
    static _Atomic bool called;
    bool in_quit = false;
    if (atomic_load(&gas_job.stage) != GAS_NOTHING && getpid() == process)
        in_quit =
            gas_signals_hold(); /* a signal handler that calls gasnet_exit again would block this thread forever */
    if (atomic_exchange(&called, true) || atomic_load(&begun))
        stay();
    if (atomic_load(&gas_job.stage) == GAS_NOTHING || getpid() != process) {
        fflush(NULL);
        _exit(exitcode);
    }
    bool alone = atomic_load(&told) || exitcode != 0;
    gas_signals_guard(exitcode, in_quit && alone); /* the others may come late if it does not leave alone */
    fflush(NULL);
    struct ending end = {.code = exitcode,
                         .tells = alone || !gas_is_attached() || !gas_memory_is_durable(),
                         .patience_ms = alone ? LEAVE_MS : patience(0)};
    if (!job_leave(&end, "gasnet_exit was called", true))
        job_end(exitcode);
    leave_finalize_mpi();
    fflush(NULL);
    _exit(exitcode == 0 && unsaved ? EXIT_FAILURE : exitcode);
}
EXPORT __attribute__((alias("gasnet_exit"), noreturn)) void vgasnet_exit(int exitcode);

/* ---- ends without gasnet_exit ---- */

/* main has returned, or exit was called: the process ends with that status afterwards. */
static void at_exit(int status, void *arg) {
    int over;
    (void)arg;
    if (getpid() != process)
        return;
    MPI_Finalized(&over);
    if (over || atomic_load(&begun))
        return;
    fflush(NULL);
    struct ending end = {.code = status, .tells = status != 0, .patience_ms = patience(status)};
    if (!job_leave(&end, "main has returned", true))
        job_end(status);
    leave_finalize_mpi();
    if (unsaved && status == 0) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
}

/* The program finalises MPI itself: called while MPI still works. */
static int with_mpi(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    struct ending end = {.patience_ms = patience(0)};
    if (!atomic_load(&begun) && !job_leave(&end, "MPI_Finalize was called", false))
        job_end(EXIT_FAILURE);
    return MPI_SUCCESS;
}

void gas_leave_prepare(void) {
    int key;
    process = getpid();
    gas_leave_now = leave_now;
    gas_signals_open();
    on_exit(at_exit, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, with_mpi, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
