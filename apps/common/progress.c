/* progress.c: prints the progress of rank 0, which approximates that of all ranks, because ranks share no
 * counter.
 *
 * On a terminal one line is rewritten every second. Under mpirun stderr is a pipe even if a user is watching.
 * /dev/tty opens only in a session that has a terminal; if it opens, a new line appears every few seconds. In a
 * batch job nothing is printed, unless requested. Reading the clock is cheap, and printing is too rare to
 * affect the measured time. */
#include "common/inside.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"

static struct {
    int style;
    uint64_t began, last, interval; /* ns */
    bool dirty;                     /* the current line of the terminal is not empty */
} progress = {.style = APP_PROGRESS_NONE};

static bool is_watched(void) {
    int terminal = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

static int choose_style(const struct app_manner *manner) {
    if (manner->quiet)
        return APP_PROGRESS_NONE;
    if (manner->progress != APP_PROGRESS_AUTO)
        return manner->progress;
    if (isatty(STDERR_FILENO))
        return APP_PROGRESS_LINE;
    return is_watched() ? APP_PROGRESS_LINES : APP_PROGRESS_NONE;
}

void app_progress_begin(const struct app_manner *manner) {
    progress.style = choose_style(manner);
    progress.interval = progress.style == APP_PROGRESS_LINE ? 1000000000u : 5000000000u;
    progress.began = progress.last = clock_ns();
    progress.dirty = false;
}

bool app_progress_due(void) {
    return progress.style != APP_PROGRESS_NONE && clock_ns() - progress.last >= progress.interval;
}

void app_progress(const char *format, ...) {
    char text[256];
    if (!app_progress_due())
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    progress.last = clock_ns();
    progress.dirty = progress.style == APP_PROGRESS_LINE;
    fprintf(stderr, "%s%s: %s, %.0f s%s", progress.dirty ? "\r" : "", app_own_name(), text,
            (double)(progress.last - progress.began) * 1e-9, progress.dirty ? "   " : "\n");
    fflush(stderr);
}

void app_progress_end(void) {
    if (progress.dirty)
        fputc('\n', stderr);
    progress.dirty = false;
    progress.style = APP_PROGRESS_NONE;
}
