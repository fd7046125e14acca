/* served_handle.c: tests properties of served windows that do not depend on how the MPI below has made their handle: groups,
 * attributes, and post, start, complete, wait and test between all ranks. test_served_handle.sh runs it where the handle does not
 * contain all ranks.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdlib.h>

#include "serving.h"

enum { WINDOW = 4096 };

CASE(group_and_attributes) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 8, NULL);
    MPI_Group of_window, world;
    int result = MPI_UNEQUAL;
    MPI_Win_get_group(w.win, &of_window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(of_window, world, &result);
    expect_eq(result, MPI_IDENT);
    MPI_Group_free(&of_window);
    MPI_Group_free(&world);
    expect(attribute(w.win, MPI_WIN_BASE) == w.base);
    expect_eq(*(MPI_Aint *)attribute(w.win, MPI_WIN_SIZE), WINDOW);
    expect_eq(*(int *)attribute(w.win, MPI_WIN_DISP_UNIT), 8);
    expect_eq(*(int *)attribute(w.win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_free(&w.win);
}

/* Every rank exposes its memory to all, itself included, and puts into that of all. */
CASE(all_to_all_epochs) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Group all;
    MPI_Win_get_group(w.win, &all);
    for (int round = 1; round <= 20; round++) {
        int64_t value = round * 100 + test_rank;
        int done = 0;
        MPI_Win_post(all, 0, w.win);
        MPI_Win_start(all, 0, w.win);
        for (int target = 0; target < test_size; target++)
            MPI_Put(&value, 1, MPI_INT64_T, target, 8 * test_rank, 1, MPI_INT64_T, w.win);
        MPI_Win_complete(w.win);
        if (round % 2)
            MPI_Win_wait(w.win);
        for (; round % 2 == 0 && !done;)
            MPI_Win_test(w.win, &done);
        for (int origin = 0; origin < test_size; origin++)
            expect_eq(load_number(&w, origin), round * 100 + origin);
    }
    MPI_Group_free(&all);
    MPI_Win_free(&w.win);
}

CASE(fences) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    int target = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int round = 1; round <= 20; round++) {
        int64_t value = round * 100 + test_rank;
        MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, w.win);
        MPI_Win_fence(0, w.win);
        expect_eq(load_number(&w, 0), round * 100 + before);
        MPI_Win_fence(MPI_MODE_NOSTORE, w.win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    MPI_Win_free(&w.win);
}

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Errors of MPI_COMM_WORLD and MPI_COMM_SELF end the job. */
CASE(no_group_is_an_error_of_the_window) {
    SKIP_IF(!test_open_mpi() || !test_served(), "MPICH reports it on MPI_COMM_WORLD");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    expect_eq(class_of(MPI_Win_post(MPI_GROUP_NULL, 0, w.win)), MPI_ERR_GROUP);
    expect_eq(class_of(MPI_Win_start(MPI_GROUP_NULL, 0, w.win)), MPI_ERR_GROUP);
    MPI_Win_free(&w.win);
}

CASE(dynamic_between_all) {
    char *memory = aligned_bytes(WINDOW);
    int target = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;
    MPI_Aint mine, there;
    int64_t value = 70 + test_rank, back = 0;
    MPI_Win win;
    memset(memory, 0, WINDOW);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect_eq(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_DYNAMIC);
    expect_eq(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE), 0);
    MPI_Win_attach(win, memory, WINDOW);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, before, 0, &there, 1, MPI_AINT, target, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    MPI_Put(&value, 1, MPI_INT64_T, target, there, 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    MPI_Get(&back, 1, MPI_INT64_T, target, there, 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    expect_eq(back, value);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(memory);
}

CASE(created_between_all) {
    char *memory = aligned_bytes(WINDOW);
    int target = (test_rank + 1) % test_size;
    MPI_Win win;
    memset(memory, 0, WINDOW);
    MPI_Win_create(memory, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect(attribute(win, MPI_WIN_BASE) == memory);
    expect_eq(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_CREATE);
    MPI_Win_lock_all(0, win);
    add_number(win, target, 1, 7);
    expect_eq(get_number(win, target, 1), 7);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(memory);
}
