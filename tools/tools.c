/* tools.c: error messages for bad input, and allocation that cannot fail. */
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

int refuse(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_error("%s", line);
    return BAD_INPUT;
}

int refuse_option(const struct command *command, int result, char **argv) {
    const char *word = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, 0};
    bool is_letter = optopt > 0 && optopt < 128 && strncmp(word, "--", 2) != 0;
    if (result == ':')
        return refuse("option %s needs a value: see hearth help %s", is_letter ? letter : word,
                      command->name);
    if (optopt && !is_letter)
        return refuse("option %s takes no value: see hearth help %s", word, command->name);
    return refuse("unknown option %s: see hearth help %s", is_letter ? letter : word, command->name);
}

static void *or_end(void *memory) {
    if (memory)
        return memory;
    log_error("no memory left: close other programs, or raise the limit (ulimit -v)");
    exit(1);
}

void *need(size_t bytes) {
    return or_end(calloc(1, bytes ? bytes : 1));
}

char *need_copy(const char *text) {
    return or_end(strdup(text));
}

char *need_text(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return or_end(length < 0 ? NULL : text);
}

const char *remedy_of_write(int reason) {
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
        return "free some space, or name a file elsewhere";
    case ENOENT:
        return "create the folder, or name a file elsewhere";
    case ENOTDIR:
        return "the path before the last / is not a folder: name a file in a folder";
    case EISDIR:
        return "this is a folder: name a file";
    case EFBIG:
        return "the file is larger than the limit (ulimit -f): raise it, or name a file elsewhere";
    case EMFILE:
    case ENFILE:
        return "close other files, or raise the limit (ulimit -n)";
    default:
        return "name a file in a folder that you may write to";
    }
}

bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The name of the process, in parentheses, may contain anything. */
int process_parent(int pid) {
    char path[32], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = 0;
    const char *after = strrchr(text, ')');
    return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? parent : 0;
}
