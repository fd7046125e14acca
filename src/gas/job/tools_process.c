/* tools_process.c: gasnet_tools.h: process exit, backtraces, signals and limits. */
#include "gas/process/process.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hearth/gasnet/gasnet_tools.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else /* a C library without it, such as musl */
static int backtrace(void **frames, int most) {
    return 0;
}
static void backtrace_symbols_fd(void *const *frames, int count, int fd) {
}
#endif

/* ---- exit ---- */

void gasnett_fatalerror(const char *format, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "*** FATAL ERROR: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(stderr);
    gasnett_print_backtrace_ifenabled(STDERR_FILENO);
    gasnett_freezeForDebuggerErr();
    abort();
}

void gasnett_killmyprocess(int exitcode) {
    _exit(exitcode);
}

/* ---- source locations and backtraces ---- */

char *gasnett_build_loc_str(const char *function, const char *file, int line) {
    size_t room = strlen(function) + strlen(file) + 40;
    char *text = malloc(room);
    if (!text)
        gasnett_fatalerror("gasnett_build_loc_str: no memory for %zu bytes", room);
    snprintf(text, room, "%s%sat %s:%d", function, *function ? " " : "", file, line);
    return text;
}

gasnett_backtrace_type_t gasnett_backtrace_user;

void gasnett_backtrace_init(const char *exename) {
    (void)exename; /* addresses are resolved through the loader */
}

int gasnett_print_backtrace(int fd) {
    enum { DEEPEST = 64 };
    void *frames[DEEPEST];
    if (gasnett_backtrace_user.fnp && gasnett_backtrace_user.fnp(fd) == 0)
        return 0;
    int count = backtrace(frames, DEEPEST);
    if (count <= 0)
        return 1;
    backtrace_symbols_fd(frames, count, fd);
    return 0;
}

int gasnett_print_backtrace_ifenabled(int fd) {
    return gasnett_getenv_yesno_withdefault("GASNET_BACKTRACE", 0) ? gasnett_print_backtrace(fd) : 1;
}

/* ---- for debuggers ---- */

volatile int gasnet_frozen;

void gasnett_freezeForDebuggerNow(volatile int *flag, const char *name) {
    *flag = 1;
    fprintf(stderr, "*** process %ld on %s waits for a debugger: set %s to 0 to continue\n", (long)getpid(),
            gasnett_gethostname(), name);
    fflush(stderr);
    while (*flag)
        usleep(100000);
}

void gasnett_freezeForDebuggerErr(void) {
    if (gasnett_getenv_yesno_withdefault("GASNET_FREEZE_ON_ERROR", 0))
        gasnett_freezeForDebuggerNow(&gasnet_frozen, "gasnet_frozen");
}

/* ---- signals ---- */

gasnett_sighandlerfn_t gasnett_reghandler(int number, gasnett_sighandlerfn_t handler) {
    gasnett_sighandlerfn_t before = signal(number, handler);
    if (before == SIG_ERR)
        gasnett_fatalerror("gasnett_reghandler: signal %d cannot be caught", number);
    return before;
}

const char *gasnett_signame_fromval(int number) {
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGABRT, "SIGABRT"}, {SIGILL, "SIGILL"},   {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
                   {SIGFPE, "SIGFPE"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGKILL, "SIGKILL"},
                   {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},   {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
                   {SIGCHLD, "SIGCHLD"}, {SIGCONT, "SIGCONT"}, {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
                   {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "(unknown signal)";
}

/* ---- limits ---- */

int gasnett_maximize_rlimit(int resource, const char *description) {
    struct rlimit limit;
    (void)description;
    if (getrlimit(resource, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

int gasnett_maximize_rlimits(void) {
    static const int resources[] = {RLIMIT_CPU, RLIMIT_DATA, RLIMIT_RSS, RLIMIT_STACK, RLIMIT_AS};
    int done = 1;
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++)
        done &= gasnett_maximize_rlimit(resources[i], NULL);
    return done;
}
