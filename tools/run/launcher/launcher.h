/* launcher.h: mpirun, mpiexec, srun and others: which MPI they belong to, and the programs in their command lines. */
#ifndef HEARTH_TOOLS_LAUNCHER_H
#define HEARTH_TOOLS_LAUNCHER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "run/launcher/flavour.h"

enum launcher_kind {
    LAUNCHER_NONE,
    LAUNCHER_OPENMPI, /* and PRRTE: prun, prterun */
    LAUNCHER_HYDRA,
    LAUNCHER_SRUN,
    LAUNCHER_APRUN, /* Cray ALPS */
    LAUNCHER_JSRUN, /* IBM JSM */
    LAUNCHER_FLUX,  /* flux run, flux submit */
    LAUNCHER_SITE,  /* scripts of computing centres that start one of the others: ibrun, ccc_mprun */
    LAUNCHER_OTHER, /* an mpirun or mpiexec of unknown make */
    LAUNCHER_KINDS
};

struct launcher {
    enum launcher_kind kind;
    enum flavour flavour; /* NONE: it starts programs of any MPI, or is unknown */
};

/* Whether it has the name of a launcher, whether or not it exists. */
bool launcher_is_name(const char *word);

/* LAUNCHER_NONE: not a known launcher. Follows links, such as those of Debian's alternatives. */
struct launcher launcher_identify(const char *word);

/* The index of the last word of the launcher that begins at `at`: "flux run" has two. If the second word is no subcommand that
 * starts a job, the kind becomes LAUNCHER_NONE. */
size_t launcher_skip(struct launcher *launcher, char *const *words, size_t at, size_t count);

/* Whether the first word is probably a launcher that is not known: a number of ranks and an MPI program follow it, and it uses no
 * MPI itself. */
bool launcher_is_suspected(char *const *words, size_t count);

/* The launcher of an MPI on the PATH. */
bool launcher_find(enum flavour flavour, char path[PATH_MAX]);

/* A program in a command line: mpirun -n 1 ./a x : -n 2 ./b has two. */
struct launcher_part {
    size_t program, end; /* index of the program, and of the colon or end after its arguments */
    const char *folder;  /* working folder of the ranks; NULL: the current one */
    const char *path;    /* additional folders to search for it; NULL: none */
};

struct launcher_line {
    struct launcher_part *parts;
    size_t count;
    char *preload;            /* LD_PRELOAD that the launcher's options set; NULL: none */
    const char *program_file; /* the programs are listed in this file; there are no parts */
    size_t export_word;       /* srun: index of the word with the value of --export; 0: none */
    bool is_copied;           /* srun: the program is copied to the nodes */
};

/* Parses a command line whose word number `first` is the launcher, or, for an implied one, the word before its
 * options. */
struct launcher_line launcher_read(enum launcher_kind kind, char *const *words, size_t first, size_t count);
void launcher_free(struct launcher_line *line);

/* The file that the launcher would start for this word. A word with a slash is relative to `folder`. Other words are
 * searched for in the list `path`, on the PATH, and in `folder`. Both may be NULL. `by_shell` is false if a shell might
 * not find the same file: if `path` was given, or the file is not on the PATH. */
bool launcher_resolve(const char *word, const char *folder, const char *path, char out[PATH_MAX],
                      bool *by_shell);

#endif
