/* python.c: searches the folders of sys.path for mpi4py. */
#include "run/python.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

bool python_is_interpreter(const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return !strncmp(base, "python", 6) || !strncmp(base, "pypy", 4);
}

/* The first module in folders of this form that is linked to an MPI. */
static bool try_form(const char *folder, const char *rest, char module[PATH_MAX], struct mpi_library *mpi) {
    glob_t found;
    char *pattern = need_text("%s%s/mpi4py/MPI*.so", folder, rest);
    bool good = false;
    if (!glob(pattern, 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc && !good; i++) {
            *mpi = flavour_of_file(found.gl_pathv[i]);
            good = mpi->flavour && snprintf(module, PATH_MAX, "%s", found.gl_pathv[i]) < PATH_MAX;
        }
        globfree(&found);
    }
    free(pattern);
    return good;
}

static bool try_list(const char *list, char module[PATH_MAX], struct mpi_library *mpi) {
    while (list && *list) {
        size_t length = strcspn(list, ":");
        char *folder = need_text("%.*s", (int)length, list);
        bool good = *folder && try_form(folder, "", module, mpi);
        free(folder);
        if (good)
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* PREFIX/bin/python3 has its modules in PREFIX/lib. */
static bool try_prefix(const char *interpreter, char module[PATH_MAX], struct mpi_library *mpi) {
    static const char *const forms[] = {"/lib/python3.*/site-packages", "/lib64/python3.*/site-packages",
                                        "/local/lib/python3.*/dist-packages", "/lib/python3*/dist-packages"};
    char *prefix = need_copy(interpreter);
    bool good = false;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');
        if (slash)
            *slash = 0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !good; i++)
        good = try_form(prefix, forms[i], module, mpi);
    free(prefix);
    return good;
}

bool python_mpi(const char *interpreter, char module[PATH_MAX], struct mpi_library *mpi) {
    char real[PATH_MAX];
    const char *home = getenv("HOME");
    if (try_list(getenv("PYTHONPATH"), module, mpi) ||
        (home && try_form(home, "/.local/lib/python3.*/site-packages", module, mpi)) ||
        try_prefix(interpreter, module, mpi))
        return true;
    /* The interpreter of a virtual environment is a link. */
    return realpath(interpreter, real) && try_prefix(real, module, mpi);
}
