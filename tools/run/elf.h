/* elf.h: the parts of a program or library that the dynamic loader would read: the libraries that it needs, and
 * where to search for them. Nothing is executed, unlike with ldd. Truncated and malicious files are refused. */
#ifndef HEARTH_TOOLS_ELF_H
#define HEARTH_TOOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum elf_kind {
    ELF_NOT,     /* not ELF, such as a script */
    ELF_FOREIGN, /* for another machine */
    ELF_DAMAGED,
    ELF_STATIC,  /* without the dynamic loader */
    ELF_DYNAMIC, /* a program */
    ELF_LIBRARY  /* no interpreter, but a dynamic section */
};

struct elf {
    enum elf_kind kind;
    const char *soname, *rpath, *runpath; /* NULL: none */
    const char **needed;
    size_t needed_count;
    char *strings; /* the strings above point into it */
};

/* Returns 0, or a negative code: the file cannot be read. */
int elf_read(const char *path, struct elf *e);
void elf_free(struct elf *e);

/* Whether it defines this symbol, as far as it is not stripped. */
bool elf_defines(const char *path, const char *symbol);

/* The build id that the linker wrote, in hexadecimal, cut to `room`; false: it has none. */
bool elf_build_id(const char *path, char *text, size_t room);

#endif
