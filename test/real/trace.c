/* trace.c: a preload that records the events on which mode acquire depends; trace.awk replays them and computes how
 * many gets the rule allows to be served. It is independent of the library under test, and is preloaded in front of
 * it in the same run, so that both see the same calls.
 *
 * One line per event goes to $TRACE_FILE.RANK, for one-sided calls to other ranks than this one:
 *
 *      G window target place first end     a get within these bytes, issued; place: displacement and layout
 *      S                                   a get so small that it counts as an atomic
 *      W window target first end           a write within these bytes
 *      C window                            a call has completed what was issued
 *      F window                            ... including an atomic: a sync event, unless atomics are quiet
 *      A call                              any other call that may be a sync event
 *
 * Equal consecutive lines A are written once. Which calls are sync events is derived from mpi.h and the list of those
 * that are not (sync_calls.awk, nonsync.txt), apart from the calls below. Gets with requests are not recorded as
 * gets: their calls and their completion count as sync events, so that for programs that use them the result is too
 * low. For one thread. */
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SMALL: size in bytes up to which a get by MPI_NO_OP may read a flag */
enum { MOST_WINDOWS = 4096, SMALL = 32 };

/* ISSUED: an operation is pending; SETTLED: an operation was completed since the lock */
enum { ISSUED = 1, SETTLED = 2 };

struct window {
    MPI_Win handle;
    bool open;
    int rank, unit;               /* of this process in it */
    int ranks;                    /* of all processes in it */
    unsigned char *state;         /* per rank */
    bool getting, fetching, used; /* pending: gets, atomics, anything */
};

static struct window windows[MOST_WINDOWS];
static unsigned window_count;
static FILE *out;
static char last_news[64];

/* ---- the file ---- */

