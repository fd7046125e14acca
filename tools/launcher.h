/* launcher.h: mpirun, mpiexec, srun: whose it is, and where in its command line the programs stand. */
#ifndef HEARTH_TOOLS_LAUNCHER_H
#define HEARTH_TOOLS_LAUNCHER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "flavour.h"

enum launcher_kind { LAUNCHER_NONE, LAUNCHER_OPENMPI, LAUNCHER_HYDRA, LAUNCHER_SRUN, LAUNCHER_OTHER };

struct launcher {
    enum launcher_kind kind;
    enum flavour flavour; /* NONE: it starts programs of any MPI, or does not tell */
};

/* Whether it is called like one, there or not. */
bool launcher_is_name(const char *word);

/* LAUNCHER_NONE: it is none that we know. Links, as of Debian's alternatives, are followed. */
struct launcher launcher_identify(const char *word);

/* That of an MPI, on the PATH. */
bool launcher_find(enum flavour flavour, char path[PATH_MAX]);

/* A program in a command line: mpirun -n 1 ./a x : -n 2 ./b has two. */
struct launcher_part {
    size_t program, end; /* words from the program on, up to the colon or the end */
    const char *folder;  /* the ranks start there; NULL: here */
    const char *path;    /* further folders to look for it; NULL: none */
};

struct launcher_line {
    struct launcher_part *parts;
    size_t count;
    char *preload;            /* LD_PRELOAD that the launcher is told to set; NULL: none */
    const char *program_file; /* the programs stand in this file; there are no parts */
    size_t export_word;       /* of srun: which word says --export=...; 0: none */
    bool is_copied;           /* of srun: the program is copied to the nodes */
};

/* Takes a command line apart whose word number `first` is the launcher, or, for one that is understood, the
 * word before its options. */
struct launcher_line launcher_read(enum launcher_kind kind, char *const *words, size_t first, size_t count);
void launcher_free(struct launcher_line *line);

/* The file that a shell would start for this word, looking first in `folder` and the list `path`, if not
 * NULL. `by_shell` tells whether it would have found it without them. */
bool launcher_resolve(const char *word, const char *folder, const char *path, char out[PATH_MAX],
                      bool *by_shell);

#endif
