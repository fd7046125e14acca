/* complain.c: prints one line on stderr in one write, so that the lines of several ranks do not mix. */
#include "common/inside.h"

#include <stdarg.h>
#include <unistd.h>

static const char *own_name = "app";

void app_set_name(const char *name) {
    own_name = name;
}

const char *app_own_name(void) {
    return own_name;
}

void app_complain(const char *format, ...) {
    char line[1024];
    int head = snprintf(line, sizeof line, "%s: ", own_name);
    va_list args;
    va_start(args, format);
    int n = head + vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    va_end(args);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* nowhere else to report it */
}
