/* served_windows.c: tests that windows that Hearth serves behave like windows of the MPI below: attributes, names, groups,
 * handles, callbacks and errors, on several kinds of communicators, with many windows, large ones and empty ones.
 *
 * configs: serve serve1 serve2 servempi servedirect */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "serving.h"

enum { WINDOW = 4096 };

CASE(attributes) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 8, NULL);
    expect(attribute(w.win, MPI_WIN_BASE) == w.base);
    expect_eq(*(MPI_Aint *)attribute(w.win, MPI_WIN_SIZE), WINDOW);
    expect_eq(*(int *)attribute(w.win, MPI_WIN_DISP_UNIT), 8);
    expect_eq(*(int *)attribute(w.win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_ALLOCATE);
    if (test_served())
        expect_eq(*(int *)attribute(w.win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    MPI_Win second;
    MPI_Win_create(w.base + 64, WINDOW - 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    if (test_open_mpi()) /* MPICH 4.0 returns the base of the other window */
        expect(attribute(second, MPI_WIN_BASE) == w.base + 64);
    expect_eq(*(MPI_Aint *)attribute(second, MPI_WIN_SIZE), WINDOW - 64);
    expect_eq(*(int *)attribute(second, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&second);
    MPI_Win_free(&w.win);
}

/* Ranks of one node may load and store in each other's memory. */
static void query_and_store(const struct allocated *w, int size) {
    for (int rank = 0; rank < test_size; rank++) {
        MPI_Aint bytes = -1;
        int unit = -1;
        char *base = NULL;
        expect_eq(MPI_Win_shared_query(w->win, rank, &bytes, &unit, &base), MPI_SUCCESS);
        expect_eq(bytes, rank == 0 ? 0 : size * rank);
        expect_eq(unit, 1 + rank);
        expect(rank != test_rank || bytes == 0 || base == w->base);
        if (bytes)
            base[test_rank] = (char)(10 * rank + test_rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; test_rank && rank < test_size; rank++)
        expect_eq(w->base[rank], 10 * test_rank + rank);
}

CASE(shared_query) {
    struct allocated w;
    MPI_Aint bytes = -1;
    int unit = -1;
    char *base = NULL;
    if (!test_served())
        return;
    SKIP_IF(strcmp(test_config(), "serve") != 0, "each rank is on a node of its own");
    MPI_Win_allocate(test_rank * 128, 1 + test_rank, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
    query_and_store(&w, 128);
    expect_eq(MPI_Win_shared_query(w.win, MPI_PROC_NULL, &bytes, &unit, &base), MPI_SUCCESS);
    expect_eq(bytes, 128); /* of rank 1, the first with memory */
    if (expect(base != NULL))
        expect_eq(base[0], 10);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    expect(MPI_Win_shared_query(w.win, test_size, &bytes, &unit, &base) != MPI_SUCCESS);
    MPI_Win_free(&w.win);
}

CASE(names_groups_and_handles) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    char name[MPI_MAX_OBJECT_NAME];
    int length, result;
    MPI_Group of_window, of_world;
    MPI_Win_set_name(w.win, "counters");
    MPI_Win_get_name(w.win, name, &length);
    expect(strcmp(name, "counters") == 0);
    MPI_Win_get_group(w.win, &of_window);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    MPI_Group_compare(of_window, of_world, &result);
    expect_eq(result, MPI_IDENT);
    MPI_Group_free(&of_window);
    MPI_Group_free(&of_world);
    expect(MPI_Win_f2c(MPI_Win_c2f(w.win)) == w.win);
    MPI_Win_free(&w.win);
    expect(w.win == MPI_WIN_NULL);
}

static int deleted;

static int count_deletion(MPI_Win win, int key, void *value, void *state) {
    void *base;
    int flag;
    (void)key, (void)state;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag); /* the handle is still valid in the callback */
    deleted += flag && value == base;
    return MPI_SUCCESS;
}

CASE(attributes_of_the_program) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    int key;
    deleted = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &key, NULL);
    MPI_Win_set_attr(w.win, key, w.base);
    expect(attribute(w.win, key) == w.base);
    expect_eq(deleted, 0);
    MPI_Win_free(&w.win);
    expect_eq(deleted, 1);
    MPI_Win_free_keyval(&key);
}

CASE(info) {
    MPI_Info info, used;
    char *base;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "hearth_windows", "serve");
    MPI_Win_allocate(WINDOW, 1, info, MPI_COMM_WORLD, &base, &win);
    expect_eq(MPI_Win_get_info(win, &used), MPI_SUCCESS);
    MPI_Info_free(&used);
    expect_eq(MPI_Win_set_info(win, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* Alignments that Hearth has, and one that only the host may have. */
CASE(alignment_that_the_program_asks_for) {
    const int alignments[] = {64, 256, (int)sysconf(_SC_PAGESIZE), 1 << 21};
    for (int i = 0; i < 4; i++) {
        MPI_Info info;
        MPI_Win win;
        char *base, value[16];
        snprintf(value, sizeof value, "%d", alignments[i]);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", value);
        MPI_Win_allocate(64 * (test_rank + 1), 1, info, MPI_COMM_WORLD, &base, &win);
        if (test_served() && i < 3)
            expect_eq((uintptr_t)base % (uintptr_t)alignments[i], 0);
        memset(base, test_rank, 64);
        barrier();
        MPI_Info_free(&info);
        MPI_Win_free(&win);
    }
}

/* ---- errors ---- */

static int handled;

static void note_error(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    handled++;
}

CASE(error_handlers) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Errhandler handler, found;
    int value = 0;
    MPI_Win_create_errhandler(note_error, &handler);
    MPI_Win_set_errhandler(w.win, handler);
    MPI_Win_get_errhandler(w.win, &found);
    expect(found == handler);
    MPI_Errhandler_free(&found);
    handled = 0;
    MPI_Win_lock_all(0, w.win);
    int rc = MPI_Put(&value, 1, MPI_INT, test_size + 5, 0, 1, MPI_INT, w.win);
    expect(rc != MPI_SUCCESS || !test_errors_returned());
    expect_eq(handled, 1);
    rc = MPI_Accumulate(&value, 1, MPI_INT, peer(), 0, 1, MPI_INT, MPI_OP_NULL, w.win);
    expect(rc != MPI_SUCCESS || !test_errors_returned());
    expect_eq(handled, 2);
    if (test_served()) {
        expect(MPI_Get(&value, 1, MPI_INT, peer(), WINDOW, 1, MPI_INT, w.win) != MPI_SUCCESS);
        expect_eq(handled, 3);
    }
    MPI_Win_unlock_all(w.win);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&w.win);
}

/* Wrong calls. Each is made on a window that Hearth serves and on a window of the MPI below. */
typedef int mistake(MPI_Win win);
static int numbers[8];

static int put_to_no_rank(MPI_Win win) {
    return MPI_Put(numbers, 1, MPI_INT, test_size, 0, 1, MPI_INT, win);
}
static int put_negative_count(MPI_Win win) {
    return MPI_Put(numbers, -1, MPI_INT, peer(), 0, 1, MPI_INT, win);
}
static int put_negative_target_count(MPI_Win win) {
    return MPI_Put(numbers, 1, MPI_INT, peer(), 0, -1, MPI_INT, win);
}
static int put_no_type(MPI_Win win) {
    return MPI_Put(numbers, 1, MPI_DATATYPE_NULL, peer(), 0, 1, MPI_INT, win);
}
static int put_negative_place(MPI_Win win) {
    return MPI_Put(numbers, 1, MPI_INT, peer(), -8, 1, MPI_INT, win);
}
static int put_uncommitted(MPI_Win win) {
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    int rc = MPI_Put(numbers, 1, type, peer(), 0, 1, type, win);
    MPI_Type_free(&type);
    return rc;
}
static int get_no_target_type(MPI_Win win) {
    return MPI_Get(numbers, 1, MPI_INT, peer(), 0, 1, MPI_DATATYPE_NULL, win);
}
static int accumulate_to_no_rank(MPI_Win win) {
    return MPI_Accumulate(numbers, 1, MPI_INT, -77, 0, 1, MPI_INT, MPI_SUM, win);
}
static int accumulate_no_op(MPI_Win win) {
    return MPI_Accumulate(numbers, 1, MPI_INT, peer(), 0, 1, MPI_INT, MPI_OP_NULL, win);
}
static int accumulate_negative_count(MPI_Win win) {
    return MPI_Accumulate(numbers, -1, MPI_INT, peer(), 0, 1, MPI_INT, MPI_SUM, win);
}
static int accumulate_no_type(MPI_Win win) {
    return MPI_Accumulate(numbers, 1, MPI_DATATYPE_NULL, peer(), 0, 1, MPI_INT, MPI_SUM, win);
}
static void ignore(void *in, void *out, int *count, MPI_Datatype *type) {
    (void)in, (void)out, (void)count, (void)type;
}
static int accumulate_own_op(MPI_Win win) {
    MPI_Op op;
    MPI_Op_create(ignore, 1, &op);
    int rc = MPI_Accumulate(numbers, 1, MPI_INT, peer(), 0, 1, MPI_INT, op, win);
    MPI_Op_free(&op);
    return rc;
}
static int fetch_to_no_rank(MPI_Win win) {
    return MPI_Fetch_and_op(numbers, numbers + 1, MPI_INT, test_size, 0, MPI_SUM, win);
}
static int fetch_negative_result(MPI_Win win) {
    return MPI_Get_accumulate(numbers, 1, MPI_INT, numbers + 1, -1, MPI_INT, peer(), 0, 1, MPI_INT, MPI_SUM,
                              win);
}
static int swap_to_no_rank(MPI_Win win) {
    return MPI_Compare_and_swap(numbers, numbers + 1, numbers + 2, MPI_INT, test_size, 0, win);
}
static int lock_of_no_kind(MPI_Win win) {
    return MPI_Win_lock(12345, peer(), 0, win);
}
static int lock_no_rank(MPI_Win win) {
    return MPI_Win_lock(MPI_LOCK_SHARED, test_size, 0, win);
}
static int unlock_no_rank(MPI_Win win) {
    return MPI_Win_unlock(test_size, win);
}
static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

#define MISTAKE(name)                                                                                        \
    { #name, name }

static void compare_mistakes(MPI_Win served, MPI_Win host) {
    const struct {
        const char *name;
        mistake *make;
    } all[] = {
        MISTAKE(put_to_no_rank),
        MISTAKE(put_negative_count),
        MISTAKE(put_negative_target_count),
        MISTAKE(put_no_type),
        MISTAKE(put_negative_place),
        MISTAKE(put_uncommitted),
        MISTAKE(get_no_target_type),
        MISTAKE(accumulate_to_no_rank),
        MISTAKE(accumulate_no_op),
        MISTAKE(accumulate_negative_count),
        MISTAKE(accumulate_no_type),
        MISTAKE(accumulate_own_op),
        MISTAKE(fetch_to_no_rank),
        MISTAKE(swap_to_no_rank),
        MISTAKE(lock_of_no_kind),
        MISTAKE(lock_no_rank),
        MISTAKE(unlock_no_rank),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int got = class_of(all[i].make(served)), want = class_of(all[i].make(host));
        if (!expect_eq(got, want))
            printf("%s: class %d, the host's is %d\n", all[i].name, got, want);
    }
}

CASE(mistakes_have_the_class_of_the_host) {
    struct allocated served = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    struct allocated host = allocate_window(MPI_COMM_WORLD, WINDOW, 1, "host");
    MPI_Win_set_errhandler(served.win, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(host.win, MPI_ERRORS_RETURN);
    test_return_errors(true);
    MPI_Win_lock_all(0, served.win);
    MPI_Win_lock_all(0, host.win);
    compare_mistakes(served.win, host.win);
    if (test_served()) /* on its own window Open MPI crashes */
        expect_eq(class_of(fetch_negative_result(served.win)), MPI_ERR_COUNT);
    barrier();
    MPI_Win_unlock_all(host.win);
    MPI_Win_unlock_all(served.win);
    test_return_errors(false);
    MPI_Win_free(&host.win);
    MPI_Win_free(&served.win);
}

/* Errors of MPI_COMM_WORLD and MPI_COMM_SELF end the job. */
CASE(no_datatype_is_an_error_of_the_window) {
    SKIP_IF(!test_served(), "not all MPIs check the datatype");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w.win);
    const int results[] = {
        MPI_Accumulate(numbers, 1, MPI_INT, peer(), 0, 1, MPI_DATATYPE_NULL, MPI_SUM, w.win),
        MPI_Get_accumulate(numbers, 1, MPI_INT, numbers + 1, 1, MPI_INT, peer(), 0, 1, MPI_DATATYPE_NULL,
                           MPI_SUM, w.win),
        MPI_Fetch_and_op(numbers, numbers + 1, MPI_DATATYPE_NULL, peer(), 0, MPI_SUM, w.win),
        MPI_Compare_and_swap(numbers, numbers + 1, numbers + 2, MPI_DATATYPE_NULL, peer(), 0, w.win)};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        expect_eq(class_of(results[i]), MPI_ERR_TYPE);
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
}

/* ---- communicators ---- */

/* Adds to all ranks of the window and checks the sums. */
static void use_window(const struct allocated *w, MPI_Comm comm) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Win_lock_all(0, w->win);
    for (int target = 0; target < size; target++)
        add_number(w->win, target, 0, 1 + rank * 100 + target);
    MPI_Barrier(comm);
    int64_t before = get_number(w->win, rank, 0);
    expect_eq(before, (int64_t)size * (1 + rank) + 50 * (int64_t)size * (size - 1));
    MPI_Barrier(comm);
    MPI_Win_unlock_all(w->win);
}

CASE(reversed_ranks_and_halves) {
    MPI_Comm reversed, half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank * 2 >= test_size, 0, &half);
    struct allocated w = allocate_window(reversed, WINDOW, 1, NULL);
    use_window(&w, reversed);
    MPI_Win_free(&w.win);
    if (test_size >= 4 && !over_pt2pt()) {
        struct allocated h = allocate_window(half, WINDOW, 1, NULL);
        use_window(&h, half);
        MPI_Win_free(&h.win);
    }
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&half);
}

