/* report_signal.c: signals that end the process: a batch system's time limit, a launcher that ends the other ranks, a crash.
 *
 * The handler writes the reason beside the parts that are on disk, by system calls alone, and then lets the signal take effect as if it
 * had never been there: it restores the previous action and either returns to the instruction that failed, or raises the signal again. So
 * exit status, core file and backtrace are unchanged.
 *
 * A signal whose action the program has set is left alone. Before MPI_Init returns, MPI, UCX and Fortran's library set
 * handlers that print a backtrace: those come after ours. A handler that the program sets later replaces ours. If that one passes a
 * crash on to ours, ours passes it on to the one before; if it passes on another signal, nothing happens: the program decides
 * what follows. vGASNet ends the whole job at the other signals, so they are left to it. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/host/host.h"
#include "mpi/report/report_partial.h"

static const struct ending {
    int number;
    const char *what;
    bool is_crash;
} endings[] = {
    {SIGTERM, "SIGTERM (terminated)", false},         {SIGINT, "SIGINT (interrupted)", false},
    {SIGXCPU, "SIGXCPU (CPU time limit)", false},     {SIGSEGV, "SIGSEGV (invalid memory access)", true},
    {SIGBUS, "SIGBUS (invalid memory access)", true}, {SIGFPE, "SIGFPE (arithmetic error)", true},
    {SIGILL, "SIGILL (invalid instruction)", true},   {SIGABRT, "SIGABRT (aborted)", true}};

enum { ENDINGS = sizeof endings / sizeof *endings };

static struct sigaction before[ENDINGS];
static bool is_ours[ENDINGS];
static char own_rank[24]; /* as text: the handler cannot format it */

static int ending_of(int number) {
    int i = 0;
    while (i < ENDINGS - 1 && endings[i].number != number)
        i++;
    return i;
}

static void write_last(const struct ending *e) {
    char why[128] = "rank ";
    strcat(why, own_rank);
    strcat(why, " got ");
    strcat(why, e->what);
    report_partial_signal(why);
}

static bool has_handler(const struct sigaction *a) {
    return a->sa_flags & SA_SIGINFO || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static void signal_handle(int number, siginfo_t *info, void *context) {
    int i = ending_of(number), error = errno;
    struct sigaction now;
    bool is_called =
        sigaction(number, NULL, &now) || now.sa_sigaction != signal_handle; /* by the program's handler */
    if (is_called && !endings[i].is_crash)
        return;
    write_last(&endings[i]);
    if (is_called && has_handler(&before[i])) {
        if (before[i].sa_flags & SA_SIGINFO)
            before[i].sa_sigaction(number, info, context);
        else
            before[i].sa_handler(number);
        return;
    }
    sigaction(number, &before[i], NULL);
    bool repeats = endings[i].is_crash && info && info->si_code > 0; /* the instruction fails again */
    if (!repeats)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number); /* when this handler returns */
    errno = error;
}

/* Handlers that end the process anyway, after a backtrace. */
static bool is_backtrace(const struct sigaction *a) {
    static const char *const names[] = {"libopen-pal", "libopen-rte", "libmpi", "libucs", "libgfortran"};
    Dl_info info;
    void *handler = a->sa_flags & SA_SIGINFO ? (void *)a->sa_sigaction : (void *)a->sa_handler;
    if (!dladdr(handler, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/'), *base = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

static void signal_take(int i) {
    struct sigaction action = {.sa_sigaction = signal_handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    if (sigaction(endings[i].number, NULL, &before[i]))
        return;
    bool is_free = has_handler(&before[i]) ? endings[i].is_crash && is_backtrace(&before[i])
                                           : before[i].sa_handler == SIG_DFL;
    if (!is_free || (!endings[i].is_crash && dlsym(RTLD_DEFAULT, "gasnet_init")))
        return;
    is_ours[i] = !sigaction(endings[i].number, &action, NULL);
}

void report_signal_open(void) {
    int rank = -1;
    host_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(own_rank, sizeof own_rank, "%d", rank);
    for (int i = 0; i < ENDINGS; i++)
        signal_take(i);
}

void report_signal_close(void) {
    struct sigaction now;
    for (int i = 0; i < ENDINGS; i++)
        if (is_ours[i] && !sigaction(endings[i].number, NULL, &now) && now.sa_sigaction == signal_handle)
            sigaction(endings[i].number, &before[i], NULL);
}
