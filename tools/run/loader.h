/* loader.h: where the dynamic loader would find a library. */
#ifndef HEARTH_TOOLS_LOADER_H
#define HEARTH_TOOLS_LOADER_H

#include <limits.h>
#include <stdbool.h>

#include "run/elf.h"

/* A loaded file, and the one that loaded it. */
struct loader_file {
    char path[PATH_MAX];
    struct elf elf;
    const struct loader_file *asked_by;
    unsigned *tries, own_tries; /* files searched, for the program and all its libraries */
};

/* NULL if it is not a dynamic ELF file for this machine. `asked_by`, NULL for a program, must outlive it. */
struct loader_file *loader_open(const char *path, const struct loader_file *asked_by);
void loader_close(struct loader_file *file);

/* The library that `from` would load under this name. Fails after LOADER_TRIES tries: a damaged file may name any
 * number of libraries, and any number of folders to search for each. */
enum { LOADER_TRIES = 32768 };
bool loader_find(const struct loader_file *from, const char *name, char path[PATH_MAX]);

#endif
