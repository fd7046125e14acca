/* program.h: what a program in a command line is, and which MPI it brings. */
#ifndef HEARTH_TOOLS_PROGRAM_H
#define HEARTH_TOOLS_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "flavour.h"
#include "launcher.h"

struct program {
    const char *word;       /* as the user wrote it */
    struct mpi_library mpi; /* FLAVOUR_NONE: nothing tells; it may load one late */
    char carrier[PATH_MAX]; /* the file that brings it: the program, one that it starts, or mpi4py's module */
    char located[PATH_MAX]; /* if only the launcher's own search finds it: the file; else empty */
};

/* 0, or BAD_INPUT after a line: it is not there, or cannot be preloaded. If the user `insists` on an MPI,
 * one that is not here may still be on the nodes. */
int program_judge(char *const *words, const struct launcher_part *part, bool insists, struct program *p);

#endif
