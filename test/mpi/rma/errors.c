/* errors.c: tests that errors are reported with the cache as without it: the error class of the MPI below, through
 * the window's error handler, and the window stays usable. This holds also where the cache could serve the call
 * itself. Only errors that both MPIs report without harm are tried. */
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { WINDOW = 4096 };

static unsigned char got[2 * WINDOW];

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

#define expect_error(call, class) expect_eq(class_of(call), class)

static struct window make_lenient(const char *mode) {
    struct window w = make_window(WINDOW, mode);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    test_return_errors(true);
    return w;
}

static void free_lenient(struct window *w) {
    test_return_errors(false);
    free_window(w);
}

static int get(struct window *w, int target, MPI_Aint at, int bytes) {
    return MPI_Get(got, bytes, MPI_BYTE, target, at, bytes, MPI_BYTE, w->win);
}

/* A correct get, twice. */
static void expect_working(struct window *w) {
    for (int i = 0; i < 2; i++) {
        memset(got, 0, sizeof got);
        expect_eq(get(w, peer(), 64, 500), MPI_SUCCESS);
        expect_eq(MPI_Win_flush(peer(), w->win), MPI_SUCCESS);
        expect_pattern(got, 500, peer(), 64, 0);
    }
}

static void bad_arguments(struct window *w) {
    MPI_Request request;
    MPI_Datatype raw;
    expect_error(get(w, -77, 64, 8), MPI_ERR_RANK);
    expect_error(get(w, test_size, 64, 8), MPI_ERR_RANK);
    expect_error(get(w, peer(), -8, 8), MPI_ERR_DISP);
    expect_error(get(w, peer(), 64, -1), MPI_ERR_COUNT);
    expect_error(MPI_Get(got, 8, MPI_BYTE, peer(), 64, -1, MPI_BYTE, w->win), MPI_ERR_COUNT);
    expect_error(MPI_Get(got, 8, MPI_DATATYPE_NULL, peer(), 64, 8, MPI_BYTE, w->win), MPI_ERR_TYPE);
    expect_error(MPI_Get(got, 8, MPI_BYTE, peer(), 64, 8, MPI_DATATYPE_NULL, w->win), MPI_ERR_TYPE);
    MPI_Type_vector(2, 4, 8, MPI_BYTE, &raw);
    expect_error(MPI_Get(got, 1, raw, peer(), 64, 8, MPI_BYTE, w->win), MPI_ERR_TYPE);
    MPI_Type_free(&raw);
    expect_error(MPI_Rget(got, 8, MPI_BYTE, -77, 64, 8, MPI_BYTE, w->win, &request), MPI_ERR_RANK);
    expect_error(MPI_Rget(got, -8, MPI_BYTE, peer(), 64, 8, MPI_BYTE, w->win, &request), MPI_ERR_COUNT);
    expect_error(MPI_Put(got, 8, MPI_BYTE, -77, 64, 8, MPI_BYTE, w->win), MPI_ERR_RANK);
    expect_error(MPI_Put(got, -8, MPI_BYTE, peer(), 64, 8, MPI_BYTE, w->win), MPI_ERR_COUNT);
    expect_error(MPI_Accumulate(got, 1, MPI_INT, peer(), 64, 1, MPI_INT, MPI_OP_NULL, w->win), MPI_ERR_OP);
}

CASE(bad_arguments) {
    const char *modes[] = {"transparent", "always", "off"};
    for (int i = 0; i < 3; i++) {
        struct window w = make_lenient(modes[i]);
        MPI_Win_lock_all(0, w.win);
        bad_arguments(&w);
        expect_working(&w);
        bad_arguments(&w);
        expect_working(&w);
        barrier();
        MPI_Win_unlock_all(w.win);
        free_lenient(&w);
    }
}

/* The data is cached, but the get is outside an epoch. */
CASE(outside_an_epoch) {
    struct window w = make_lenient("always");
    MPI_Request request;
    for (int i = 0; i < 2; i++) {
        expect_error(get(&w, peer(), 64, 500), MPI_ERR_RMA_SYNC);
        expect_error(MPI_Rget(got, 500, MPI_BYTE, peer(), 64, 500, MPI_BYTE, w.win, &request),
                     MPI_ERR_RMA_SYNC);
        expect_error(MPI_Win_flush(peer(), w.win), MPI_ERR_RMA_SYNC);
        expect_error(MPI_Win_unlock(peer(), w.win), MPI_ERR_RMA_SYNC);
        expect_error(MPI_Win_lock(MPI_LOCK_SHARED, test_size + 3, 0, w.win), MPI_ERR_RANK);
        MPI_Win_lock_all(0, w.win);
        expect_working(&w);
        barrier();
        MPI_Win_unlock_all(w.win);
    }
    free_lenient(&w);
}

