/* blocks.h: random places in memory, as lists of blocks and as the equivalent MPI datatypes. */
#ifndef HEARTH_TEST_BLOCKS_H
#define HEARTH_TEST_BLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BLOCKS = 12 };

/* Offsets are relative to the address or displacement passed to MPI. Blocks do not overlap. */
struct blocks {
    int count;
    size_t bytes, span;
    struct {
        size_t at, bytes;
    } block[MOST_BLOCKS];
};

uint32_t blocks_random(uint64_t *state, uint32_t below);

/* Blocks of `bytes` bytes in total, within a span of at most `span` bytes (span >= bytes). */
struct blocks blocks_make(uint64_t *state, size_t bytes, size_t span);
struct blocks blocks_contiguous(size_t bytes);
bool blocks_are_contiguous(const struct blocks *b);

void blocks_gather(void *packed, const void *from, const struct blocks *b);
void blocks_scatter(void *to, const struct blocks *b, const void *packed);

/* The datatype and count to pass to MPI. Each call makes a new type: the caller frees it unless it is MPI_BYTE. */
MPI_Datatype blocks_type(const struct blocks *b, int *count);
void blocks_free_type(MPI_Datatype *type);

#endif
