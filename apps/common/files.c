/* files.c: result files, written by rank 0. They are opened before the work, so that an unwritable name is
 * detected early, and checked when they are closed, because a full disk may be reported only then. */
#include <errno.h>
#include <string.h>

#include "common/common.h"

int app_file_open(const char *name, int rank, FILE **file) {
    *file = NULL;
    if (!name || rank || (*file = fopen(name, "w")))
        return APP_OK;
    app_complain("cannot write '%s': %s", name, strerror(errno));
    return APP_BAD_INPUT;
}

int app_file_close(const char *name, FILE *file) {
    if (!file)
        return APP_OK;
    int failed = ferror(file), error = errno;
    if (fclose(file)) {
        failed = 1;
        error = errno;
    }
    if (!failed)
        return APP_OK;
    app_complain("cannot write '%s': %s", name, strerror(error));
    return APP_FAILED;
}

int app_flush_stdout(int code) {
    if (!fflush(stdout) || code)
        return code;
    app_complain("cannot write the results: %s", strerror(errno));
    return APP_FAILED;
}
