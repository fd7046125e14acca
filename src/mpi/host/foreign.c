/* foreign.c: detects a different MPI than the one that this library was built for.
 *
 * Handles are ints in one MPI and pointers in the other, so Hearth cannot forward calls of a different MPI: arguments
 * would be truncated, and the program would crash in its first calls. If the MPI is there when this library is loaded,
 * the program is started again without it, before any of it has run. An MPI that is loaded later, as Python does, is found
 * in MPI_Init: then the process ends, with an error line and a remedy.
 *
 * An MPI is a loaded library named libmpi, libmpich or, by vendors, libmpi_X that exports MPI_Init. Open MPI has ompi_mpi_comm_world, which
 * no other MPI has. The MPIs of the MPICH family share one binary interface and count as one. A library of the standard ABI is named
 * libmpi_abi, of any MPI, and may need that MPI's own library, which is not foreign then. */
#include "mpi/host/foreign.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/job_end.h"
#include "base/log.h"
#include "mpi/host/standard.h"

enum abi { ABI_MPICH, ABI_OPEN_MPI, ABI_STANDARD };

#if HEARTH_MPI_ABI
static const enum abi built_for = ABI_STANDARD;
#elif defined OPEN_MPI
static const enum abi built_for = ABI_OPEN_MPI;
#else
static const enum abi built_for = ABI_MPICH;
#endif

enum { MOST = 16, PATH = 512 };

struct candidates {
    int count;
    char paths[MOST][PATH];
};

/* The loader must not be called while it walks its list, so this only collects paths. */
static int note_candidate(struct dl_phdr_info *info, size_t bytes, void *arg) {
    struct candidates *found = arg;
    const char *base = strrchr(info->dlpi_name, '/');
    (void)bytes;
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi", 6) != 0 || !strstr(base, ".so"))
        return 0;
    snprintf(found->paths[found->count++], PATH, "%s", info->dlpi_name);
    return found->count == MOST;
}

static bool is_standard(const char *path) {
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "libmpi_abi", 10);
}

/* Whether it defines MPI_Init first in lookup order, of all libraries after Hearth's. */
static bool is_first(void *library) {
    Dl_info first, own;
    void *init = dlsym(RTLD_NEXT, "MPI_Init"), *its = dlsym(library, "MPI_Init");
    return !init || !its || !dladdr(init, &first) || !dladdr(its, &own) || first.dli_fbase == own.dli_fbase;
}

/* Of another MPI beside the library of the standard ABI: whether the program does not use it. It is loaded before the program runs then,
 * because that library needs it, and is not the first. */
static bool is_unused(const char *path, void *library, bool is_early) {
    static struct candidates known;
    if (is_early && !is_first(library) && known.count < MOST)
        snprintf(known.paths[known.count++], PATH, "%s", path);
    for (int i = 0; i < known.count; i++)
        if (!strcmp(known.paths[i], path))
            return true;
    return false;
}

static bool is_foreign(const char *path, bool is_early) {
    void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    bool foreign = false;
    if (!library)
        return false;
    if (dlsym(library, "MPI_Init")) {
        enum abi abi = is_standard(path)                       ? ABI_STANDARD
                       : dlsym(library, "ompi_mpi_comm_world") ? ABI_OPEN_MPI
                                                               : ABI_MPICH;
        foreign = abi != built_for && !(built_for == ABI_STANDARD && is_unused(path, library, is_early));
    }
    dlclose(library);
    return foreign;
}

static void foreign_say(enum log_level level, const char *path, const char *outcome) {
    static const char *const names[] = {"MPICH", "Open MPI", "the standard ABI of MPI 5.0"};
    log_print(level,
              "this libhearth-mpi.so is built for %s, but the program uses %s, which is %s; %s: preload the "
              "library of that "
              "MPI, or start the program with hearth run, which finds the right one",
              names[built_for], path,
              is_standard(path)        ? names[ABI_STANDARD]
              : built_for == ABI_MPICH ? names[ABI_OPEN_MPI]
                                       : "another MPI",
              outcome);
}

/* ---- stepping aside ---- */

/* The list without our library; false if it is not in it. Colons and blanks separate. */
static bool preload_remove(const char *list, char *rest, size_t room) {
    Dl_info own;
    const char *slash = dladdr((void *)foreign_refuse, &own) ? strrchr(own.dli_fname, '/') : NULL;
    const char *name = slash ? slash + 1 : "libhearth-mpi.so";
    size_t used = 0, bytes = strlen(name);
    bool found = false;
    rest[0] = 0;
    while (*(list += strspn(list, ": "))) {
        size_t length = strcspn(list, ": ");
        bool is_ours = length >= bytes && !strncmp(list + length - bytes, name, bytes) &&
                       (length == bytes || list[length - bytes - 1] == '/');
        found |= is_ours;
        if (!is_ours && used + length + 2 < room)
            used += (size_t)snprintf(rest + used, room - used, "%s%.*s", used ? ":" : "", (int)length, list);
        list += length;
    }
    return found;
}

/* The words of the command, as the kernel has them: an interpreter or an explicit loader is among them. The memory stays. */
static char **command_read(void) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t used = 0, room = 1 << 16, count = 0;
    char *text = malloc(room + 1), **words = NULL;
    for (ssize_t n; file >= 0 && text && (n = read(file, text + used, room - used)) > 0;) {
        used += (size_t)n;
        char *more = used == room ? realloc(text, 2 * room + 1) : text;
        room = used == room ? 2 * room : room;
        text = more;
    }
    if (file >= 0)
        close(file);
    if (!text || !used || !(words = malloc((used + 1) * sizeof *words)))
        return NULL;
    text[used] = 0;
    for (size_t at = 0; at < used; at += strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
    return words;
}

/* Starts the program again without our library, before any of it has run. Returns only if that is not possible. */
static void step_aside(const char *path) {
    const char *list = secure_getenv("LD_PRELOAD");
    char rest[4096], **words;
    if (!list || strlen(list) >= sizeof rest || !preload_remove(list, rest, sizeof rest) ||
        !(words = command_read()))
        return;
    if (log_is_first_rank())
        foreign_say(LOG_WARN, path, "it runs without Hearth");
    if (*rest ? setenv("LD_PRELOAD", rest, 1) : unsetenv("LD_PRELOAD"))
        return;
    ssize_t n = readlink("/proc/self/exe", rest, sizeof rest - 1);
    rest[n > 0 ? n : 0] = 0;
    execv(rest, words); /* by its name, which ps shows */
    execv("/proc/self/exe", words);
}

static void foreign_end(bool is_early) {
    struct candidates found = {0};
    dl_iterate_phdr(note_candidate, &found);
    for (int i = 0; i < found.count; i++) {
        if (!is_foreign(found.paths[i], is_early))
            continue;
        if (is_early)
            step_aside(found.paths[i]);
        if (log_is_first_rank())
            foreign_say(LOG_ERROR, found.paths[i], "it ends");
        job_end(EXIT_FAILURE);
    }
}

void foreign_refuse(void) {
    foreign_end(false);
}

__attribute__((constructor)) static void refuse_early(void) {
    foreign_end(true);
}
