/* elf.h: what the dynamic loader would read in a program or library: which libraries it needs, and where it
 * wants them looked for. Nothing is executed, as ldd would; a file that was cut or damaged on purpose is
 * refused. */
#ifndef HEARTH_TOOLS_ELF_H
#define HEARTH_TOOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_NOT,     /* something else, such as a script */
    ELF_FOREIGN, /* for another machine */
    ELF_DAMAGED,
    ELF_STATIC,  /* no loader comes into it */
    ELF_DYNAMIC, /* a program */
    ELF_LIBRARY  /* no interpreter, but a dynamic section */
};

struct elf {
    enum elf_kind kind;
    const char *soname, *rpath, *runpath; /* NULL: none */
    const char **needed;
    size_t needed_count;
    char *strings; /* what these point into */
};

/* 0, or a negative code: it cannot be read. */
int elf_read(const char *path, struct elf *e);
void elf_free(struct elf *e);

/* Whether it has a definition of this symbol, as far as it was not stripped. */
bool elf_defines(const char *path, const char *symbol);

#endif
