/* files.c: files of results, written by rank 0. They are opened before the work, so that a name that cannot be
 * written is found out before it; and looked after when they are closed, for that is when a full disk shows. */
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