static bool is_open(void) {
    const char *name = getenv("TRACE_FILE");
    int started = 0, rank;
    char path[4096];
    if (out || !name)
        return out;
    PMPI_Initialized(&started);
    if (!started)
        return false;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", name, rank);
    out = fopen(path, "w");
    if (!out) {
        perror(path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return out;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list args;
    if (!is_open())
        return;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    last_news[0] = 0;
}

static void note_sync_event(const char *call) {
    if (!strcmp(last_news, call))
        return;
    note("A %s\n", call);
    snprintf(last_news, sizeof last_news, "%s", call);
}

/* ---- windows ---- */

static struct window *add_window(MPI_Win win) {
    MPI_Group group;
    if (window_count == MOST_WINDOWS) {
        fprintf(stderr, "trace: more than %d windows\n", MOST_WINDOWS);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    struct window *w = &windows[window_count++];
    *w = (struct window){.handle = win, .open = true};
    PMPI_Win_get_group(win, &group);
    PMPI_Group_rank(group, &w->rank);
    PMPI_Group_size(group, &w->ranks);
    w->state = calloc((size_t)w->ranks, 1);
    if (!w->state)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Group_free(&group);
    int *unit, known;
    PMPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &known);
    w->unit = known ? *unit : 1; /* the programs of this test use the same unit on all ranks */
    return w;
}

/* A handle may be reused for another window after it was freed. */
static struct window *find(MPI_Win win) {
    for (unsigned i = window_count; i-- > 0;)
        if (windows[i].handle == win && windows[i].open)
            return &windows[i];
    return add_window(win);
}

static unsigned number(const struct window *w) {
    return (unsigned)(w - windows);
}

/* ---- layouts ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

static bool is_named(MPI_Datatype type) {
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* The same for types that were made in the same way. */
static uint64_t hash_type(MPI_Datatype type) {
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (is_named(type))
        return mix(1, (uint64_t)(uintptr_t)type);
    int *number_list = calloc((size_t)integers + 1, sizeof *number_list);
    MPI_Aint *address_list = calloc((size_t)addresses + 1, sizeof *address_list);
    MPI_Datatype *type_list = calloc((size_t)types + 1, sizeof *type_list);
    if (!number_list || !address_list || !type_list)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Type_get_contents(type, integers, addresses, types, number_list, address_list, type_list);
    uint64_t hash = mix(2, (uint64_t)combiner);
    for (int i = 0; i < integers; i++)
        hash = mix(hash, (uint64_t)number_list[i]);
    for (int i = 0; i < addresses; i++)
        hash = mix(hash, (uint64_t)address_list[i]);
    for (int i = 0; i < types; i++) {
        hash = mix(hash, hash_type(type_list[i]));
        if (!is_named(type_list[i]))
            PMPI_Type_free(&type_list[i]);
    }
    free(number_list);
    free(address_list);
    free(type_list);
    return hash;
}

/* ---- one-sided calls ---- */

static uint64_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

/* The bytes between the first and the last one, including holes in the layout. */
static void find_bounds(const struct window *w, MPI_Aint disp, int count, MPI_Datatype type, intmax_t *first,
                        intmax_t *end) {
    MPI_Aint low, extent, true_low, true_extent;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    *first = disp * w->unit + true_low;
    *end = *first + true_extent + (count - 1) * extent;
}

static struct window *note_issued(MPI_Win win, int target) {
    struct window *w = find(win);
    w->used = true;
    if (target >= 0 && target < w->ranks)
        w->state[target] |= ISSUED;
    return w;
}

static void note_get(MPI_Win win, int target, MPI_Aint disp, int count, MPI_Datatype type) {
    struct window *w = note_issued(win, target);
    intmax_t first, end;
    if (target == w->rank || count <= 0)
        return;
    w->getting = true;
    find_bounds(w, disp, count, type, &first, &end);
    note("G %u %d %" PRIdMAX ":%d:%" PRIx64 " %" PRIdMAX " %" PRIdMAX "\n", number(w), target, (intmax_t)disp,
         count, hash_type(type), first, end);
}

static void note_write(MPI_Win win, int target, MPI_Aint disp, int count, MPI_Datatype type) {
    struct window *w = note_issued(win, target);
    intmax_t first, end;
    if (target == w->rank || count <= 0)
        return;
    find_bounds(w, disp, count, type, &first, &end);
    note("W %u %d %" PRIdMAX " %" PRIdMAX "\n", number(w), target, first, end);
}

/* A value from this process's own memory may be a sync event too. */
static void note_fetch(MPI_Win win, int target) {
    note_issued(win, target)->fetching = true;
}

/* Returns whether this process knows only now that it holds the lock: some MPIs return from MPI_Win_lock before that. */
static bool settle(struct window *w, int target) {
    bool unsettled = w->state[target] == ISSUED;
    w->state[target] = w->state[target] & ISSUED ? SETTLED : w->state[target];
    return unsettled;
}

/* Called after the call. target: -1 for all. Programs poll by a full flush with nothing pending. */
static void note_completed(MPI_Win win, int target, bool may_poll) {
    struct window *w = find(win);
    bool news = may_poll && !w->used;
    for (int t = 0; t < w->ranks; t++)
        news |= (target < 0 || t == target) && settle(w, t);
    if (news)
        note_sync_event("MPI_Win_flush");
    if (w->fetching)
        note("F %u\n", number(w));
    if (w->getting)
        note("C %u\n", number(w));
    w->getting = w->fetching = w->used = false;
}

static void note_locked(MPI_Win win) {
    struct window *w = find(win);
    note_sync_event("MPI_Win_lock");
    memset(w->state, 0, (size_t)w->ranks);
}

/* The next definition of the function, of type int name params. */
#define NEXT_NAMED(name, params)                                                                             \
    static int(*next) params;                                                                                \
    if (!next)                                                                                               \
        *(void **)&next = dlsym(RTLD_NEXT, name);
#define NEXT(name, params) NEXT_NAMED("MPI_" #name, params)

int MPI_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int count,
            MPI_Datatype type, MPI_Win win) {
    NEXT(Get, (void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win))
    note_get(win, target, disp, count, type);
    return next(origin, ocount, otype, target, disp, count, type, win);
}

int MPI_Get_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                       MPI_Datatype rtype, int target, MPI_Aint disp, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Win win) {
    NEXT(Get_accumulate, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Aint, int,
                          MPI_Datatype, MPI_Op, MPI_Win))
    if (op == MPI_NO_OP && bytes_of(count, type) > SMALL) {
        note_get(win, target, disp, count, type);
    } else {
        if (op == MPI_NO_OP)
            note("S\n");
        else
            note_write(win, target, disp, count, type);
        note_fetch(win, target);
    }
    return next(origin, ocount, otype, result, rcount, rtype, target, disp, count, type, op, win);
}

