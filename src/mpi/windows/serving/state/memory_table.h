/* memory_table.h: where the memory of each rank of a window lies. Independent of MPI.
 *
 * Four numbers describe a rank: the base and the size of its memory, its displacement unit, and its process. Of each number the
 * table stores the difference to the least of all ranks, in as many bytes as the largest difference needs: none where all are
 * equal. The processes of a node share the rows. */
#ifndef HEARTH_MPI_MEMORY_TABLE_H
#define HEARTH_MPI_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_memory {
    uint64_t base, bytes, unit;
    uint64_t
        process; /* rank in MPI_COMM_WORLD, or a random number if the ranks belong to several (one_world) */
};

enum { MEMORY_BASE, MEMORY_BYTES, MEMORY_UNIT, MEMORY_PROCESS, MEMORY_COLUMNS };

struct memory_table {
    unsigned char *rows; /* NULL: all are equal */
    int size;            /* ranks */
    bool one_world;
    uint8_t row_bytes, widths[MEMORY_COLUMNS];
    uint64_t least[MEMORY_COLUMNS];
};

/* The range of each column over all ranks. Two of them merge by the minimum of each word. */
struct memory_table_range {
    uint64_t least[MEMORY_COLUMNS], complement[MEMORY_COLUMNS]; /* the second of the largest */
};
extern const struct memory_table_range memory_table_no_range;
void memory_table_extend(struct memory_table_range *range, const struct rank_memory *m, int rank, int size,
                         bool one_world);

/* Lays the table out for this range. The caller then sets `rows` to row_bytes bytes per rank, unless row_bytes is 0. */
void memory_table_plan(struct memory_table *t, int size, bool one_world,
                       const struct memory_table_range *range);

/* Writes a row; `row` is at rows + rank * row_bytes in the end. */
void memory_table_write(const struct memory_table *t, int rank, const struct rank_memory *m,
                        unsigned char *row);

struct rank_memory memory_table_read(const struct memory_table *t, int rank);
uint64_t memory_table_process(const struct memory_table *t, int rank);

/* The rank of a process, or -1. The rank that is likely is tried first. O(ranks). */
int memory_table_find(const struct memory_table *t, uint64_t process, int likely);

/* Calls visit for each rank of a whose process is a rank of b, too, until visit returns true. O(ranks). Returns 0, or -ENOMEM:
 * no visit was made. Both are of one world, or neither is. */
int memory_table_common(const struct memory_table *a, const struct memory_table *b,
                        bool (*visit)(void *arg, int rank_a, int rank_b), void *arg);

#endif
