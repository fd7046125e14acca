/* served_auto.c: tests windows with hearth_windows=auto: on several communicators, created one after the other and at once, over all
 * kinds of memory. Where the ranks share the memory of a window, they are served if the MPI below needs calls at the target: whatever
 * was decided there, a get from a rank that computes must not wait for it.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdlib.h>
#include <time.h>

#include "serving.h"

enum { WINDOW = 4096 };

static double seconds(void) { /* not an MPI call: the MPI below makes no progress in it */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static MPI_Info auto_info(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "hearth_windows", "auto");
    MPI_Info_set(info, "clampi_mode", "off");
    return info;
}

/* Adds to all ranks of the window and checks the sums. */
static void use_window(MPI_Win win, MPI_Comm comm) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Win_lock_all(0, win);
    for (int target = 0; target < size; target++)
        add_number(win, target, 0, 1 + rank * 100 + target);
    MPI_Barrier(comm);
    expect_eq(get_number(win, rank, 0), (int64_t)size * (1 + rank) + 50 * (int64_t)size * (size - 1));
    MPI_Barrier(comm);
    MPI_Win_unlock_all(win);
}

/* Whether all ranks are on one node: in the other configurations each is a node. MPICH counts them as nodes over TCP. */
static bool is_one_node(void) {
    const char *apart = getenv("MPIR_CVAR_NOLOCAL");
    return !strcmp(test_config(), "serve") && !(apart && strcmp(apart, "0") != 0);
}

/* Rank 1 computes; rank 0 gets from it. The best of a few attempts counts: on a busy machine rank 0 may lose its core. With
 * more ranks than cores Hearth may be unable to measure the MPI below, and leaves the window to it. */
static void get_from_computing(MPI_Win win, bool shares_memory) {
    enum { ATTEMPTS = 3 };
    const double compute = 0.06;
    double best = compute;
    MPI_Win_lock_all(0, win);
    if (test_rank == 0)
        get_number(win, 1, 1); /* opens connections */
    for (int i = 0; i < ATTEMPTS; i++) {
        barrier();
        if (test_rank == 0) {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            double start = seconds();
            get_number(win, 1, 1);
            double took = seconds() - start;
            best = took < best ? took : best;
        } else if (test_rank == 1) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            for (double end = seconds() + compute; seconds() < end;)
                ;
        }
    }
    barrier();
    MPI_Win_unlock_all(win);
    expect(test_rank > 0 || test_size > 2 || !shares_memory || best < compute / 2);
}

CASE(allocated_windows_progress) {
    MPI_Info info = auto_info();
    char *base;
    MPI_Win win;
    MPI_Win_allocate(WINDOW, 1, info, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, WINDOW);
    barrier();
    use_window(win, MPI_COMM_WORLD);
    get_from_computing(win, is_one_node());
    MPI_Win_free(&win);
    MPI_Info_free(&info);
}

CASE(created_windows_progress) {
    MPI_Info info = auto_info();
    for (int kind = 0; kind < 2; kind++) {
        char *base;
        MPI_Win win;
        if (kind)
            MPI_Alloc_mem(WINDOW, info, &base);
        else
            base = aligned_bytes(WINDOW);
        memset(base, 0, WINDOW);
        MPI_Win_create(base, WINDOW, 1, info, MPI_COMM_WORLD, &win);
        barrier();
        use_window(win, MPI_COMM_WORLD);
        get_from_computing(win, kind && is_one_node());
        MPI_Win_free(&win);
        if (kind)
            MPI_Free_mem(base);
        else
            free(base);
    }
    MPI_Info_free(&info);
}

static void check_group(MPI_Comm comm) {
    struct allocated w = allocate_window(comm, WINDOW, 1, "auto");
    use_window(w.win, comm);
    MPI_Win_free(&w.win);
}

/* Open MPI 4 cannot create both windows at once: its processes then open a file that is not there. */
static void check_halves(void) {
    int second = test_rank * 2 >= test_size;
    bool in_turn = test_open_mpi_major() == 4;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, second, 0, &half);
    if (in_turn && second)
        barrier();
    check_group(half);
    if (in_turn && !second)
        barrier();
    MPI_Comm_free(&half);
}

CASE(any_order_and_groups_at_once) {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    if (test_size >= 4 && !over_pt2pt())
        check_halves();
    check_group(reversed);
    if (test_size >= 3 && !over_pt2pt()) { /* a group, of which some ranks are in a window already */
        MPI_Comm most;
        MPI_Comm_split(MPI_COMM_WORLD, test_rank > 0, 0, &most);
        if (test_rank > 0)
            check_group(most);
        MPI_Comm_free(&most);
    }
    MPI_Comm_free(&reversed);
}

/* A window of one rank stays with the MPI below, which may refuse it. */
CASE(one_rank) {
    struct allocated w = {.win = MPI_WIN_NULL};
    MPI_Info info = auto_info();
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    if (MPI_Win_allocate(WINDOW, 1, info, self, &w.base, &w.win) == MPI_SUCCESS) {
        memset(w.base, 0, WINDOW);
        use_window(w.win, self);
        MPI_Win_free(&w.win);
    }
    MPI_Comm_free(&self);
    MPI_Info_free(&info);
}
