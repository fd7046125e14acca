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

/* ---- unusual types ---- */

/* Short blocks in front of one that exceeds a message by far: the mean block does, too. */
CASE(short_blocks_before_a_long_one) {
    enum { SHORT = 17, TAIL = 1 << 18, TAIL_AT = 8192, ALL = SHORT + TAIL };
    struct allocated w = allocate_window(MPI_COMM_WORLD, TAIL_AT + TAIL * sizeof(int64_t), 1, NULL);
    static int64_t values[ALL], back[ALL];
    int lengths[SHORT + 1], wrong = 0;
    MPI_Aint places[SHORT + 1];
    MPI_Datatype type;
    for (int i = 0; i < SHORT; i++) {
        lengths[i] = 1;
        places[i] = 8 * i * (i + 2);
    }
    lengths[SHORT] = TAIL;
    places[SHORT] = TAIL_AT;
    MPI_Type_create_hindexed(SHORT + 1, lengths, places, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ALL; i++)
        values[i] = i + 1;
    MPI_Win_lock(MPI_LOCK_SHARED, peer(), 0, w.win);
    MPI_Put(values, ALL, MPI_INT64_T, peer(), 0, 1, type, w.win);
    MPI_Win_flush(peer(), w.win);
    MPI_Accumulate(values, ALL, MPI_INT64_T, peer(), 0, 1, type, MPI_SUM, w.win);
    MPI_Win_flush(peer(), w.win);
    MPI_Get(back, ALL, MPI_INT64_T, peer(), 0, 1, type, w.win);
    MPI_Win_unlock(peer(), w.win);
    for (int i = 0; i < ALL; i++)
        wrong += back[i] != 2 * values[i];
    expect_eq(wrong, 0);
    MPI_Type_free(&type);
    MPI_Win_free(&w.win);
}

/* More blocks than Hearth describes of a type by itself: two for each of the elements. */
CASE(elements_with_a_million_blocks) {
    enum { ELEMENTS = 600000, EXTENT = 8 };
    struct allocated w = allocate_window(MPI_COMM_WORLD, ELEMENTS * EXTENT, 1, NULL);
    char *out = calloc(ELEMENTS, EXTENT), *back = calloc(ELEMENTS, EXTENT);
    MPI_Datatype parts, type;
    int wrong = 0;
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, 3}, MPI_BYTE, &parts);
    MPI_Type_create_resized(parts, 0, EXTENT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ELEMENTS * EXTENT; i++)
        out[i] = (char)(1 + i % 100);
    MPI_Win_lock(MPI_LOCK_SHARED, peer(), 0, w.win);
    MPI_Put(out, ELEMENTS, type, peer(), 0, ELEMENTS, type, w.win);
    MPI_Win_flush(peer(), w.win);
    MPI_Get(back, ELEMENTS * EXTENT, MPI_BYTE, peer(), 0, ELEMENTS * EXTENT, MPI_BYTE, w.win);
    MPI_Win_unlock(peer(), w.win);
    for (int i = 0; i < ELEMENTS * EXTENT; i++) {
        bool moved = i % EXTENT == 0 || i % EXTENT == 3 || i % EXTENT == 4;
        wrong += back[i] != (moved ? out[i] : 0);
    }
    expect_eq(wrong, 0);
    MPI_Type_free(&parts);
    MPI_Type_free(&type);
    free(out);
    free(back);
    MPI_Win_free(&w.win);
}

/* ---- long gets, and the end of their epoch ---- */

static void store_while_asked(const struct allocated *w, int count) {
    int asked = 0;
    for (int64_t round = 1; !asked; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test_rank, 0, w->win);
        for (int i = 0; i < count; i++)
            ((int64_t *)(void *)w->base)[i] = round;
        MPI_Win_unlock(test_rank, w->win);
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &asked, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The holder that follows writes at once: the data of a get must have left the window before its lock is free. */
CASE(long_gets_end_before_their_lock) {
    enum { WORDS = 1 << 18, ROUNDS = 10 };
    struct allocated w = allocate_window(MPI_COMM_WORLD, WORDS * sizeof(int64_t), 1, NULL);
    static int64_t got[WORDS];
    if (test_rank == 1)
        store_while_asked(&w, WORDS);
    for (int round = 0; test_rank == 0 && round < ROUNDS; round++) {
        int mixed = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
        MPI_Get(got, WORDS, MPI_INT64_T, 1, 0, WORDS, MPI_INT64_T, w.win);
        MPI_Win_unlock(1, w.win);
        for (int i = 1; i < WORDS; i++)
            mixed += got[i] != got[0];
        expect_eq(mixed, 0);
    }
    if (test_rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    barrier();
    MPI_Win_free(&w.win);
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

CASE(failed_fetches_leave_the_result) {
    SKIP_IF(!test_served(), "the MPIs crash");
    MPI_Win win;
    MPI_Datatype gaps;
    int64_t result[4] = {11, 12, 13, 14};
    int target = (test_rank + 1) % test_size, class;
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    int rc =
        MPI_Get_accumulate(NULL, 0, MPI_INT64_T, result, 1, gaps, target, 64, 2, MPI_INT64_T, MPI_NO_OP, win);
    MPI_Error_class(rc, &class);
    expect_eq(class, MPI_ERR_RMA_RANGE);
    for (int i = 0; i < 4; i++)
        expect_eq(result[i], 11 + i);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&gaps);
}
