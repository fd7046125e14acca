/* find_library.c: finds the files that belong to this command, relative to bin/hearth:
 *
 *      in a build tree   ../lib/libhearth-mpi.so             the MPI of this tree
 *                        ../../MPI/lib/libhearth-mpi.so      the tree beside it
 *      installed         ../lib/hearth/MPI/libhearth-mpi.so  both
 *
 * The name of a tree is not trusted: the libraries that a file needs identify its MPI. */
#include "run/find_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parent folder of this program's folder, with links resolved. */
static bool find_top(char top[PATH_MAX]) {
    ssize_t n = readlink("/proc/self/exe", top, PATH_MAX - 1);
    if (n <= 0)
        return false;
    top[n] = 0;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(top, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    return true;
}

/* The absolute path of a file. Links in its folder are resolved; its name stays, which for a library is a link. */
static bool library_path(const char *candidate, char path[PATH_MAX]) {
    char folder[2 * PATH_MAX];
    const char *name = strrchr(candidate, '/') + 1;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - candidate), candidate);
    if (access(candidate, R_OK) || !realpath(folder, path))
        return false;
    size_t n = strlen(path), room = PATH_MAX - n;
    return (size_t)snprintf(path + n, room, "/%s", name) < room;
}

/* Accepts the file if it exists and was built for this MPI. */
static bool library_accept(const char *candidate, enum flavour flavour, char path[PATH_MAX],
                           struct mpi_library *host) {
    if (!library_path(candidate, path))
        return false;
    *host = flavour_of_file(path);
    return host->flavour == flavour;
}

static bool library_search(const char *const forms[3], enum flavour flavour, char path[PATH_MAX],
                           struct mpi_library *host) {
    char top[PATH_MAX], candidate[2 * PATH_MAX];
    const char *mpi = flavour_name(flavour);
    if (!find_top(top))
        return false;
    for (int i = 0; i < 3; i++) {
        int n = snprintf(candidate, sizeof candidate, "%s/", top);
        snprintf(candidate + n, sizeof candidate - (size_t)n, forms[i], mpi);
        if (library_accept(candidate, flavour, path, host))
            return true;
    }
    return false;
}

bool find_library_preload(enum flavour flavour, char path[PATH_MAX], struct mpi_library *host) {
    static const char *const forms[] = {"lib/hearth/%s/libhearth-mpi.so", "lib/libhearth-mpi.so",
                                        "../%s/lib/libhearth-mpi.so"};
    return library_search(forms, flavour, path, host);
}

bool find_library_probe(enum flavour flavour, char path[PATH_MAX]) {
    static const char *const forms[] = {"lib/hearth/%s/hearth-probe", "lib/hearth-probe",
                                        "../%s/lib/hearth-probe"};
    struct mpi_library host;
    return library_search(forms, flavour, path, &host);
}
