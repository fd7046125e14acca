/* callers.h: the program's call sites, from a sample of its gets. */
#ifndef HEARTH_MPI_CALLERS_H
#define HEARTH_MPI_CALLERS_H

#include <stddef.h>
#include <stdint.h>

enum { CALLERS = 128 };

/* One call site and its gets; all counts are estimates. */
struct caller {
    uintptr_t address; /* of callers_here; 1: unknown, 0: unused row */
    uint64_t window;   /* 0: several windows */
    uint64_t gets, hits, bytes;
};

struct callers {
    struct caller rows[CALLERS];
    unsigned used;
    uint64_t others; /* gets of call sites for which no row was left */
};

/* Call once, before the first callers_here. */
void callers_start(void);

/* The call site in the program: the innermost return address that is neither Hearth's nor MPI's, or the address of a place in a
 * Python program (python.h). 0 if unknown. Takes microseconds. Requires the lock of the table. */
uintptr_t callers_here(void);

/* The row of a call site and window, created if needed; NULL if the table is full. When half of the rows are in use,
 * new ones no longer distinguish windows, because programs may have many. */
struct caller *callers_row(struct callers *c, uintptr_t address, uint64_t window);

/* Resolves an address: the file loaded there, the offset in it as addr2line expects it, and the enclosing function,
 * "" if unknown. */
struct caller_place {
    const char *file, *function;
    uint64_t offset;
    uint64_t line; /* of a Python program, also in `offset`; else 0 */
};
struct caller_place callers_place(uintptr_t address);

#endif
