/* log.c: formats a line on the stack and writes it with one write(2): no lock, no allocation, usable when memory has
 * run out. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static _Atomic int own_rank = -1;
static _Atomic int threshold = LOG_WARN;

void log_identify(int rank) {
    atomic_store_explicit(&own_rank, rank, memory_order_relaxed);
}

bool log_is_first_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    int rank = atomic_load_explicit(&own_rank, memory_order_relaxed);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && rank < 0; i++) {
        const char *text = getenv(names[i]);
        if (text)
            return strcmp(text, "0") == 0;
    }
    return rank <= 0;
}

void log_set_level(enum log_level level) {
    atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

static int log_print_head(char *line, size_t room, enum log_level level) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    int rank = atomic_load_explicit(&own_rank, memory_order_relaxed);
    if (rank < 0)
        return snprintf(line, room, "hearth: %s: ", names[level]);
    return snprintf(line, room, "hearth[%d]: %s: ", rank, names[level]);
}

void log_print(enum log_level level, const char *format, ...) {
    char line[1024];
    if ((int)level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return;
    int head = log_print_head(line, sizeof line, level);
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    size_t length = (size_t)head + (body > 0 ? (size_t)body : 0);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* there is no other place to report it */
}

/* FIONREAD reports the unread bytes at both ends of a pipe; a file or a terminal takes everything immediately. */
void log_settle(void) {
    enum { MOST_MS = 1000 };
    int unread = 0;
    for (int ms = 0; ms < MOST_MS && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
