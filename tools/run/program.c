/* program.c: examines a program without running it.
 *
 * A program that needs an MPI library identifies its MPI. One that does not may be an interpreter, a wrapper
 * (numactl, valgrind, a script) or load MPI at run time. Then the words after it are examined too, for the first
 * that identifies one. If none does, the caller assumes the launcher's MPI.
 *
 * If LD_PRELOAD would have no effect, the program is refused: static programs have no loader, programs that contain
 * MPI find their own definition first, and in a set-user-ID program the loader ignores LD_PRELOAD. */
#include "run/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "run/elf.h"
#include "run/python.h"
#include "run/script.h"
#include "tools.h"

enum { MOST_WORDS = 32 }; /* words examined after a program */

/* Reads the words after #!; 0: it is not such a script. */
static int read_interpreter(const char *path, char line[256], char *words[2]) {
    int file = open(path, O_RDONLY | O_CLOEXEC), count = 0;
    ssize_t n = file < 0 ? 0 : read(file, line, 255);
    if (file >= 0)
        close(file);
    line[n > 0 ? n : 0] = 0;
    if (strncmp(line, "#!", 2) != 0)
        return 0;
    line[strcspn(line, "\n")] = 0;
    for (char *rest = line + 2, *word; count < 2 && (word = strtok_r(rest, " \t", &rest));)
        words[count++] = word;
    return count;
}

/* The Python that runs this file: itself, or the interpreter of the script. */
static bool find_python(const char *path, char interpreter[PATH_MAX]) {
    char line[256], *words[2];
    bool by_shell;
    if (python_is_interpreter(path))
        return snprintf(interpreter, PATH_MAX, "%s", path) < PATH_MAX;
    int count = read_interpreter(path, line, words);
    if (!count)
        return false;
    const char *base = strrchr(words[0], '/');
    const char *name = count > 1 && base && !strcmp(base, "/env") ? words[1] : words[0];
    return python_is_interpreter(name) && launcher_resolve(name, NULL, NULL, interpreter, &by_shell);
}

/* Whether this file identifies an MPI. */
static bool tells(const char *path, struct program *p) {
    char interpreter[PATH_MAX];
    p->mpi = flavour_of_file(path);
    if (p->mpi.flavour) {
        snprintf(p->carrier, sizeof p->carrier, "%s", path);
        return true;
    }
    return find_python(path, interpreter) && python_mpi(interpreter, p->carrier, &p->mpi);
}

static int refuse_static(const char *word) {
    return refuse("%s is statically linked: nothing can be preloaded into it; link it dynamically, or with "
                  "libhearth-mpi.so before the MPI library",
                  word);
}

static bool has_no_loader(enum elf_kind kind) {
    return kind == ELF_STATIC || kind == ELF_LIBRARY;
}

/* Refuses a program that cannot be preloaded. `is_first`: the program itself, not one that it starts. */
static int program_check_file(const char *word, const char *path, bool is_first, enum elf_kind *found) {
    struct elf e;
    struct stat st;
    int err = elf_read(path, &e);
    if (err)
        return is_first ? refuse("cannot read %s: %s; make it readable, so that its MPI can be found", path,
                                 strerror(-err))
                        : 0;
    enum elf_kind kind = e.kind;
    elf_free(&e);
    if (kind == ELF_FOREIGN && is_first)
        return refuse("%s was built for another architecture: build it for this one", word);
    if (kind == ELF_DAMAGED && is_first)
        return refuse("%s is a damaged ELF file: build it again", word);
    bool holds_mpi = kind > ELF_DAMAGED && elf_defines(path, "MPI_Init");
    *found = kind;
    if (holds_mpi && has_no_loader(kind))
        return refuse_static(word);
    if (holds_mpi)
        return refuse("%s has MPI linked into it statically: a preload has no effect; link it to the shared "
                      "MPI library",
                      word);
    if (kind > ELF_DAMAGED && !stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
        return refuse("%s runs as another user or group (%04o): the loader then ignores LD_PRELOAD; run a "
                      "copy without the set-ID bit",
                      word, (unsigned)st.st_mode & 07777);
    return 0;
}

static int refuse_missing(const char *word, const struct launcher_part *part) {
    const char *where = part->folder ? part->folder : ".";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s", *word == '/' ? "" : where, *word == '/' ? "" : "/", word);
    if (strchr(word, '/') && !access(path, F_OK))
        return refuse("%s is not an executable file: chmod +x it, or name the interpreter that runs it",
                      word);
    if (strchr(word, '/'))
        return refuse("there is no program %s%s%s: check its path", word, part->folder ? " in " : "",
                      part->folder ? part->folder : "");
    if (launcher_is_name(word))
        return refuse("there is no launcher %s on the PATH: load the module of your MPI, or install it",
                      word);
    return refuse("there is no program %s on the PATH: write ./%s if it is in this folder", word, word);
}

/* Examines the words after a program that identifies no MPI. */
static int look_behind(char *const *words, const struct launcher_part *part, struct program *p) {
    char path[PATH_MAX];
    bool by_shell;
    enum elf_kind kind;
    for (size_t i = part->program + 1; i < part->end && i <= part->program + MOST_WORDS; i++) {
        if (*words[i] == '-' || !launcher_resolve(words[i], part->folder, part->path, path, &by_shell) ||
            !by_shell)
            continue;
        int err = program_check_file(words[i], path, false, &kind);
        if (err || tells(path, p))
            return err;
    }
    return 0;
}

/* Whether it runs another program, or interprets one, which may use MPI. */
static bool starts_others(const char *word) {
    static const char *const names[] = {
        "env",  "nice",  "time",   "timeout", "taskset", "numactl", "stdbuf", "setarch", "valgrind",
        "gdb",  "perf",  "strace", "ltrace",  "perl",    "ruby",    "lua",    "tclsh",   "node",
        "java", "julia", "octave", "R",       "Rscript", "matlab",  "guile",  "sbcl"};
    const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(base, names[i]))
            return true;
    return script_is_shell(word) || python_is_interpreter(word);
}

int program_judge(char *const *words, const struct launcher_part *part, bool insists, struct program *p) {
    char path[PATH_MAX];
    bool by_shell;
    enum elf_kind kind = ELF_NOT;
    *p = (struct program){.word = words[part->program]};
    if (!launcher_resolve(p->word, part->folder, part->path, path, &by_shell)) {
        if (!insists)
            return refuse_missing(p->word, part);
        log_warn("there is no program %s here; assuming that it exists on the nodes", p->word);
        return 0;
    }
    if (!by_shell && !realpath(path, p->located))
        p->located[0] = 0;
    int err = program_check_file(p->word, path, true, &kind);
    if (err || tells(path, p))
        return err;
    err = look_behind(words, part, p);
    p->lacks_mpi = !err && kind == ELF_DYNAMIC && !p->mpi.flavour && !starts_others(p->word);
    return !err && has_no_loader(kind) && !p->mpi.flavour ? refuse_static(p->word) : err;
}
