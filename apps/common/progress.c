/* progress.c: how far rank 0 is, which is about how far all are, for ranks share no counter.
 *
 * On a terminal one line is rewritten every second. Under mpirun stderr is a pipe even if somebody watches; that
 * somebody does can be told from /dev/tty, which opens only in a session that has a terminal. Then a new line
 * appears every few seconds. In a batch job nothing does, unless it is asked for. The clock is cheap, and
 * printing happens rarely enough not to show in the time. */
#include "common/inside.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/base.h"

static struct {
    int style;
    uint64_t began, last, interval; /* ns */
    bool dirty;                     /* the terminal's line has been written on */
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
