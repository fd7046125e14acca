/* launcher.c: identifies a launcher.
 *
 * Most have a name of their own. Of an mpirun or mpiexec, the name of the file behind all links identifies it: orterun and
 * prterun are Open MPI's, mpiexec.hydra is MPICH's, and Debian adds the flavour: mpirun.openmpi. If the name says nothing (an mpirun that is not a link), its
 * libraries may identify it, or else the files in the same folder. */
#include "run/launcher/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/elf.h"
#include "tools.h"

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- files ---- */

static bool is_program(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool search_list(const char *list, const char *word, char out[PATH_MAX]) {
    for (; list && *list;) {
        size_t n = strcspn(list, ":");
        if (snprintf(out, PATH_MAX, "%.*s%s%s", (int)n, list, n ? "/" : "./", word) < PATH_MAX &&
            is_program(out))
            return true;
        list += n + (list[n] == ':');
    }
    return false;
}

static bool search_folder(const char *folder, const char *word, char out[PATH_MAX]) {
    return snprintf(out, PATH_MAX, "%s/%s", folder, word) < PATH_MAX && is_program(out);
}

bool launcher_resolve(const char *word, const char *folder, const char *path, char out[PATH_MAX],
                      bool *by_shell) {
    *by_shell = true;
    if (*word == '/' || (strchr(word, '/') && !folder))
        return snprintf(out, PATH_MAX, "%s", word) < PATH_MAX && is_program(out);
    if (strchr(word, '/') && folder)
        return search_folder(folder, word, out);
    if (!path && search_list(getenv("PATH"), word, out))
        return true;
    *by_shell = false;
    return (path && search_list(path, word, out)) || search_list(getenv("PATH"), word, out) ||
           search_folder(folder ? folder : ".", word, out);
}

/* ---- flavour ---- */

static bool is_adjacent(const char *path, const char *name) {
    char other[PATH_MAX];
    int n = (int)(base_of(path) - path);
    return snprintf(other, sizeof other, "%.*s%s", n, path, name) < PATH_MAX && !access(other, F_OK);
}

static bool needs(const char *path, const char *prefix) {
    struct elf e;
    bool found = false;
    if (elf_read(path, &e))
        return false;
    for (size_t i = 0; i < e.needed_count && !found; i++)
        found = !strncmp(e.needed[i], prefix, strlen(prefix));
    elf_free(&e);
    return found;
}

/* Launchers that their names identify. Those of no MPI start programs of any. */
static const struct named {
    const char *name;
    struct launcher launcher;
} named[] = {
    {"orterun", {LAUNCHER_OPENMPI, FLAVOUR_OPENMPI}},  {"prterun", {LAUNCHER_OPENMPI, FLAVOUR_OPENMPI}},
    {"prun", {LAUNCHER_OPENMPI, FLAVOUR_NONE}},        {"mpiexec.hydra", {LAUNCHER_HYDRA, FLAVOUR_MPICH}},
    {"mpiexec.slurm", {LAUNCHER_OTHER, FLAVOUR_NONE}}, {"srun", {LAUNCHER_SRUN, FLAVOUR_NONE}},
    {"aprun", {LAUNCHER_APRUN, FLAVOUR_NONE}},         {"jsrun", {LAUNCHER_JSRUN, FLAVOUR_NONE}},
    {"flux", {LAUNCHER_FLUX, FLAVOUR_NONE}},           {"ibrun", {LAUNCHER_SITE, FLAVOUR_NONE}},
    {"ccc_mprun", {LAUNCHER_SITE, FLAVOUR_NONE}},
};

static const struct named *find_named(const char *word) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(base_of(word), named[i].name))
            return &named[i];
    return NULL;
}

