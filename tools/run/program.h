/* program.h: a program in a command line, and the MPI that it loads. */
#ifndef HEARTH_TOOLS_PROGRAM_H
#define HEARTH_TOOLS_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "run/launcher/flavour.h"
#include "run/launcher/launcher.h"

struct program {
    const char *word;       /* as the user wrote it */
    struct mpi_library mpi; /* FLAVOUR_NONE: unknown; it may load one at run time */
    /* The file that needs it: the program, one that it starts, or mpi4py's module. */
    char carrier[PATH_MAX];
    bool lacks_mpi; /* a compiled program that is not linked to MPI, and starts no other */
    /* The file, if only the launcher's own search finds it; else empty. */
    char located[PATH_MAX];
};

/* Returns 0, or BAD_INPUT after logging an error: the program does not exist, or cannot be preloaded. If the user
 * `insists` on an MPI, a program that does not exist here may exist on the nodes. */
int program_judge(char *const *words, const struct launcher_part *part, bool insists, struct program *p);

#endif
