/* osu_windows.c: operations of rank 0 on the memory of rank 1, in one kind of window at a time. Rank 1 waits in MPI_Bcast, so that
 * the host MPI progresses there, or takes part in fences and post-start-complete-wait. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osu.h"
#include "sample.h"

enum memory { ALLOCATE, CREATE, DYNAMIC };
enum { ORIGIN, TARGET, FILLED = 3, FIRST_GETS = 400 };

static enum memory memory;
static MPI_Win win;
static char *exposed, *created;
static MPI_Aint base; /* the displacement of the first byte of the target's memory */
static MPI_Group other;

static const char *memory_name(void) {
    static const char *const names[] = {"allocate", "create", "dynamic"};
    return names[memory];
}

/* ---- windows ---- */

static void window_open(size_t bytes) {
    MPI_Aint size = (MPI_Aint)bytes;
    base = 0;
    if (memory == ALLOCATE) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
        return;
    }
    exposed = created;
    if (memory == CREATE) {
        MPI_Win_create(exposed, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        return;
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, exposed, size);
    MPI_Get_address(exposed, &base);
    MPI_Bcast(&base, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
}

static void window_close(void) {
    if (memory == DYNAMIC)
        MPI_Win_detach(win, exposed);
    MPI_Win_free(&win);
}

/* ---- operations ---- */

static void get(size_t bytes, size_t offset) {
    MPI_Get(osu_in + offset, (int)bytes, MPI_BYTE, TARGET, base + (MPI_Aint)offset, (int)bytes, MPI_BYTE,
            win);
}

static void put(size_t bytes, size_t offset) {
    MPI_Put(osu_out + offset, (int)bytes, MPI_BYTE, TARGET, base + (MPI_Aint)offset, (int)bytes, MPI_BYTE,
            win);
}

static void accumulate(size_t bytes, size_t offset) {
    int count = (int)(bytes / 8);
    MPI_Accumulate(osu_out + offset, count, MPI_DOUBLE, TARGET, base + (MPI_Aint)offset, count, MPI_DOUBLE,
                   MPI_SUM, win);
}

static void get_accumulate(size_t bytes, size_t offset) {
    int count = (int)(bytes / 8);
    MPI_Get_accumulate(osu_out + offset, count, MPI_DOUBLE, osu_in + offset, count, MPI_DOUBLE, TARGET,
                       base + (MPI_Aint)offset, count, MPI_DOUBLE, MPI_SUM, win);
}

static void fetch_and_op(size_t bytes, size_t offset) {
    (void)bytes;
    MPI_Fetch_and_op(osu_out, osu_in + offset, MPI_INT64_T, TARGET, base + (MPI_Aint)offset, MPI_SUM, win);
}

static void compare_and_swap(size_t bytes, size_t offset) {
    (void)bytes;
    MPI_Compare_and_swap(osu_out, osu_out + 8, osu_in + offset, MPI_INT64_T, TARGET, base + (MPI_Aint)offset,
                         win);
}

static const struct operation {
    const char *name;
    void (*call)(size_t bytes, size_t offset);
    bool one_element;
} operations[] = {
    {"get", get, false},
    {"put", put, false},
    {"accumulate", accumulate, false},
    {"get_accumulate", get_accumulate, false},
    {"fetch_and_op", fetch_and_op, true},
    {"compare_and_swap", compare_and_swap, true},
};

/* ---- epochs ---- */

static void nothing(void) {
}

static void lock_all(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_lock_all(0, win);
}

static void unlock_all(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_unlock_all(win);
}

static void flush(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_flush(TARGET, win);
}

static void lock(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
}

static void unlock(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_unlock(TARGET, win);
}

static void fence(void) {
    MPI_Win_fence(0, win);
}

static void start_or_post(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_start(other, 0, win);
    else
        MPI_Win_post(other, 0, win);
}

static void complete_or_wait(void) {
    if (osu_rank == ORIGIN)
        MPI_Win_complete(win);
    else
        MPI_Win_wait(win);
}

static const struct epoch {
    const char *name;
    void (*open)(void), (*begin)(void), (*end)(void), (*close)(void);
    bool active; /* the target takes part */
} epochs[] = {
    {"flush", lock_all, nothing, flush, unlock_all, false},
    {"lock", nothing, lock, unlock, nothing, false},
    {"fence", fence, nothing, fence, nothing, true},
    {"pscw", nothing, start_or_post, complete_or_wait, nothing, true},
};

/* ---- cells ---- */

static const struct operation *operation;
static const struct epoch *epoch;

static double execute_each(size_t bytes, int times, int window) {
    double start = osu_now();
    for (int i = 0; i < times && (osu_rank == ORIGIN || epoch->active); i++) {
        epoch->begin();
        for (int k = 0; k < window && osu_rank == ORIGIN; k++)
            operation->call(bytes, (size_t)k * bytes);
        epoch->end();
    }
    return osu_now() - start;
}

static double one(size_t bytes, int times) {
    return execute_each(bytes, times, 1);
}

static double many(size_t bytes, int times) {
    return execute_each(bytes, times, osu_window(bytes));
}

static void name_cell(char *name, size_t room, const char *kind) {
    snprintf(name, room, "%s%s.%s.%s", operation->name, kind, epoch->name, memory_name());
}

static void measure_size(size_t bytes) {
    char name[64];
    name_cell(name, sizeof name, "");
    osu_measure(name, bytes, 1, one);
    name_cell(name, sizeof name, "_bw");
    if (!operation->one_element)
        osu_measure(name, bytes, osu_window(bytes), many);
}

/* Open MPI 4 crashes at the target in MPI_Compare_and_swap on memory of MPI_Win_allocate. */
static bool is_broken(void) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    return operation->call == compare_and_swap && memory == ALLOCATE && !osu_between_nodes;
#else
    return false;
#endif
}

