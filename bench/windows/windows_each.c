/* windows_each.c: the operations of windows_ops.c. Each returns ns per execution; results are checked outside that time. */
#include "windows_each.h"

#include <stdint.h>
#include <string.h>

#include "windows_ucx.h"
#include "windows_vm.h"

enum { SMALL = 200, LARGE = 4 }; /* executions */

static void read_word(void *word, MPI_Aint disp, MPI_Win win) {
    MPI_Get(word, 8, MPI_BYTE, 1, disp, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static double get(MPI_Win win) {
    int64_t value = 0;
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        MPI_Get(&value, 1, MPI_INT64_T, 1, 64, 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, SMALL);
    check(value == FIRST + 8, "MPI_Get");
    return ns;
}

static double put(MPI_Win win) {
    int64_t value = 5, after = 0;
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        MPI_Put(&value, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, SMALL);
    read_word(&after, 8, win);
    check(after == value, "MPI_Put");
    return ns;
}

static double fetch_and_op(MPI_Win win) {
    int64_t one = 1, value = 0, first = 0;
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        MPI_Fetch_and_op(&one, &value, MPI_INT64_T, 1, 16, MPI_SUM, win);
        MPI_Win_flush(1, win);
        first = i ? first : value;
    }
    double ns = ns_since(start, SMALL);
    check(value == first + SMALL - 1, "MPI_Fetch_and_op");
    return ns;
}

static double compare_and_swap(MPI_Win win) {
    int64_t value = 0, expected = 0;
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        int64_t next = value + 1;
        expected = value;
        MPI_Compare_and_swap(&next, &expected, &value, MPI_INT64_T, 1, 24, win);
        MPI_Win_flush(1, win);
        if (value == expected)
            value = next;
    }
    double ns = ns_since(start, SMALL);
    check(value == expected + 1, "MPI_Compare_and_swap"); /* only the first may fail */
    return ns;
}

static double accumulate(MPI_Win win) {
    int64_t one = 1, before = 0, after = 0;
    read_word(&before, 32, win);
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 32, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, SMALL);
    read_word(&after, 32, win);
    check(after == before + SMALL, "MPI_Accumulate");
    return ns;
}

enum { SEVERAL = 16 };

