/* The end.
 *
 * All ranks come here sooner or later, by gasnet_exit, by the end of main, or by MPI_Finalize, and meet in a
 * barrier of MPI; then everything is closed in order, and segments with names are as they should be. A rank
 * that calls gasnet_exit alone tells the others after a moment: those that poll follow it. If some do not
 * come, the job is ended without them.
 *
 *      gasnet_exit(code) ---> meet: all are here -----------------> close all -> MPI_Finalize -> _exit(code)
 *                             after TELL: tell the others
 *                             after LEAVE: MPI_Abort(code)
 *      main returns 0    ---> the same with more patience: others may still be at work for a while
 *
 * From then on no other thread of the process does anything for GASNet: those that poll, or come to the
 * network, stay there. */
#include "gas/leave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gas/am.h"
#include "gas/ask.h"
#include "gas/far.h"
#include "gas/handle.h"
#include "gas/memory.h"
#include "gas/stats.h"

enum { TELL_MS = 200, LEAVE_MS = 5000, PATIENCE_MS = 60000 };

_Atomic int leave_wanted; /* something is to be looked at */
static _Atomic bool told; /* that another rank leaves */
static _Atomic int told_code;
static _Atomic bool begun; /* a thread of this process leaves */
static _Thread_local bool mine;
static pid_t process; /* a child that the program forks has nothing to end */

/* ---- threads ---- */

static _Noreturn void stay(void) {
    for (;;)
        pause();
}

void leave_now(void) {
    if (mine)
        return; /* it closes things */
    if (atomic_load(&begun))
        stay();
    if (atomic_load(&told))
        gasnet_exit(atomic_load(&told_code));
}

void gas_not_attached(const char *call) {
    leave_if_asked();
    gas_fail(call, "this process is not attached to the job: call gasnet_attach first");
}

int leave_or_refuse(const char *call) {
    leave_if_asked();
    return gas_refuse(GASNET_ERR_NOT_INIT, call,
                      "this process is not attached to the job: call gasnet_attach first");
}

/* ---- telling the others ---- */

static void on_leave(gasnet_token_t token, int32_t code) {
    (void)token;
    atomic_store(&told_code, code);
    atomic_store(&told, true);
    atomic_store(&leave_wanted, 1);
}

void leave_attached(void) {
    am_register(AM_LEAVE, (am_handler *)on_leave);
}

/* As am_send, but without a poll: no handler of the program runs any more. */
static void tell(int rank, int code) {
    enum { TRIES = 50, NAP_US = 1000 };
    for (int i = 0; i < TRIES; i++) {
        if (am_send_if_possible(rank, AM_LEAVE, 1, (int32_t[]){code}))
            return;
        ask_progress();
        far_tend();
        usleep(NAP_US);
    }
}

static void tell_all(int code) {
    for (int i = 1; i < gas.size; i++)
        tell((gas.rank + i) % gas.size, code);
}

/* ---- meeting ---- */

static uint64_t milliseconds(void) {
    return clock_ns() / 1000000;
}

/* Whether all came. */
static bool meet(int code, uint64_t patience_ms, bool attached) {
    MPI_Request all;
    int here = 0;
    bool others_know = !attached;
    uint64_t start = milliseconds();
    MPI_Ibarrier(gas.comm, &all);
    for (;;) {
        MPI_Test(&all, &here, MPI_STATUS_IGNORE);
        uint64_t waited = milliseconds() - start;
        if (here || waited > patience_ms)
            return here;
        if (!others_know && waited > TELL_MS && patience_ms == LEAVE_MS) {
            tell_all(code);
            others_know = true;
        }
        if (gas.world->nodes > 1) {
            ask_progress(); /* what was started still leaves */
            far_tend();
        }
        usleep(waited < 10 ? 50 : 1000);
    }
}

/* ---- closing ---- */

static bool unsaved; /* a named segment has not reached its file; a line was written */

/* `ends`: the process is about to. Its memory then goes with it, and stays until then: another thread may
 * still be on its way out of a call. */
static void close_all(bool attached, bool ends) {
    if (attached) {
        handle_finish_all();
        stats_report();
    }
    ask_close();
    MPI_Barrier(gas.comm);
    net_close(gas.net, &gas.boot, NULL);
    live_close();
    if (attached && (gas.pages || !ends) && memory_detach() != 0)
        unsaved = true;
    if (!ends) {
        arrive_close();
        net_world_close(gas.world);
    }
    MPI_Comm_free(&gas.node_comm);
    MPI_Comm_free(&gas.comm);
}

/* Ends this process's part; false: the others did not come. */
static bool leave(int code, uint64_t patience_ms, bool ends) {
    bool attached = gas_is_attached();
    mine = true;
    atomic_store(&begun, true);
    atomic_store(&leave_wanted, 1);
    atomic_store(&gas.stage, GAS_LEAVING);
    if (!meet(code, patience_ms, attached))
        return false;
    close_all(attached, ends);
    return true;
}

static void finalize_mpi(void) {
    int over;
    MPI_Finalized(&over);
    if (!over)
        MPI_Finalize();
}

void gasnet_exit(int exitcode) {
    static _Atomic bool called;
    if (atomic_exchange(&called, true) || atomic_load(&begun))
        stay();
    fflush(NULL);
    if (atomic_load(&gas.stage) == GAS_NOTHING || getpid() != process)
        _exit(exitcode);
    if (!leave(exitcode, LEAVE_MS, true))
        net_boot_abort(exitcode);
    finalize_mpi();
    fflush(NULL);
    _exit(exitcode == 0 && unsaved ? EXIT_FAILURE : exitcode);
}
EXPORT __attribute__((alias("gasnet_exit"), noreturn)) void vgasnet_exit(int exitcode);

/* ---- ends that are not gasnet_exit ---- */

/* main has returned, or exit was called: it goes on to end the process with that status. */
static void at_exit(int status, void *arg) {
    int over;
    (void)arg;
    if (getpid() != process)
        return;
    MPI_Finalized(&over);
    if (over || atomic_load(&begun))
        return;
    fflush(NULL);
    if (!leave(status, status == 0 ? PATIENCE_MS : LEAVE_MS, true)) {
        if (status == 0)
            log_error("main has returned on this node, but others have not come to their end for %d s; the "
                      "job is ended",
                      PATIENCE_MS / 1000);
        net_boot_abort(status);
    }
    finalize_mpi();
    if (unsaved && status == 0) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
}

/* The program ends MPI itself: this is called while it still works. */
static int with_mpi(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    if (!atomic_load(&begun) && !leave(0, PATIENCE_MS, false))
        net_boot_abort(EXIT_FAILURE);
    return MPI_SUCCESS;
}

void leave_prepare(void) {
    int key;
    process = getpid();
    on_exit(at_exit, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, with_mpi, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
