/* program.c: judges a program without running it.
 *
 * A program that needs an MPI library says so itself. One that does not may be an interpreter, a wrapper
 * (numactl, valgrind, a script) or load MPI late: then the words behind it are looked at too, for the first
 * that tells. If none does, the launcher's MPI is the best guess, which the caller makes.
 *
 * Where LD_PRELOAD has no effect it is better to say so: static programs have no loader, programs with MPI
 * inside find their own definition first, and the loader of a set-user-ID program does not listen. */
#include "program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "elf.h"
#include "python.h"
#include "tools.h"

enum { MOST_WORDS = 32 }; /* that are looked at behind a program */

/* The words behind #!; 0: it is no such script. */
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

/* Whether this file tells of an MPI. */
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

/* What makes it impossible, of the program itself or of one it is to start. */
static int check_file(const char *word, const char *path, bool is_first, bool *is_static) {
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
        return refuse("%s was built for another kind of machine: build it for this one", word);
    if (kind == ELF_DAMAGED && is_first)
        return refuse("%s is a damaged ELF file: build it again", word);
    bool holds_mpi = kind > ELF_DAMAGED && elf_defines(path, "MPI_Init");
    *is_static = kind == ELF_STATIC || kind == ELF_LIBRARY;
    if (holds_mpi && *is_static)
        return refuse_static(word);
    if (holds_mpi)
        return refuse("%s has MPI linked into it statically: a preload has no effect; link it to the shared "
                      "MPI library",
                      word);
    if (kind > ELF_DAMAGED && !stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
        return refuse("%s runs as another user or group (%04o): the loader then ignores LD_PRELOAD; run a "
                      "copy without the s",
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

/* The words behind one that tells nothing. */
static int look_behind(char *const *words, const struct launcher_part *part, struct program *p) {
    char path[PATH_MAX];
    bool by_shell, is_static;
    for (size_t i = part->program + 1; i < part->end && i <= part->program + MOST_WORDS; i++) {
        if (*words[i] == '-' || !launcher_resolve(words[i], part->folder, part->path, path, &by_shell) ||
            !by_shell)
            continue;
        int err = check_file(words[i], path, false, &is_static);
        if (err || tells(path, p))
            return err;
    }
    return 0;
}

int program_judge(char *const *words, const struct launcher_part *part, bool insists, struct program *p) {
    char path[PATH_MAX];
    bool by_shell, is_static = false;
    *p = (struct program){.word = words[part->program]};
    if (!launcher_resolve(p->word, part->folder, part->path, path, &by_shell)) {
        if (!insists)
            return refuse_missing(p->word, part);
        log_warn("there is no program %s here; taking it for one that is on the nodes", p->word);
        return 0;
    }
    if (!by_shell && !realpath(path, p->located))
        p->located[0] = 0;
    int err = check_file(p->word, path, true, &is_static);
    if (err || tells(path, p))
        return err;
    err = look_behind(words, part, p);
    return !err && is_static && !p->mpi.flavour ? refuse_static(p->word) : err;
}
