/* memory_table.c: see memory_table.h.
 *
 *      row of a rank:   base | bytes | unit | process        each 0 to 8 bytes, little-endian, minus the least of its column
 *
 * Processes of one world are stored by their distance to the rank in the window, which is the same for all in MPI_COMM_WORLD and
 * in every communicator of consecutive ranks. Their column is then empty. */
#include "mpi/windows/serving/state/memory_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

const struct memory_table_range memory_table_no_range = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                                         {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

/* ---- one row ---- */

/* The distance is never negative with the size added. */
static uint64_t process_pack(uint64_t process, int rank, int size, bool one_world) {
    return one_world ? process + (uint64_t)size - (uint64_t)rank : process;
}

static uint64_t process_unpack(const struct memory_table *t, int rank, uint64_t packed) {
    return t->one_world ? packed + (uint64_t)rank - (uint64_t)t->size : packed;
}

static void columns_of(const struct rank_memory *m, int rank, int size, bool one_world,
                       uint64_t out[MEMORY_COLUMNS]) {
    out[MEMORY_BASE] = m->base;
    out[MEMORY_BYTES] = m->bytes;
    out[MEMORY_UNIT] = m->unit;
    out[MEMORY_PROCESS] = process_pack(m->process, rank, size, one_world);
}

void memory_table_extend(struct memory_table_range *range, const struct rank_memory *m, int rank, int size,
                         bool one_world) {
    uint64_t columns[MEMORY_COLUMNS];
    columns_of(m, rank, size, one_world, columns);
    for (int i = 0; i < MEMORY_COLUMNS; i++) {
        range->least[i] = columns[i] < range->least[i] ? columns[i] : range->least[i];
        range->complement[i] = ~columns[i] < range->complement[i] ? ~columns[i] : range->complement[i];
    }
}

static uint8_t width_of(uint64_t n) {
    uint8_t bytes = 0;
    for (; n; n >>= 8)
        bytes++;
    return bytes;
}

void memory_table_plan(struct memory_table *t, int size, bool one_world,
                       const struct memory_table_range *range) {
    *t = (struct memory_table){.size = size, .one_world = one_world};
    for (int i = 0; i < MEMORY_COLUMNS; i++) {
        t->least[i] = range->least[i];
        t->widths[i] = width_of(~range->complement[i] - range->least[i]);
        t->row_bytes = (uint8_t)(t->row_bytes + t->widths[i]);
    }
}

void memory_table_write(const struct memory_table *t, int rank, const struct rank_memory *m,
                        unsigned char *row) {
    uint64_t columns[MEMORY_COLUMNS];
    columns_of(m, rank, t->size, t->one_world, columns);
    for (int i = 0; i < MEMORY_COLUMNS; i++) {
        uint64_t n = columns[i] - t->least[i];
        for (int k = 0; k < t->widths[i]; k++, n >>= 8)
            *row++ = (unsigned char)n;
    }
}

static uint64_t read_number(const unsigned char *at, unsigned width) {
    uint64_t n = 0;
    while (width--)
        n = n << 8 | at[width];
    return n;
}

static const unsigned char *row_at(const struct memory_table *t, int rank) {
    return t->rows + (size_t)rank * t->row_bytes;
}

struct rank_memory memory_table_read(const struct memory_table *t, int rank) {
    uint64_t columns[MEMORY_COLUMNS];
    const unsigned char *at = t->row_bytes ? row_at(t, rank) : NULL;
    for (int i = 0; i < MEMORY_COLUMNS; i++) {
        columns[i] = t->least[i] + (t->widths[i] ? read_number(at, t->widths[i]) : 0);
        at = t->widths[i] ? at + t->widths[i] : at;
    }
    return (struct rank_memory){.base = columns[MEMORY_BASE],
                                .bytes = columns[MEMORY_BYTES],
                                .unit = columns[MEMORY_UNIT],
                                .process = process_unpack(t, rank, columns[MEMORY_PROCESS])};
}

uint64_t memory_table_process(const struct memory_table *t, int rank) {
    unsigned width = t->widths[MEMORY_PROCESS];
    uint64_t n = width ? read_number(row_at(t, rank) + t->row_bytes - width, width) : 0;
    return process_unpack(t, rank, t->least[MEMORY_PROCESS] + n);
}

/* ---- ranks of processes ---- */

/* Whether the processes are consecutive, so that a rank is found by subtraction. */
static bool is_consecutive(const struct memory_table *t) {
    return t->one_world && !t->widths[MEMORY_PROCESS];
}

static int rank_by_distance(const struct memory_table *t, uint64_t process) {
    uint64_t rank = process - memory_table_process(t, 0);
    return rank < (uint64_t)t->size ? (int)rank : -1;
}

int memory_table_find(const struct memory_table *t, uint64_t process, int likely) {
    if (is_consecutive(t))
        return rank_by_distance(t, process);
    if ((unsigned)likely < (unsigned)t->size && memory_table_process(t, likely) == process)
        return likely;
    for (int i = 0; i < t->size; i++)
        if (memory_table_process(t, i) == process)
            return i;
    return -1;
}

/* A hash index of a table's processes, for many lookups. */
struct process_index {
    const struct memory_table *table;
    uint64_t mask;
    int *ranks; /* -1: free */
};

static int process_index_open(struct process_index *x, const struct memory_table *t) {
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)t->size)
        slots *= 2;
    *x = (struct process_index){.table = t, .mask = slots - 1, .ranks = malloc(slots * sizeof *x->ranks)};
    if (!x->ranks)
        return -ENOMEM;
    memset(x->ranks, -1, slots * sizeof *x->ranks);
    for (int i = 0; i < t->size; i++) {
        uint64_t at = random_mix(memory_table_process(t, i)) & x->mask;
        while (x->ranks[at] >= 0)
            at = (at + 1) & x->mask;
        x->ranks[at] = i;
    }
    return 0;
}

static int process_index_find(const struct process_index *x, uint64_t process) {
    if (!x->ranks)
        return rank_by_distance(x->table, process);
    uint64_t at = random_mix(process) & x->mask;
    while (x->ranks[at] >= 0 && memory_table_process(x->table, x->ranks[at]) != process)
        at = (at + 1) & x->mask;
    return x->ranks[at];
}

int memory_table_common(const struct memory_table *a, const struct memory_table *b,
                        bool (*visit)(void *arg, int rank_a, int rank_b), void *arg) {
    struct process_index x = {.table = b};
    if (!is_consecutive(b) && process_index_open(&x, b))
        return -ENOMEM;
    bool found = false;
    for (int i = 0; !found && i < a->size; i++) {
        int there = process_index_find(&x, memory_table_process(a, i));
        found = there >= 0 && visit(arg, i, there);
    }
    free(x.ranks);
    return 0;
}