/* Ranks 0 and 2 run the helpers of the nodes of two ranks. A window of the others needs helpers of its own. */
CASE(every_other_rank) {
    SKIP_IF(test_size < 4, "needs 4 ranks");
    SKIP_IF(over_pt2pt() && !test_served(), "sibling communicators fail in osc pt2pt");
    MPI_Comm every_other;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &every_other);
    struct allocated all = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int round = 0; round < 2; round++) {
        struct allocated w = {.win = MPI_WIN_NULL};
        if (test_rank % 2 == 1)
            w = allocate_window(every_other, WINDOW, 1, NULL);
        use_window(&all, MPI_COMM_WORLD);
        memset(all.base, 0, sizeof(int64_t));
        if (test_rank % 2 == 1) {
            use_window(&w, every_other);
            MPI_Win_free(&w.win);
        }
        barrier();
    }
    MPI_Win_free(&all.win);
    MPI_Comm_free(&every_other);
}

/* Each half of the ranks has its own window. One window is then created over the memory of both, which no rank has mapped
 * completely. */
CASE(one_window_over_memory_of_two) {
    SKIP_IF(test_size < 4, "needs 4 ranks");
    MPI_Comm half;
    MPI_Win both;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank * 2 >= test_size, 0, &half);
    struct allocated h = allocate_window(half, WINDOW, 1, NULL);
    MPI_Win_create(h.base, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &both);
    MPI_Win_lock_all(0, both);
    add_number(both, (test_rank + 2) % test_size, 0, 1 + test_rank);
    barrier();
    expect_eq(get_number(both, test_rank, 0), 1 + (test_rank + test_size - 2) % test_size);
    barrier();
    MPI_Win_unlock_all(both);
    MPI_Win_free(&both);
    MPI_Win_free(&h.win);
    MPI_Comm_free(&half);
}