static struct launcher launcher_judge_file(const char *path) {
    static const struct launcher openmpi = {LAUNCHER_OPENMPI, FLAVOUR_OPENMPI};
    static const struct launcher mpich = {LAUNCHER_HYDRA, FLAVOUR_MPICH};
    const char *base = base_of(path);
    if (find_named(base)) /* behind a link */
        return find_named(base)->launcher;
    if (strstr(base, "openmpi"))
        return openmpi;
    if (strstr(base, "hydra") || strstr(base, "mpich"))
        return mpich;
    if (needs(path, "libopen-") || needs(path, "libprrte") || is_adjacent(path, "ompi_info"))
        return openmpi;
    if (is_adjacent(path, "hydra_pmi_proxy") || is_adjacent(path, "mpichversion"))
        return mpich;
    return (struct launcher){LAUNCHER_OTHER, FLAVOUR_NONE};
}

bool launcher_is_name(const char *word) {
    const char *base = base_of(word);
    return !strncmp(base, "mpirun", 6) || !strncmp(base, "mpiexec", 7) || find_named(base);
}

struct launcher launcher_identify(const char *word) {
    char path[PATH_MAX], real[PATH_MAX];
    bool by_shell;
    struct launcher none = {LAUNCHER_NONE, FLAVOUR_NONE};
    if (!launcher_is_name(word) || !launcher_resolve(word, NULL, NULL, path, &by_shell) || !by_shell)
        return none;
    if (find_named(word))
        return find_named(word)->launcher;
    return realpath(path, real) ? launcher_judge_file(real) : none;
}

size_t launcher_skip(struct launcher *launcher, char *const *words, size_t at, size_t count) {
    if (launcher->kind != LAUNCHER_FLUX)
        return at;
    size_t next =
        at + 1 < count && !strcmp(words[at + 1], "mini") ? at + 2 : at + 1; /* flux mini run, until 0.48 */
    if (next < count && (!strcmp(words[next], "run") || !strcmp(words[next], "submit")))
        return next;
    launcher->kind = LAUNCHER_NONE;
    return at;
}

/* ---- unknown launchers ---- */

static bool is_number(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* -n 4, -np 4, -N 4, -n4, --ntasks 4, --ntasks=4 */
static bool counts_ranks(const char *word, const char *next) {
    static const char *const options[] = {"-n", "-np", "-N", "--np", "--ntasks", "--nodes", "-ppn"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t length = strlen(options[i]);
        if (strncmp(word, options[i], length) != 0)
            continue;
        const char *rest = word + length + (word[length] == '=');
        if (*rest ? is_number(rest) : next && is_number(next))
            return true;
    }
    return false;
}

static bool is_mpi_program(const char *word) {
    char path[PATH_MAX];
    bool by_shell;
    return launcher_resolve(word, NULL, NULL, path, &by_shell) && flavour_of_file(path).flavour;
}

bool launcher_is_suspected(char *const *words, size_t count) {
    char path[PATH_MAX];
    bool by_shell, counts = false;
    if (count < 3 || !launcher_resolve(words[0], NULL, NULL, path, &by_shell) || is_mpi_program(words[0]))
        return false;
    for (size_t i = 1; i < count; i++) {
        if (counts && *words[i] != '-' && is_mpi_program(words[i]))
            return true;
        counts |= counts_ranks(words[i], i + 1 < count ? words[i + 1] : NULL);
    }
    return false;
}

/* In one folder, best first: plain names may belong to another MPI. */
static bool find_in_folder(enum flavour flavour, const char *folder, size_t length, char path[PATH_MAX]) {
    static const char *const forms[] = {"mpirun.%s", "mpiexec.%s",    "mpirun",
                                        "mpiexec",   "mpiexec.hydra", "orterun"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char name[64], real[PATH_MAX];
        snprintf(name, sizeof name, forms[i], flavour_name(flavour));
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name) < PATH_MAX &&
            !access(path, X_OK) && realpath(path, real) && launcher_judge_file(real).flavour == flavour)
            return true;
    }
    return false;
}

/* The folder that comes first on the PATH counts: that of a module, before the system's. */
bool launcher_find(enum flavour flavour, char path[PATH_MAX]) {
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (*list == '/' && find_in_folder(flavour, list, n, path))
            return true;
        list += n + (list[n] == ':');
    }
    return false;
}
