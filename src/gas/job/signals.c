/* signals.c: signals at the end of a job, as in GASNet-1.
 *
 *      a node leaves          the others get SIGQUIT (leave.c), whether they poll or not
 *      SIGINT, SIGTERM        become SIGQUIT in the process that gets them, and then it leaves
 *      SIGQUIT                runs the program's handler, which is to call gasnet_exit. If there is none: the process
 *                             leaves at its next poll if another node leaves, and immediately if the signal has
 *                             another cause
 *
 * Our handlers are installed only where the program has none.
 *
 * A handler may call gasnet_exit when it has interrupted code that holds a lock which the exit needs: a call of ours
 * (gas_am_context.inside), MPI or malloc. An alarm ends the process if the exit does not complete: SIGALRM has no other use
 * by then. Where a handler of SIGQUIT or one of ours began the exit, nothing tells whether a lock is held, and the alarm
 * comes later. */
#include "gas/job/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/job_end.h"
#include "gas/am/am.h"
#include "gas/job/leave.h"

enum { GUARD_S = 6, HANDLED_S = 12, CLOSING_S = 60, LAST_S = 2, SIGNALLED = 128 };

static _Atomic bool handled; /* a handler of ours began the exit */
static _Atomic bool guarded;

static const int ours[] = {SIGQUIT, SIGINT, SIGTERM};
enum { OURS = sizeof ours / sizeof ours[0] };
static bool installed[OURS];

/* ---- handlers ---- */

static void on_quit(int number) {
    int code = atomic_load(&gas_box_mine()->leave_code);
    if (code != 0) {
        gas_leave_is_told(code - 1);
        return;
    }
    atomic_store(&handled, true);
    gasnet_exit(SIGNALLED + number);
}

static bool program_has_handler(void) {
    struct sigaction now;
    return sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler != on_quit && now.sa_handler != SIG_DFL &&
           now.sa_handler != SIG_IGN;
}

static void on_end(int number) {
    static _Atomic bool again;
    if (atomic_exchange(&again, true))
        _exit(SIGNALLED + number); /* a second signal ends the process immediately */
    atomic_store(&handled, true);
    if (!program_has_handler())
        gasnet_exit(SIGNALLED + number);
    raise(SIGQUIT);
}

/* ---- exit of this process ---- */

bool gas_signals_hold(void) {
    sigset_t ends, before;
    sigemptyset(&ends);
    for (int i = 0; i < OURS; i++)
        sigaddset(&ends, ours[i]);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    atomic_store(&gas_box_mine()->pid, 0);
    return sigismember(&before, SIGQUIT) == 1;
}

static _Atomic int guard_code;

static void on_guard(int number) {
    static const char line[] =
        "hearth: error: gasnet_exit in a signal handler: the code that it interrupted holds a lock that "
        "the exit needs; the job is ended\n";
    static _Atomic bool again;
    (void)number;
    if (atomic_exchange(&again, true))
        _exit(atomic_load(&guard_code));
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written; /* there is no other way to report it */
    alarm(LAST_S);
    job_end(atomic_load(&guard_code));
}

void gas_signals_guard(int code, bool in_quit) {
    struct sigaction action = {.sa_handler = on_guard, .sa_flags = SA_NODEFER};
    sigset_t alarms;
    bool inside = gas_am_context.inside != 0;
    if ((!inside && !in_quit && !atomic_load(&handled)) || atomic_exchange(&guarded, true))
        return;
    atomic_store(&guard_code, code & 0xff ? code & 0xff : EXIT_FAILURE);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(inside ? GUARD_S : HANDLED_S);
}

void gas_signals_guard_longer(void) {
    if (atomic_load(&guarded) && gas_am_context.inside == 0)
        alarm(CLOSING_S);
}

/* ---- open and close ---- */

void gas_signals_open(void) {
    for (int i = 0; i < OURS; i++) {
        struct sigaction now, action = {.sa_handler = ours[i] == SIGQUIT ? on_quit : on_end};
        installed[i] = sigaction(ours[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
                       now.sa_handler == SIG_DFL && sigaction(ours[i], &action, NULL) == 0;
    }
    atomic_store(&gas_box_mine()->pid, getpid());
}

void gas_signals_close(void) {
    for (int i = 0; i < OURS; i++) {
        struct sigaction now, action = {.sa_handler = SIG_DFL};
        if (installed[i] && sigaction(ours[i], NULL, &now) == 0 &&
            (now.sa_handler == on_quit || now.sa_handler == on_end))
            sigaction(ours[i], &action, NULL);
    }
}