/* The program frees the communicator of a window of the MPI library. MPICH 4.0 numbers windows by their communicators: it
 * confuses two windows whose communicators had the same context, which it reuses. */
CASE(communicators_freed_before_their_windows) {
    MPI_Comm comm;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    struct allocated host = allocate_window(comm, WINDOW, 1, "host");
    MPI_Comm_free(&comm);
    struct allocated first = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    struct allocated second = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    use_window(&host, MPI_COMM_WORLD);
    const struct allocated *both[] = {&first, &second};
    for (int i = 0; i < 2; i++) {
        MPI_Win_post(all, 0, both[i]->win);
        MPI_Win_start(all, 0, both[i]->win);
    }
    for (int i = 1; i >= 0; i--) {
        int64_t value = 10 * i + test_rank;
        MPI_Put(&value, 1, MPI_INT64_T, (test_rank + 1) % test_size, 0, 1, MPI_INT64_T, both[i]->win);
        MPI_Win_complete(both[i]->win);
        MPI_Win_wait(both[i]->win);
        expect_eq(load_number(both[i], 0), 10 * i + (test_rank + test_size - 1) % test_size);
    }
    MPI_Group_free(&all);
    MPI_Win_free(&second.win);
    MPI_Win_free(&first.win);
    MPI_Win_free(&host.win);
}

