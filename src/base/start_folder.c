/* start_folder.c: see start_folder.h. The folder is noted before main(). */
#include "base/start_folder.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static char folder[PATH_MAX];

__attribute__((constructor)) static void start_folder_note(void) {
    if (!getcwd(folder, sizeof folder))
        folder[0] = 0;
}

void start_folder_path(const char *name, char *path, size_t room) {
    if (*name == '/' || !folder[0])
        snprintf(path, room, "%s", name);
    else
        snprintf(path, room, "%s/%s", folder, name);
}