static void measure_epoch(void) {
    epoch->open();
    for (operation = operations; operation < operations + sizeof operations / sizeof *operations; operation++)
        for (size_t bytes = osu_first(8, MOST_BYTES); bytes && !is_broken();
             bytes = operation->one_element ? 0 : osu_next(bytes, MOST_BYTES))
            measure_size(operation->one_element ? 8 : bytes);
    epoch->close();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- operations with requests, and what a window costs as such ---- */

static double rget(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times && osu_rank == ORIGIN; i++) {
        MPI_Request request;
        MPI_Rget(osu_in, (int)bytes, MPI_BYTE, TARGET, base, (int)bytes, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return osu_now() - start;
}

static double rput(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times && osu_rank == ORIGIN; i++) {
        MPI_Request request;
        MPI_Rput(osu_out, (int)bytes, MPI_BYTE, TARGET, base, (int)bytes, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    flush();
    return osu_now() - start;
}

static void measure_requests(void) {
    char names[2][64];
    snprintf(names[0], sizeof names[0], "rget.%s", memory_name());
    snprintf(names[1], sizeof names[1], "rput.%s", memory_name());
    lock_all();
    for (size_t bytes = osu_first(8, MOST_BYTES); bytes; bytes = osu_next(bytes, MOST_BYTES)) {
        osu_measure(names[0], bytes, 1, rget);
        osu_measure(names[1], bytes, 1, rput);
    }
    unlock_all();
}

static double open_and_close(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times; i++) {
        window_open(bytes);
        window_close();
    }
    return osu_now() - start;
}

/* The first gets of a new window, of which Hearth learns whether its cache pays. */
static double first_gets(size_t bytes, int times) {
    double seconds = 0;
    for (int i = 0; i < times; i++) {
        window_open(bytes * FIRST_GETS);
        lock_all();
        MPI_Barrier(MPI_COMM_WORLD);
        double start = osu_now();
        for (size_t k = 0; k < FIRST_GETS && osu_rank == ORIGIN; k++) {
            get(bytes, k * bytes);
            flush();
        }
        seconds += osu_now() - start;
        unlock_all();
        window_close();
    }
    return seconds;
}

static void measure_new_windows(void) {
    char name[64];
    snprintf(name, sizeof name, "open_close.%s", memory_name());
    osu_measure(name, BLOCK / 8, 1, open_and_close);
    if (memory == DYNAMIC) /* Open MPI 4 refuses them there: MPI_ERR_RMA_RANGE */
        return;
    snprintf(name, sizeof name, "first_gets.%s", memory_name());
    osu_measure(name, 8, FIRST_GETS, first_gets);
}

/* ---- all of them ---- */

static void check_gets(void) {
    memset(osu_in, 0, 64);
    memset(exposed, FILLED, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    lock_all();
    if (osu_rank == ORIGIN) {
        get(64, 0);
        flush();
        osu_check(osu_in[0] == FILLED && osu_in[63] == FILLED, "MPI_Get");
        put(64, 64);
        flush();
        get(64, 64);
        flush();
        osu_check(!memcmp(osu_in + 64, osu_out + 64, 64), "MPI_Put");
    }
    unlock_all();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure_memory(enum memory m) {
    MPI_Group world;
    int rank = 1 - osu_rank;
    memory = m;
    created = need(aligned_alloc(4096, BLOCK));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &other);
    measure_new_windows();
    window_open(BLOCK);
    memset(exposed, 0, BLOCK);
    memset(osu_out, 0, BLOCK); /* doubles that stay 0, so that no sum overflows */
    check_gets();
    for (epoch = epochs; epoch < epochs + sizeof epochs / sizeof *epochs; epoch++)
        measure_epoch();
    measure_requests();
    window_close();
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    free(created);
}

void osu_allocate(void) {
    measure_memory(ALLOCATE);
}

void osu_create(void) {
    measure_memory(CREATE);
}

void osu_dynamic(void) {
    measure_memory(DYNAMIC);
}
