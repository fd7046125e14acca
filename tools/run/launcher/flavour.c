/* flavour.c: walks the libraries that a file needs, breadth first like the loader. The first MPI library counts. A second one, with
 * another interface, is reported: the program cannot work, as each part of it takes the functions of the first.
 *
 * Mostly the name identifies it: libmpich is MPICH's, and libmpi_cray and similar are MPICH under a vendor's name. Plain
 * libmpi.so.N is Open MPI's from N = 20 on. MPICH and all MPIs with its ABI have N = 12, and so had Open MPI 1.10: such
 * a library is Open MPI's if it needs libopen-pal. libmpi_abi.so.N is the standard ABI's, of any MPI: it is Open MPI's if it needs
 * libopen_mpi or libopen-pal, else it is taken for MPICH's. */
#include "run/launcher/flavour.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/elf.h"
#include "run/loader.h"
#include "tools.h"

enum { MOST_LIBRARIES = 2048, FIRST_OPENMPI = 20 };

static const char *const names[FLAVOURS] = {"none", "mpich", "openmpi", "abi"};

const char *flavour_name(enum flavour flavour) {
    return names[flavour];
}

enum flavour flavour_named(const char *name) {
    for (int i = FLAVOUR_MPICH; i < FLAVOURS; i++)
        if (!strcmp(name, names[i]))
            return (enum flavour)i;
    return FLAVOUR_NONE;
}

static bool needs_open_pal(const char *path) {
    struct elf e;
    bool found = false;
    if (!*path || elf_read(path, &e))
        return false;
    for (size_t i = 0; i < e.needed_count && !found; i++)
        found = !strncmp(e.needed[i], "libopen-", 8) || !strncmp(e.needed[i], "libopen_mpi", 11);
    elf_free(&e);
    return found;
}

bool flavour_is_cray(const char *base) {
    static const char *const compilers[] = {"cray", "gnu", "intel", "amd", "nvidia", "aocc"};
    size_t skip = !strncmp(base, "libmpi_", 7) ? 7 : !strncmp(base, "libmpich_", 9) ? 9 : 0;
    for (size_t i = 0; skip && i < sizeof compilers / sizeof *compilers; i++)
        if (!strncmp(base + skip, compilers[i], strlen(compilers[i])))
            return strstr(base + skip, ".so");
    return false;
}

/* Of a library that a file needs: FLAVOUR_NONE for all except the MPI library proper. */
static enum flavour judge_name(const char *name, const char *path) {
    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    if (!strncmp(base, "libmpich.so", 11) || !fnmatch("libmpich_*.so*", base, 0) || flavour_is_cray(base))
        return FLAVOUR_MPICH;
    if (!strncmp(base, "libmpi_abi", 10))
        return FLAVOUR_ABI;
    if (!fnmatch("libmpi_ibm.so*", base, 0))
        return FLAVOUR_OPENMPI;
    if (strncmp(base, "libmpi.so", 9) != 0)
        return FLAVOUR_NONE;
    int number = base[9] == '.' ? atoi(base + 10) : 0;
    return number >= FIRST_OPENMPI || needs_open_pal(path) ? FLAVOUR_OPENMPI : FLAVOUR_MPICH;
}

struct walk {
    struct loader_file *files[MOST_LIBRARIES];
    size_t count;
    struct mpi_library found;
};

static bool was_visited(const struct walk *w, const char *path) {
    for (size_t i = 0; i < w->count; i++)
        if (!strcmp(w->files[i]->path, path))
            return true;
    return false;
}

static void visit_needed(struct walk *w, const struct loader_file *from, const char *name) {
    char path[PATH_MAX];
    if (!loader_find(from, name, path))
        *path = 0;
    enum flavour flavour = judge_name(name, path);
    if (flavour && w->found.flavour) {
        if ((flavour == FLAVOUR_ABI) != (w->found.flavour == FLAVOUR_ABI))
            snprintf(w->found.other, sizeof w->found.other, "%s", name);
    } else if (flavour) {
        w->found.flavour = flavour;
        snprintf(w->found.name, sizeof w->found.name, "%s", name);
        snprintf(w->found.path, sizeof w->found.path, "%s", path);
    } else if (*path && w->count < MOST_LIBRARIES && !was_visited(w, path)) {
        struct loader_file *file = loader_open(path, from);
        if (file)
            w->files[w->count++] = file;
    }
}

enum flavour flavour_owner(const struct mpi_library *library) {
    if (library->flavour != FLAVOUR_ABI)
        return library->flavour;
    return !*library->path ? FLAVOUR_NONE : needs_open_pal(library->path) ? FLAVOUR_OPENMPI : FLAVOUR_MPICH;
}

struct mpi_library flavour_of_file(const char *path) {
    struct walk *w = need(sizeof *w);
    w->files[0] = loader_open(path, NULL);
    w->count = w->files[0] != NULL;
    for (size_t i = 0; i < w->count && !*w->found.other; i++)
        for (size_t j = 0; j < w->files[i]->elf.needed_count && !*w->found.other; j++)
            visit_needed(w, w->files[i], w->files[i]->elf.needed[j]);
    for (size_t i = 0; i < w->count; i++)
        loader_close(w->files[i]);
    struct mpi_library found = w->found;
    free(w);
    return found;
}
