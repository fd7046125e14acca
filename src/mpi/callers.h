/* callers.h: which places of the program call, from a sample. */
#ifndef HEARTH_MPI_CALLERS_H
#define HEARTH_MPI_CALLERS_H

#include <stddef.h>
#include <stdint.h>

enum { CALLERS = 128 };

/* One place and what it asked for; all counts are estimates. */
struct caller {
    uintptr_t address; /* behind the call; 1: not known, 0: no row */
    uint64_t window;   /* 0: several */
    uint64_t gets, hits, bytes;
};

struct callers {
    struct caller rows[CALLERS];
    unsigned used;
    uint64_t others; /* gets of places for which there was no row left */
};

/* Once, before the first callers_here. */
void callers_start(void);

/* Where the program called: the innermost return address that is neither ours nor MPI's. 0 if it is not known. Takes
 * microseconds. */
uintptr_t callers_here(void);

/* The row of a place and window, new if need be; NULL if there is no room. When half of the rows are taken, new ones are no longer
 * told apart by window: programs may have many. */
struct caller *callers_row(struct callers *c, uintptr_t address, uint64_t window);

/* What is at an address: the file that was loaded there, the place in it as addr2line wants it, and the function around it, "" if
 * that is not known. */
struct caller_place {
    const char *file, *function;
    uint64_t offset;
};
struct caller_place callers_place(uintptr_t address);

#endif