/* Open MPI checks the range except in osc pt2pt; MPICH does not. */
CASE(beyond_the_window) {
    SKIP_IF(!test_open_mpi(), "this MPI does not check the range");
    SKIP_IF(over_pt2pt(), "osc pt2pt does not check the range");
    struct window w = make_lenient("always");
    MPI_Win_lock_all(0, w.win);
    expect_error(get(&w, peer(), WINDOW + 64, 8), MPI_ERR_RMA_RANGE);
    expect_error(get(&w, peer(), (MPI_Aint)1 << 40, 8), MPI_ERR_RMA_RANGE);
    expect_eq(get(&w, peer(), WINDOW - 64, 64), MPI_SUCCESS);
    expect_eq(MPI_Win_flush(peer(), w.win), MPI_SUCCESS);
    expect_error(get(&w, peer(), WINDOW - 64, 128), MPI_ERR_RMA_RANGE);
    expect_eq(MPI_Win_flush(peer(), w.win), MPI_SUCCESS);
    expect_error(get(&w, peer(), WINDOW - 64, 128), MPI_ERR_RMA_RANGE);
    memset(got, 0, sizeof got);
    expect_eq(get(&w, peer(), WINDOW - 64, 64), MPI_SUCCESS);
    expect_eq(MPI_Win_flush(peer(), w.win), MPI_SUCCESS);
    expect_pattern(got, 64, peer(), WINDOW - 64, 0);
    expect_working(&w);
    barrier();
    MPI_Win_unlock_all(w.win);
    free_lenient(&w);
}

CASE(no_window) {
    struct window w = make_lenient("always");
    MPI_Win none = MPI_WIN_NULL;
    expect_error(MPI_Get(got, 8, MPI_BYTE, peer(), 0, 8, MPI_BYTE, none), MPI_ERR_WIN);
    expect_error(MPI_Win_flush(peer(), none), MPI_ERR_WIN);
    expect_error(MPI_Win_lock_all(0, none), MPI_ERR_WIN);
    expect_error(MPI_Win_free(&none), MPI_ERR_WIN);
    free_lenient(&w);
}

/* A stale handle. Open MPI handles are pointers that would be dereferenced. */
CASE(freed_window) {
    SKIP_IF(test_open_mpi(), "Open MPI dereferences the stale handle");
    struct window w = make_lenient("always"), again;
    MPI_Win stale = w.win;
    MPI_Win_lock_all(0, w.win);
    expect_working(&w);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
    expect(MPI_Get(got, 8, MPI_BYTE, peer(), 64, 8, MPI_BYTE, stale) != MPI_SUCCESS);
    expect(MPI_Win_flush(peer(), stale) != MPI_SUCCESS);
    again = make_window(WINDOW, "always");
    MPI_Win_lock_all(0, again.win);
    expect_working(&again);
    barrier();
    MPI_Win_unlock_all(again.win);
    if (!test_served())
        free(w.base);
    free_lenient(&again);
}

CASE(bad_windows) {
    struct window w = make_lenient("always");
    MPI_Win bad;
    void *base;
    expect_error(MPI_Win_create(w.base, -64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bad), MPI_ERR_SIZE);
    expect_error(MPI_Win_create(w.base, 64, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &bad), MPI_ERR_DISP);
    expect_error(MPI_Win_create(w.base, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &bad), MPI_ERR_COMM);
    expect_error(MPI_Win_allocate(-64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &bad), MPI_ERR_SIZE);
    expect(MPI_Win_set_info(w.win, MPI_INFO_NULL) != MPI_SUCCESS);
    MPI_Win_lock_all(0, w.win);
    expect_working(&w);
    barrier();
    MPI_Win_unlock_all(w.win);
    free_lenient(&w);
}

static int handled, handled_class;
static MPI_Win handled_window;

static void handle(MPI_Win *win, int *code, ...) {
    handled++;
    handled_class = class_of(*code);
    handled_window = *win;
}

/* The handler is called once for each error, with the window. */
CASE(users_error_handler) {
    struct window w = make_window(WINDOW, "always");
    MPI_Errhandler ours;
    MPI_Win_create_errhandler(handle, &ours);
    MPI_Win_set_errhandler(w.win, ours);
    MPI_Errhandler_free(&ours);
    handled = 0;
    MPI_Win_lock_all(0, w.win);
    expect_working(&w);
    get(&w, -77, 64, 8);
    expect_eq(handled, 1);
    expect_eq(handled_class, MPI_ERR_RANK);
    expect(handled_window == w.win);
    get(&w, peer(), 64, -1);
    expect_eq(handled, 2);
    expect_eq(handled_class, MPI_ERR_COUNT);
    expect_working(&w);
    barrier();
    MPI_Win_unlock_all(w.win);
    get(&w, peer(), 64, 500);
    expect_eq(handled, 3);
    expect_eq(handled_class, MPI_ERR_RMA_SYNC);
    free_window(&w);
    expect_eq(handled, 3);
}

CASE(calls_of_the_cache) {
    int (*invalidate)(MPI_Win) = (int (*)(MPI_Win))dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
    int (*set_mode)(MPI_Win, int) = (int (*)(MPI_Win, int))dlsym(RTLD_DEFAULT, "CLAMPI_Set_mode");
    int (*get_stats)(MPI_Win, CLAMPI_Stats *) =
        (int (*)(MPI_Win, CLAMPI_Stats *))dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    CLAMPI_Stats s;
    SKIP_IF(!invalidate || !set_mode || !get_stats, "Hearth is not loaded");
    struct window w = make_lenient("always");
    expect(invalidate(MPI_WIN_NULL) != MPI_SUCCESS);
    expect(set_mode(MPI_WIN_NULL, CLAMPI_ALWAYS) != MPI_SUCCESS);
    expect(get_stats(MPI_WIN_NULL, &s) != MPI_SUCCESS);
    expect(get_stats(w.win, NULL) != MPI_SUCCESS);
    expect(set_mode(w.win, -1) != MPI_SUCCESS);
    expect_eq(invalidate(w.win), MPI_SUCCESS);
    free_lenient(&w);
}
