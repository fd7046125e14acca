/* target_table.h: what this process did with each other process, for the matrix of origins and targets in the report.
 * Independent of MPI.
 *
 * A process uses few of the others, so rows are made at first use: a dense array, in the order of first use, and a hash
 * index over it. The first TARGET_ROWS targets have rows of their own; the row behind them is for the others. */
#ifndef HEARTH_MPI_TARGET_TABLE_H
#define HEARTH_MPI_TARGET_TABLE_H

#include <stdint.h>

#include "observe/json.h"

enum { TARGET_ROWS = 512, TARGET_SLOTS = 1024, TARGETS_REPORTED = 64 };

/* Counters, as the report names them; bytes are those that the program asked for. The last are the ticks of calls. */
enum target_counter {
    TARGET_GETS,
    TARGET_GET_BYTES,
    TARGET_PUTS, /* writes: puts, accumulates, atomics */
    TARGET_PUT_BYTES,
    TARGET_MESSAGES,
    TARGET_MESSAGE_BYTES,
    TARGET_TICKS,
    TARGET_COUNTERS
};

struct target_row {
    int rank; /* in MPI_COMM_WORLD */
    uint64_t counters[TARGET_COUNTERS];
};

/* Initially 0. */
struct target_table {
    uint32_t count;
    uint16_t slots[TARGET_SLOTS]; /* 1 + index of a row; 0: free */
    struct target_row rows[TARGET_ROWS + 1];
};

/* The row of this rank, made if needed; that of the others if the table is full or the rank is negative. */
struct target_row *target_table_row(struct target_table *t, int rank);

/* Calls to this row: their number, and what they moved, as the first of the two counters says. */
static inline void target_row_add(struct target_row *row, enum target_counter what, uint64_t calls,
                                  uint64_t bytes) {
    row->counters[what] += calls;
    row->counters[what + 1] += bytes;
}

/* Writes the member "targets": the targets with most bytes, in order of their ranks, and the sum of the others. limit: by what
 * the ticks are multiplied (call_time_limit). */
void target_table_json(struct json *j, const struct target_table *t, double limit);

#endif
