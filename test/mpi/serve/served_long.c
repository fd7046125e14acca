/* served_long.c: tests operations on windows that Hearth serves that do not fit into a message between nodes, in memory of
 * all kinds, by contiguous, regular and irregular types; and accesses to memory that does not exist.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdlib.h>

#include "serving.h"

enum { LONG = 1 << 15 }; /* integers of long operations */

/* LONG integers of the target, in this order: all, every other one, or blocks of one to three at growing distances. */
static MPI_Datatype long_type(int kind, int *count) {
    static int lengths[LONG], places[LONG];
    MPI_Datatype type;
    int blocks = 0;
    *count = 0;
    if (kind == 0)
        MPI_Type_contiguous(*count = LONG, MPI_INT64_T, &type);
    else if (kind == 1)
        MPI_Type_vector(*count = LONG / 2, 1, 2, MPI_INT64_T, &type);
    for (int at = 0; kind == 2 && at + 3 < LONG; blocks++) {
        lengths[blocks] = 1 + blocks % 3;
        places[blocks] = at;
        *count += lengths[blocks];
        at += lengths[blocks] + 1 + blocks % 5;
    }
    if (kind == 2)
        MPI_Type_indexed(blocks, lengths, places, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Puts, adds twice, and gets: packed on this side, by the type on the other. Rank r of the target's window is used by the
 * rank before it alone. */
static void use_long(MPI_Win win, int target, MPI_Aint at, int kind) {
    static int64_t values[LONG], back[LONG], old[LONG];
    int count, wrong = 0;
    MPI_Datatype type = long_type(kind, &count);
    for (int i = 0; i < count; i++)
        values[i] = (int64_t)i << 8 | kind;
    MPI_Put(values, count, MPI_INT64_T, target, at, 1, type, win);
    MPI_Win_flush(target, win);
    MPI_Accumulate(values, count, MPI_INT64_T, target, at, 1, type, MPI_SUM, win);
    MPI_Get_accumulate(values, count, MPI_INT64_T, old, count, MPI_INT64_T, target, at, 1, type, MPI_SUM,
                       win);
    MPI_Win_flush(target, win);
    MPI_Get(back, count, MPI_INT64_T, target, at, 1, type, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < count; i++)
        wrong += old[i] != 2 * values[i] || back[i] != 3 * values[i];
    expect_eq(wrong, 0);
    MPI_Get_accumulate(NULL, 0, MPI_INT64_T, old, count, MPI_INT64_T, target, at, 1, type, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < count; i++)
        wrong += old[i] != back[i];
    expect_eq(wrong, 0);
    MPI_Type_free(&type);
}

/* One integer by the calls for one. */
static void use_one(MPI_Win win, int target, MPI_Aint at) {
    int64_t value = 5, compare = 5, swap = 9, old = -1;
    MPI_Accumulate(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Compare_and_swap(&swap, &compare, &old, MPI_INT64_T, target, at, win);
    MPI_Win_flush(target, win);
    expect_eq(old, 5);
    MPI_Compare_and_swap(&value, &compare, &old, MPI_INT64_T, target, at, win);
    MPI_Win_flush(target, win);
    expect_eq(old, 9);
    MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, at, MPI_SUM, win);
    MPI_Win_flush(target, win);
    expect_eq(old, 9);
}

static void use_memory(MPI_Win win, MPI_Aint own) {
    MPI_Aint there[64];
    int target = (test_rank + 1) % test_size;
    MPI_Allgather(&own, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int kind = 0; kind < 3; kind++)
        use_long(win, target, there[target], kind);
    use_one(win, target, there[target]);
    barrier();
    MPI_Win_unlock_all(win);
}

CASE(long_operations_on_allocated_memory) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, LONG * sizeof(int64_t), 1, NULL);
    use_memory(w.win, 0);
    MPI_Win_free(&w.win);
}

CASE(long_operations_on_memory_of_the_program) {
    SKIP_IF(!test_served(), "MPICH 4.0 fails for some addresses");
    MPI_Win win;
    char *memory = calloc(LONG + 8, sizeof(int64_t));
    MPI_Win_create(memory + 8, (LONG + 1) * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use_memory(win, 0);
    MPI_Win_free(&win);
    free(memory);
}

CASE(long_operations_on_attached_memory) {
    SKIP_IF(!test_served(), "MPICH 4.0 fails for some addresses");
    MPI_Win win;
    MPI_Aint at;
    char *memory = calloc(LONG, sizeof(int64_t));
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, LONG * sizeof(int64_t));
    MPI_Get_address(memory, &at);
    barrier();
    use_memory(win, at);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(memory);
}

/* The lowest page is never mapped. */
CASE(addresses_that_do_not_exist) {
    SKIP_IF(!test_served(), "the MPIs crash");
    MPI_Win win;
    int64_t value = 1, old;
    int target = (test_rank + 1) % test_size, class;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    int results[] = {MPI_Put(&value, 1, MPI_INT64_T, target, 64, 1, MPI_INT64_T, win),
                     MPI_Get(&value, 1, MPI_INT64_T, target, 64, 1, MPI_INT64_T, win),
                     MPI_Accumulate(&value, 1, MPI_INT64_T, target, 64, 1, MPI_INT64_T, MPI_SUM, win),
                     MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, 64, MPI_SUM, win),
                     MPI_Compare_and_swap(&value, &value, &old, MPI_INT64_T, target, 64, win)};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        MPI_Error_class(results[i], &class);
        expect_eq(class, MPI_ERR_RMA_RANGE);
    }
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}
