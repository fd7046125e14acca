/* python.h: the line of a Python program that makes an MPI call. */
#ifndef HEARTH_MPI_PYTHON_H
#define HEARTH_MPI_PYTHON_H

#include <stddef.h>
#include <stdint.h>

struct python_place {
    char *file, *function;
    uint64_t line;
};

/* Looks for an interpreter in this process. Call once, before python_here. */
void python_start(void);

/* The place from which Python makes the current call, if `caller`, a return address, lies in an extension module or in the
 * interpreter; else NULL. It stays valid. Requires a lock that the caller holds. Takes some 10 us. */
const struct python_place *python_here(uintptr_t caller);

/* The place at this address; NULL if there is none: it is a return address. */
const struct python_place *python_place_at(uintptr_t address);

/* The innermost place of a traceback as the interpreter writes it, the MPI binding's own files excepted. `place` points into
 * the text, which is changed. Returns whether there is one. */
int python_parse(char *text, struct python_place *place);

#endif
