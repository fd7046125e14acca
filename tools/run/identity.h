/* identity.h: the key under which the settings of a program are kept: which program, and on how many ranks. */
#ifndef HEARTH_TOOLS_IDENTITY_H
#define HEARTH_TOOLS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/launcher/launcher.h"
#include "run/program.h"

struct identity {
    char name[48];  /* of the file, in characters that need no quoting */
    char key[17];   /* hexadecimal */
    uint64_t ranks; /* 0: the launcher decides */
};

/* Returns false if nothing identifies the program, such as `python3 -c ...` or `bash -c ...`. `first`: index of the launcher. */
bool identity_find(char *const *words, size_t first, enum launcher_kind kind,
                   const struct launcher_line *line, const struct program *programs, struct identity *id);

#endif
