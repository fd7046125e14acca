/* loader.h: where the dynamic loader would find a library. */
#ifndef HEARTH_TOOLS_LOADER_H
#define HEARTH_TOOLS_LOADER_H

#include <limits.h>
#include <stdbool.h>

#include "elf.h"

/* A file that is loaded, and the one that asked for it. */
struct loader_file {
    char path[PATH_MAX];
    struct elf elf;
    const struct loader_file *asked_by;
    unsigned *tries, own_tries; /* files looked for, for the program and all that it needs */
};

/* NULL if it is not a dynamic ELF file for this machine. `asked_by`, NULL for a program, must outlive it. */
struct loader_file *loader_open(const char *path, const struct loader_file *asked_by);
void loader_close(struct loader_file *file);

/* The library of this name that `from` gets. Nothing is found after so many tries: a damaged file may name
 * any number of libraries and of folders to search for each. */
enum { LOADER_TRIES = 32768 };
bool loader_find(const struct loader_file *from, const char *name, char path[PATH_MAX]);

#endif