int MPI_Put(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int count,
            MPI_Datatype type, MPI_Win win) {
    NEXT(Put, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win))
    note_write(win, target, disp, count, type);
    return next(origin, ocount, otype, target, disp, count, type, win);
}

int MPI_Accumulate(const void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int count,
                   MPI_Datatype type, MPI_Op op, MPI_Win win) {
    NEXT(Accumulate, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win))
    note_write(win, target, disp, count, type);
    return next(origin, ocount, otype, target, disp, count, type, op, win);
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp,
                     MPI_Op op, MPI_Win win) {
    NEXT(Fetch_and_op, (const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Op, MPI_Win))
    note_write(win, target, disp, 1, type);
    note_fetch(win, target);
    return next(origin, result, type, target, disp, op, win);
}

int MPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int target,
                         MPI_Aint disp, MPI_Win win) {
    NEXT(Compare_and_swap, (const void *, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Win))
    note_write(win, target, disp, 1, type);
    note_fetch(win, target);
    return next(origin, compare, result, type, target, disp, win);
}

/* ---- completion ---- */

int MPI_Win_lock(int kind, int target, int assertion, MPI_Win win) {
    NEXT(Win_lock, (int, int, int, MPI_Win))
    int rc = next(kind, target, assertion, win);
    note_locked(win);
    return rc;
}

int MPI_Win_lock_all(int assertion, MPI_Win win) {
    NEXT(Win_lock_all, (int, MPI_Win))
    int rc = next(assertion, win);
    note_locked(win);
    return rc;
}

int MPI_Win_unlock(int target, MPI_Win win) {
    NEXT(Win_unlock, (int, MPI_Win))
    int rc = next(target, win);
    note_completed(win, target, false);
    return rc;
}

int MPI_Win_unlock_all(MPI_Win win) {
    NEXT(Win_unlock_all, (MPI_Win))
    int rc = next(win);
    note_completed(win, -1, false);
    return rc;
}

int MPI_Win_flush(int target, MPI_Win win) {
    NEXT(Win_flush, (int, MPI_Win))
    int rc = next(target, win);
    note_completed(win, target, true);
    return rc;
}

int MPI_Win_flush_local(int target, MPI_Win win) {
    NEXT(Win_flush_local, (int, MPI_Win))
    int rc = next(target, win);
    note_completed(win, target, false);
    return rc;
}

int MPI_Win_flush_all(MPI_Win win) {
    NEXT(Win_flush_all, (MPI_Win))
    int rc = next(win);
    note_completed(win, -1, true);
    return rc;
}

int MPI_Win_flush_local_all(MPI_Win win) {
    NEXT(Win_flush_local_all, (MPI_Win))
    int rc = next(win);
    note_completed(win, -1, false);
    return rc;
}

int MPI_Win_free(MPI_Win *win) {
    NEXT(Win_free, (MPI_Win *))
    struct window *w = find(*win);
    w->open = false;
    free(w->state);
    w->state = NULL;
    int rc = next(win);
    note_sync_event("MPI_Win_free");
    return rc;
}

int MPI_Finalize(void) {
    NEXT(Finalize, (void))
    if (is_open())
        fclose(out);
    out = NULL;
    unsetenv("TRACE_FILE");
    return next();
}

/* ---- all other calls that may be sync events ---- */

#define CALL(name, params, args, brought)                                                                    \
    int name params {                                                                                        \
        NEXT_NAMED(#name, params)                                                                            \
        int rc = next args;                                                                                  \
        if (brought)                                                                                         \
            note_sync_event(#name);                                                                          \
        return rc;                                                                                           \
    }
#define SYNC_CALL(name, kind, params, args)      CALL(name, params, args, 1)
#define SYNC_CALL_FLAG(name, kind, params, args) CALL(name, params, args, rc != MPI_SUCCESS || *flag)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "trace_sync_calls.def"