static double get_16(MPI_Win win) {
    int64_t values[SEVERAL] = {0};
    double start = now();
    for (int i = 0; i < SMALL / SEVERAL; i++) {
        for (int j = 0; j < SEVERAL; j++)
            MPI_Get(&values[j], 1, MPI_INT64_T, 1, 64 * (j + 1), 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, SMALL / SEVERAL);
    for (int j = 0; j < SEVERAL; j++)
        check(values[j] == FIRST + 8 * (j + 1), "16 MPI_Get");
    return ns;
}

static double put_16(MPI_Win win) {
    int64_t values[SEVERAL], after = 0;
    for (int j = 0; j < SEVERAL; j++)
        values[j] = FIRST + 8 * (j + 1);
    double start = now();
    for (int i = 0; i < SMALL / SEVERAL; i++) {
        for (int j = 0; j < SEVERAL; j++)
            MPI_Put(&values[j], 1, MPI_INT64_T, 1, 64 * (j + 1), 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, SMALL / SEVERAL);
    read_word(&after, (MPI_Aint)64 * SEVERAL, win);
    check(after == values[SEVERAL - 1], "16 MPI_Put");
    return ns;
}

static double get_1m(MPI_Win win) {
    double start = now();
    for (int i = 0; i < LARGE; i++) {
        MPI_Get(buffer, MEGABYTE, MPI_BYTE, 1, 0, MEGABYTE, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, LARGE);
    check(((double *)buffer)[MEGABYTE / 8 - 1] == MEGABYTE / 16 - 1, "MPI_Get of 1 MB");
    return ns;
}

/* The time beyond the computation, which makes no MPI call. */
static double get_64k_after(MPI_Win win, double computation) {
    double start = now();
    for (int i = 0; i < LARGE; i++) {
        MPI_Get(buffer, LONG, MPI_BYTE, 1, REALS, LONG, MPI_BYTE, win);
        spin(computation);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, LARGE) - computation * 1e9;
    check(((double *)buffer)[LONG / 8 - 1] == LONG / 8 - 1, "MPI_Get of 64 KB");
    return ns;
}

static double get_64k(MPI_Win win) {
    return get_64k_after(win, 0);
}

static double get_64k_visible(MPI_Win win) {
    double ns = get_64k_after(win, 1.25e-9 * get_64k(win));
    return ns > 1 ? ns : 1; /* all of it is hidden */
}

static double get_rows(MPI_Win win) {
    double start = now();
    for (int i = 0; i < LARGE; i++) {
        MPI_Get(buffer, ROWS, MPI_DOUBLE, 1, REALS, 1, every_second, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, LARGE);
    check(((double *)buffer)[ROWS - 1] == 2 * (ROWS - 1), "MPI_Get of rows");
    return ns;
}

static double accumulate_64k(MPI_Win win) {
    double *ones = (double *)source, before = 0, after = 0;
    read_word(&before, SUMS + 8 * (ROWS - 1), win);
    double start = now();
    for (int i = 0; i < LARGE; i++) {
        MPI_Accumulate(ones, ROWS, MPI_DOUBLE, 1, SUMS, ROWS, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
    double ns = ns_since(start, LARGE);
    read_word(&after, SUMS + 8 * (ROWS - 1), win);
    check(after == before + LARGE, "MPI_Accumulate of 64 KB");
    return ns;
}

static double lock_put(MPI_Win win) {
    int64_t value = 9;
    double start = now();
    for (int i = 0; i < SMALL; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT64_T, 1, 40, 1, MPI_INT64_T, win);
        MPI_Win_unlock(1, win);
    }
    return ns_since(start, SMALL);
}

/* ---- limits ---- */

/* ns per execution of `copy` by rank 0. */
static double time_of(void (*copy)(void), int executions) {
    if (rank == 1)
        return 0;
    copy();
    double start = now();
    for (int i = 0; i < executions; i++)
        copy();
    return ns_since(start, executions);
}

static void read_8(void) {
    check(vm_read(buffer, 64, 8), "process_vm_readv of 8 bytes");
}

static void write_8(void) {
    check(vm_write(source, 8, 8), "process_vm_writev of 8 bytes");
}

static void update_8(void) {
    read_8();
    write_8();
}

static void read_1m(void) {
    check(vm_read(buffer, 0, MEGABYTE), "process_vm_readv of 1 MB");
}

static void copy_1m(void) {
    memcpy(buffer, source, MEGABYTE);
    __asm__ volatile("" ::"r"(buffer) : "memory"); /* every copy is made */
}

/* Of the bytes that an accumulate of doubles adds. */
static void copy_64k(void) {
    memcpy(buffer, source, LONG);
    __asm__ volatile("" ::"r"(buffer) : "memory");
}

static double piece[2 * ROWS];

/* With the gaps between the rows, in one piece. */
static void read_rows(void) {
    double *to = (double *)buffer;
    check(vm_read(piece, REALS, sizeof piece), "process_vm_readv of rows");
    for (int i = 0; i < ROWS; i++)
        to[i] = piece[2 * i];
}

static void update_64k(void) {
    const double *ones = (const double *)source;
    check(vm_read(piece, SUMS, LONG), "process_vm_readv of 64 KB");
    for (int i = 0; i < ROWS; i++)
        piece[i] += ones[i];
    check(vm_write(piece, SUMS, LONG), "process_vm_writev of 64 KB");
}

static double bare(size_t bytes, int executions) {
    return has_bare ? bare_get(buffer, bytes, executions) : 0;
}

static double limit_of(size_t bytes, int executions, void (*by_kernel)(void)) {
    return between_nodes ? bare(bytes, executions) : only_owner_maps ? time_of(by_kernel, executions) : 0;
}

static double limit_get(void) {
    return limit_of(8, SMALL, read_8);
}

static double limit_put(void) {
    return limit_of(8, SMALL, write_8);
}

static double limit_update(void) {
    return limit_of(8, SMALL, update_8);
}

static double limit_get_1m(void) {
    if (between_nodes)
        return bare(MEGABYTE, LARGE);
    return time_of(only_owner_maps ? read_1m : copy_1m, LARGE);
}

static double limit_get_64k(void) {
    return bare(LONG, LARGE);
}

static double limit_get_rows(void) {
    return limit_of(LONG, LARGE, read_rows);
}

static double limit_accumulate_64k(void) {
    if (between_nodes)
        return bare(LONG, LARGE);
    return time_of(only_owner_maps ? update_64k : copy_64k, LARGE);
}

const struct operation operations[] = {
    {"get", get, false, limit_get},
    {"put", put, false, limit_put},
    {"fetch_and_op", fetch_and_op, false, limit_update},
    {"compare_and_swap", compare_and_swap, false, limit_update},
    {"accumulate", accumulate, false, limit_update},
    {"get_16", get_16, false, NULL},
    {"put_16", put_16, false, NULL},
    {"get_1m", get_1m, false, limit_get_1m},
    {"get_64k", get_64k, false, limit_get_64k},
    {"get_64k_visible", get_64k_visible, false, NULL},
    {"get_rows", get_rows, false, limit_get_rows},
    {"accumulate_64k", accumulate_64k, false, limit_accumulate_64k},
    {"lock_put", lock_put, true, NULL},
    {"create", NULL, true, NULL},
};
const size_t operation_count = sizeof operations / sizeof *operations;
