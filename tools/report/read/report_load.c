/* report_load.c: see report_load.h. */
#include "report/read/report_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/parts_read.h"
#include "report/report.h"
#include "tools.h"

static int refuse_file(const char *path) {
    return refuse("cannot read %s: %s: name the JSON report of a run, made with HEARTH_REPORT=FILE.json",
                  path, strerror(errno));
}

/* The size from stat is only a hint: the file may be a pipe. */
static int load_file(const char *path, char **text, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0)
        return refuse_file(path);
    size_t room = !fstat(fd, &about) && about.st_size > 0 ? (size_t)about.st_size + 2 : 65536;
    ssize_t n;
    *text = need(room);
    *length = 0;
    while ((n = read(fd, *text + *length, room - *length - 1)) > 0) {
        *length += (size_t)n;
        if (*length + 1 == room) {
            *text = list_grown(*text, *length, *length, 1);
            room = 2 * *length;
        }
    }
    int err = n < 0 ? refuse_file(path) : 0;
    close(fd);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

int report_load(const char *path, char **text, size_t *length) {
    *text = parts_read(path, length);
    return *text ? 0 : load_file(path, text, length);
}
