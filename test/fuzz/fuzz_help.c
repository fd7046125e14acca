/* fuzz_help.c: functions of fuzz.h. The linker redirects calls of log_print here (--wrap). */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

static unsigned errors;

void __wrap_hearth_core_log_print(enum log_level level, const char *format, ...);
void __wrap_hearth_core_log_print(enum log_level level, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    errors += level == LOG_ERROR;
}

unsigned fuzz_errors(void) {
    return errors;
}

_Noreturn void fuzz_fail(const char *file, int line, const char *condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

void fuzz_take(struct fuzz_input *in, void *to, size_t bytes) {
    size_t n = bytes < in->left ? bytes : in->left;
    memset(to, 0, bytes);
    if (n)
        memcpy(to, in->at, n);
    in->at += n;
    in->left -= n;
}

uint8_t fuzz_take_byte(struct fuzz_input *in) {
    uint8_t byte;
    fuzz_take(in, &byte, 1);
    return byte;
}

const char *fuzz_file(const void *data, size_t bytes) {
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    fuzz_must(file >= 0 && !ftruncate(file, 0));
    fuzz_must(bytes == 0 || pwrite(file, data, bytes, 0) == (ssize_t)bytes);
    return path;
}
