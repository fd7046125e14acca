/* osu.h: what the groups of osu_cells.c share. */
#ifndef HEARTH_BENCH_OSU_H
#define HEARTH_BENCH_OSU_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { MOST_BYTES = 4 << 20, BLOCK = 8 << 20 };

extern int osu_rank, osu_size;
extern char *osu_out, *osu_in; /* BLOCK bytes each */
extern bool osu_between_nodes;

double osu_now(void);                     /* seconds; no call of MPI */
void osu_check(bool holds, const char *); /* ends the job: a fast wrong answer is not a result */

/* Executes an operation this many times, on all ranks. Returns the seconds that it took, of which those of rank 0 count. */
typedef double osu_execute(size_t bytes, int times);

/* Measures one cell and prints it. A call of execute with 1 makes this many operations. Collective. */
void osu_measure(const char *name, size_t bytes, int operations, osu_execute *execute);

/* The sizes of this run, from least to most: for (size_t b = osu_first(8, MOST); b; b = osu_next(b, MOST)). */
size_t osu_first(size_t least, size_t most);
size_t osu_next(size_t bytes, size_t most);

/* How many operations of this size follow each other without a wait, as their data fits into a block. */
int osu_window(size_t bytes);

struct osu_group {
    const char *name;
    int ranks; /* 0: any number */
    bool threads;
    void (*run)(void);
};
void osu_messages(void);
void osu_pairs(void);
void osu_threads(void);
void osu_collectives(void);
void osu_allocate(void);
void osu_create(void);
void osu_dynamic(void);

#endif
