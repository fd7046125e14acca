/* served_alone.c: tests windows of one rank, which Open MPI 4 cannot create over existing memory: Hearth serves them with an
 * empty window of the MPI below as their handle.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdlib.h>

#include "serving.h"

enum { WINDOW = 4096 };

static void use_alone(MPI_Win win) {
    MPI_Group group;
    int size = 0;
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    expect_eq(size, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    add_number(win, 0, 0, 5);
    expect_eq(get_number(win, 0, 0), 5);
    MPI_Win_unlock(0, win);
    MPI_Win_fence(0, win);
    int64_t value = 6, old = 0;
    MPI_Put(&value, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    MPI_Get(&old, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    expect_eq(old, 6);
}

CASE(a_window_of_one_rank) {
    char *base;
    MPI_Win win;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    SKIP_IF(rc != MPI_SUCCESS && !test_served(), "this MPI makes no windows of one rank");
    expect_eq(rc, MPI_SUCCESS);
    memset(base, 0, WINDOW);
    use_alone(win);
    MPI_Win_free(&win);
}

CASE(created_window_of_one_rank) {
    char *memory = aligned_bytes(WINDOW);
    MPI_Win win;
    memset(memory, 0, WINDOW);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Win_create(memory, WINDOW, 4, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    SKIP_IF(rc != MPI_SUCCESS && !test_served(), "this MPI makes no windows of one rank");
    expect_eq(rc, MPI_SUCCESS);
    expect(attribute(win, MPI_WIN_BASE) == memory);
    expect_eq(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE), WINDOW);
    expect_eq(*(int *)attribute(win, MPI_WIN_DISP_UNIT), 4);
    expect_eq(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_CREATE);
    use_alone(win);
    MPI_Win_free(&win);
    free(memory);
}
