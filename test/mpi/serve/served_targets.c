/* served_targets.c: tests targets of served windows that a process uses late, in part or never. Across nodes, what is known of a target
 * is looked up at its first use, whichever epoch that is in; epochs of all targets include those that were never used.
 *
 * configs: serve serve1 serve2 servempi servedirect */
#include <stdlib.h>

#include "serving.h"

enum { NUMBERS = 64 };

static int neighbour(int distance) {
    return (test_rank + distance) % test_size;
}

/* Without an epoch there is no access, whether the target was used before or not. */
static void expect_closed(MPI_Win win, int target) {
    int64_t value = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    expect(MPI_Get(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win) != MPI_SUCCESS);
    expect(MPI_Win_flush(target, win) != MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

CASE(first_use_in_lock_all) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, NUMBERS * 8, 1, NULL);
    expect_closed(w.win, neighbour(1));
    for (int round = 1; round <= 3; round++) {
        MPI_Win_lock_all(round == 2 ? MPI_MODE_NOCHECK : 0, w.win);
        for (int target = 0; target < test_size; target++)
            expect_eq(MPI_Win_flush(target, w.win), MPI_SUCCESS); /* nothing to complete */
        MPI_Win_flush_all(w.win);
        put_number(w.win, neighbour(round), test_rank, round);
        MPI_Win_unlock_all(w.win);
        expect_closed(w.win, neighbour(round));
        barrier();
        expect_eq(load_number(&w, (test_rank + (test_size - 1) * round) % test_size), round);
    }
    MPI_Win_free(&w.win);
}

CASE(never_used) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, NUMBERS * 8, 1, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock_all(0, w.win);
        MPI_Win_flush_local(neighbour(1), w.win);
        MPI_Win_flush_local_all(w.win);
        MPI_Win_unlock_all(w.win);
        MPI_Win_fence(0, w.win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    expect_closed(w.win, neighbour(1));
    MPI_Win_free(&w.win);
}

/* The epoch of a fence is open to all targets, also to those that are used in later ones only. */
CASE(first_use_in_fences) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, NUMBERS * 8, 1, NULL);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int round = 1; round <= test_size; round++) {
        int64_t value = 100 * round + test_rank;
        MPI_Put(&value, 1, MPI_INT64_T, neighbour(round), 8 * test_rank, 1, MPI_INT64_T, w.win);
        MPI_Win_fence(round == test_size ? MPI_MODE_NOSUCCEED : 0, w.win);
        int from = (test_rank + (test_size - 1) * round) % test_size;
        expect_eq(load_number(&w, from), 100 * round + from);
    }
    for (int target = 0; target < test_size; target++)
        expect_closed(w.win, target);
    barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, neighbour(1), 0, w.win);
    expect_eq(get_number(w.win, neighbour(1), neighbour(1)), 100 * test_size + neighbour(1));
    MPI_Win_unlock(neighbour(1), w.win);
    MPI_Win_free(&w.win);
}

CASE(first_use_in_locks_and_starts) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, NUMBERS * 8, 1, NULL);
    MPI_Group all, to, from;
    int next = neighbour(1), before = neighbour(test_size - 1);
    int64_t value = 7 + test_rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_post(from, 0, w.win);
    MPI_Win_start(to, 0, w.win);
    MPI_Put(&value, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, w.win);
    MPI_Win_complete(w.win);
    MPI_Win_wait(w.win);
    expect_eq(load_number(&w, 0), 7 + before);
    barrier();
    int other = neighbour(2);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, w.win);
    put_number(w.win, other, 1 + test_rank, 9);
    MPI_Win_unlock(other, w.win);
    barrier();
    expect_eq(load_number(&w, 1 + (test_rank + 2 * test_size - 2) % test_size), 9);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_free(&w.win);
}

/* ---- ranks that differ in everything ---- */

/* Each rank of the communicator writes its number to all others, in a window whose sizes, units and addresses differ. */
static void expect_all_reached(MPI_Comm comm, bool allocates) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    size_t bytes = 64 * (size_t)(8 + rank);
    char *memory = aligned_bytes(64 * (size_t)(rank + 1) + bytes), *base = memory + 64 * (rank + 1);
    MPI_Win win;
    if (allocates)
        MPI_Win_allocate((MPI_Aint)bytes, 1 << rank % 4, MPI_INFO_NULL, comm, &base, &win);
    else
        MPI_Win_create(base, (MPI_Aint)bytes, 1 << rank % 4, MPI_INFO_NULL, comm, &win);
    memset(base, 0, bytes);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < size; i++) {
        int target = (rank + i) % size;
        int64_t value = 1000 * target + rank;
        MPI_Put(&value, 1, MPI_INT64_T, target, 8 * rank >> target % 4, 1, MPI_INT64_T, win);
        /* the last number of its memory, which is longer than that of the rank before */
        if (rank == 0)
            MPI_Put(&value, 1, MPI_INT64_T, target, (64 * (8 + target) - 8) >> target % 4, 1, MPI_INT64_T,
                    win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(comm);
    for (int i = 0; i < size; i++)
        expect_eq(((int64_t *)(void *)base)[i], 1000 * rank + i);
    expect_eq(((int64_t *)(void *)base)[bytes / 8 - 1], 1000 * rank);
    MPI_Barrier(comm);
    MPI_Win_free(&win);
    free(memory);
}

static void expect_all_reached_in(int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    expect_all_reached(comm, true);
    expect_all_reached(comm, false);
    MPI_Comm_free(&comm);
}

CASE(ranks_in_order) {
    expect_all_reached_in(0, test_rank);
}

CASE(ranks_in_another_order) {
    expect_all_reached_in(0, -test_rank);
    expect_all_reached_in(0, test_rank % 2 * test_size + test_rank);
}

CASE(some_ranks) {
    SKIP_IF(!test_served() && test_open_mpi(), "Open MPI 4 makes no windows of one rank");
    expect_all_reached_in(test_rank ? 0 : MPI_UNDEFINED, -test_rank);
    for (int odd = 0; odd < 2;
         odd++) { /* one after the other: Open MPI 4 cannot create both windows at once */
        barrier();
        expect_all_reached_in(test_rank % 2 == odd ? 0 : MPI_UNDEFINED, test_rank);
    }
}

/* Memory of other nodes cannot be loaded, but its unit is known. */
CASE(shared_query_of_all_ranks) {
    SKIP_IF(!test_served(), "not served");
    struct allocated w;
    MPI_Win_allocate(64, 1 + test_rank, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
    for (int rank = 0; rank < test_size; rank++) {
        MPI_Aint bytes = -1;
        int unit = -1;
        char *base = NULL;
        expect_eq(MPI_Win_shared_query(w.win, rank, &bytes, &unit, &base), MPI_SUCCESS);
        expect_eq(unit, 1 + rank);
        expect(base ? bytes == 64 : bytes == 0);
        expect(rank != test_rank || base == w.base);
    }
    MPI_Win_free(&w.win);
}
