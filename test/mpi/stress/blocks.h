/* blocks.h: random places in memory, as lists of blocks and as the MPI datatypes that mean the same. */
#ifndef HEARTH_TEST_BLOCKS_H
#define HEARTH_TEST_BLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BLOCKS = 12 };

/* Offsets from the address or displacement given to MPI; blocks do not overlap. */
struct blocks {
    int count;
    size_t bytes, span;
    struct {
        size_t at, bytes;
    } block[MOST_BLOCKS];
};

uint32_t blocks_random(uint64_t *state, uint32_t below);

/* Of this many bytes in all, in this span at most (span >= bytes). */
struct blocks blocks_make(uint64_t *state, size_t bytes, size_t span);
struct blocks blocks_contiguous(size_t bytes);
bool blocks_are_contiguous(const struct blocks *b);

void blocks_gather(void *packed, const void *from, const struct blocks *b);
void blocks_scatter(void *to, const struct blocks *b, const void *packed);

/* The datatype to give to MPI, with its count. Made anew each time: to be freed unless it is MPI_BYTE. */
MPI_Datatype blocks_type(const struct blocks *b, int *count);
void blocks_free_type(MPI_Datatype *type);

#endif
