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
};

/* NULL if it is not a dynamic ELF file for this machine. `asked_by`, NULL for a program, must outlive it. */
struct loader_file *loader_open(const char *path, const struct loader_file *asked_by);
void loader_close(struct loader_file *file);

/* The library of this name that `from` gets. */
bool loader_find(const struct loader_file *from, const char *name, char path[PATH_MAX]);

#endif