/* ---- many, large, none ---- */

CASE(many_windows_freed_in_another_order) {
    enum { MANY = 6 };
    struct allocated w[MANY];
    const int order[MANY] = {3, 0, 5, 1, 4, 2};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            w[i] = allocate_window(MPI_COMM_WORLD, WINDOW << i, 1, NULL);
        for (int i = 0; i < MANY; i++) {
            MPI_Win_lock_all(0, w[order[i]].win);
            add_number(w[order[i]].win, peer(), i, 10 * i);
        }
        barrier();
        for (int i = 0; i < MANY; i++) {
            expect_eq(get_number(w[order[i]].win, test_rank, i), 10 * i);
            MPI_Win_unlock_all(w[order[i]].win);
            MPI_Win_free(&w[order[i]].win);
        }
    }
}

/* More than a process has locks for: further windows bring their own. MPI_COMM_SELF: nothing is exchanged. */
CASE(more_windows_than_locks) {
    enum { MANY = 600 };
    SKIP_IF(test_open_mpi(), "Open MPI 4 has no windows of one rank");
    SKIP_IF(!test_served(), "MPICH 4.0 crashes in the lock of one of many windows of one rank");
    static MPI_Win many[MANY];
    static int64_t number;
    for (int i = 0; i < MANY; i++)
        MPI_Win_create(&number, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &many[i]);
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    use_window(&w, MPI_COMM_WORLD);
    MPI_Win_free(&w.win);
    for (int i = 0; i < MANY; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, many[i]);
        add_number(many[i], 0, 0, 1);
        MPI_Win_unlock(0, many[i]);
        MPI_Win_free(&many[i]);
    }
    expect_eq(number, MANY);
    number = 0;
}

CASE(windows_without_memory) {
    char *base;
    MPI_Win win;
    MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Put(NULL, 0, MPI_INT, peer(), 0, 0, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer(), 0, win);
    MPI_Win_unlock(peer(), win);
    MPI_Win_free(&win);
}

/* More memory than any machine has: the call returns an error, and the job continues. */
CASE(more_memory_than_there_is) {
    SKIP_IF(!test_served(), "the MPI below ends the job, or hangs");
    char *base;
    MPI_Win win;
    test_return_errors(true);
    int rc = MPI_Win_allocate((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    expect_eq(class_of(rc), MPI_ERR_NO_MEM);
    test_return_errors(false);
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    use_window(&w, MPI_COMM_WORLD);
    MPI_Win_free(&w.win);
}
