/* served_random.c: runs random operations on windows that Hearth serves, and compares each result and, after each phase,
 * the windows with a model.
 *
 * Every window has a slice for each rank. In a phase one rank alone operates on a slice, another one in each phase, so
 * that it knows its contents: it applies each operation to a copy, by MPI_Reduce_local and memcpy. All ranks add to the
 * counters at the end of each window.
 *
 * A phase uses one of four kinds of windows, and several epochs of one kind. MPI orders two accumulates of a rank with the
 * same type on the same place; before any other pair of operations that overlap the first one is completed by a flush.
 * Between fences, and between start and complete, where there is no flush, the second one is left out.
 *
 * Every choice follows from the seed: --seed N repeats a run. Its length is a number of operations, which follows from
 * --seconds and the configuration, so that the full tier runs ten million of them.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdio.h>
#include <stdlib.h>

#include "random_types.h"
#include "serving.h"

enum {
    SLICE = AREAS * AREA_BYTES,
    COUNTERS = 8,
    EPOCHS = 8,      /* of a phase */
    STEPS = 400,     /* of an epoch */
    LOCKED = 40,     /* most operations under a lock */
    IN_FLIGHT = 160, /* most operations that are not complete */
    MOST_RANKS = 8,
    PATTERNS = 200,
    RENEWED = 10 /* patterns per phase */
};
enum sync { FENCES, START, ALL_LOCKED, SHARED, EXCLUSIVE, SYNCS };
enum memory { ALLOCATED, ALLOC_MEM, MALLOC, DYNAMIC, MEMORIES };
enum kind { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, COUNT, KINDS };

/* What an operation does to which bytes of a slice. */
struct access {
    enum kind kind;
    const struct element *element;
    int target;
    size_t from, to;
};

/* An operation that is not known to be complete. Buffers are as MPI sees them; `want` are the elements in a row that a get or
 * a fetch must bring. */
struct operation {
    struct access access;
    const struct pattern *pattern;
    unsigned char origin[PATTERN_BUFFER], got[PATTERN_BUFFER], want[16 * MOST_ELEMENTS];
    unsigned char compare[16];
};

struct random_window {
    MPI_Win win;
    enum memory memory;
    char *base;
    MPI_Aint bases[MOST_RANKS]; /* what displacements are relative to */
    int64_t sums[COUNTERS];     /* what this rank's counters are to be */
};

static struct random_window windows[MEMORIES], *w;
static struct pattern patterns[PATTERNS], singles[ELEMENTS];
static unsigned char copies[MOST_RANKS][SLICE]; /* of this rank's slice at each rank */
static int64_t added[MOST_RANKS][COUNTERS];
static struct operation *pending[IN_FLIGHT]; /* the first pending_count are in flight */
static int pending_count;
static struct stream random_stream;
static enum sync sync_kind;
static int phase;
static long long operations;

/* ---- windows ---- */

static size_t window_bytes(void) {
    return (size_t)test_size * SLICE + COUNTERS * sizeof(int64_t);
}

static void random_window_open(struct random_window *r, enum memory memory) {
    size_t bytes = window_bytes();
    *r = (struct random_window){.memory = memory};
    if (memory == ALLOCATED)
        MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &r->base, &r->win);
    else if (memory == ALLOC_MEM)
        MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &r->base);
    else
        r->base = aligned_bytes(bytes);
    if (memory == ALLOC_MEM || memory == MALLOC)
        MPI_Win_create(r->base, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &r->win);
    MPI_Aint base = 0;
    if (memory == DYNAMIC) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &r->win);
        MPI_Win_attach(r->win, r->base, (MPI_Aint)bytes);
        MPI_Get_address(r->base, &base);
    }
    MPI_Allgather(&base, 1, MPI_AINT, r->bases, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void random_window_close(struct random_window *r) {
    if (r->memory == DYNAMIC)
        MPI_Win_detach(r->win, r->base);
    MPI_Win_free(&r->win);
    if (r->memory == ALLOC_MEM)
        MPI_Free_mem(r->base);
    else if (r->memory != ALLOCATED)
        free(r->base);
}

/* The slice of a rank in this phase. */
static size_t slice_of(int rank) {
    return (size_t)((rank + phase) % test_size) * SLICE;
}

/* Valid values in every area; the counters are 0. */
static void random_window_fill(struct random_window *r) {
    struct stream s = {test_number(test_rank, 1, (int)r->memory)};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test_rank, 0, r->win);
    memset(r->base, 0, window_bytes());
    for (int i = 0; i < ELEMENTS; i++) {
        const struct element *e = element_number(i);
        for (int slice = 0; slice < test_size; slice++)
            element_fill(&s, e, r->base + slice * SLICE + e->area * AREA_BYTES, AREA_BYTES / (int)e->size);
    }
    MPI_Win_unlock(test_rank, r->win);
}

/* ---- completion ---- */

static void operation_end(struct operation *o) {
    const struct access *a = &o->access;
    const struct layout *result = &o->pattern->result;
    unsigned char packed[16 * MOST_ELEMENTS];
    if (a->kind != PUT && a->kind != ACCUMULATE) {
        layout_gather(result, a->element->size, o->got, packed);
        if (!expect_bytes(packed, o->want, (size_t)result->count * a->element->size))
            printf("   phase %d, kind %d, type of %zu bytes, target %d, synchronisation %d, memory %d\n",
                   phase, (int)a->kind, a->element->size, a->target, (int)sync_kind, (int)w->memory);
    }
}

/* All operations to a target, or to all if it is negative, are complete. */
static void complete(int target) {
    int kept = 0;
    for (int i = 0; i < pending_count; i++) {
        struct operation *o = pending[i];
        if (target >= 0 && o->access.target != target) {
            pending[i] = pending[kept];
            pending[kept++] = o;
        } else {
            operation_end(o);
        }
    }
    pending_count = kept;
}

static void flush(int target) {
    if (draw_below(&random_stream, 4) == 0) {
        MPI_Win_flush_all(w->win);
        target = -1;
    } else {
        MPI_Win_flush(target, w->win);
    }
    complete(target);
}

static bool is_ordered(const struct access *a, const struct access *b) {
    bool both_gets = a->kind == GET && b->kind == GET;
    bool both_update = a->kind > GET && b->kind > GET && a->element->type == b->element->type;
    return a->target != b->target || a->to <= b->from || b->to <= a->from || both_gets || both_update;
}

/* Whether an operation may be issued now. */
static bool makes_way(const struct access *a) {
    bool ordered = true;
    for (int i = 0; ordered && i < pending_count; i++)
        ordered = is_ordered(&pending[i]->access, a);
    if (sync_kind == FENCES || sync_kind == START)
        return ordered && pending_count < IN_FLIGHT;
    if (!ordered)
        flush(a->target);
    if (pending_count == IN_FLIGHT) {
        MPI_Win_flush_all(w->win);
        complete(-1);
    }
    return true;
}

/* ---- the model ---- */

/* MPICH 4.0 compares unsigned numbers as signed ones. */
static void apply_unsigned(unsigned char *element, const unsigned char *value, size_t size, bool largest) {
    uint64_t a = load_unsigned(element, size), b = load_unsigned(value, size);
    if (largest ? b > a : b < a)
        memcpy(element, value, size);
}

static void apply(unsigned char *elements, const unsigned char *values, int count, const struct element *e,
                  MPI_Op op) {
    if (op == MPI_REPLACE)
        memcpy(elements, values, (size_t)count * e->size);
    else if (e->is_unsigned && (op == MPI_MIN || op == MPI_MAX))
        for (size_t at = 0; at < (size_t)count * e->size; at += e->size)
            apply_unsigned(elements + at, values + at, e->size, op == MPI_MAX);
    else if (op != MPI_NO_OP)
        MPI_Reduce_local(values, elements, count, e->type, op);
}

/* ---- operations ---- */

/* The request forms exist in passive target epochs only. A request that is complete: the origin's buffer may change, and the
 * results are there. */
static void finish_request(struct operation *o, MPI_Request *request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    memset(o->origin, 0x5a, (size_t)o->pattern->origin.span * o->access.element->size);
}

static void issue(struct operation *o, MPI_Op op, MPI_Aint at, bool request) {
    MPI_Request r = MPI_REQUEST_NULL;
    const struct layout *origin = &o->pattern->origin, *result = &o->pattern->result,
                        *place = &o->pattern->place;
    int target = o->access.target;
    enum kind kind = o->access.kind;
    if (kind == PUT && request)
        MPI_Rput(o->origin, origin->times, origin->type, target, at, place->times, place->type, w->win, &r);
    else if (kind == PUT)
        MPI_Put(o->origin, origin->times, origin->type, target, at, place->times, place->type, w->win);
    else if (kind == GET && request)
        MPI_Rget(o->got, result->times, result->type, target, at, place->times, place->type, w->win, &r);
    else if (kind == GET)
        MPI_Get(o->got, result->times, result->type, target, at, place->times, place->type, w->win);
    else if (kind == ACCUMULATE && request)
        MPI_Raccumulate(o->origin, origin->times, origin->type, target, at, place->times, place->type, op,
                        w->win, &r);
    else if (kind == ACCUMULATE)
        MPI_Accumulate(o->origin, origin->times, origin->type, target, at, place->times, place->type, op,
                       w->win);
    else if (kind == GET_ACCUMULATE && request)
        MPI_Rget_accumulate(o->origin, origin->times, origin->type, o->got, result->times, result->type,
                            target, at, place->times, place->type, op, w->win, &r);
    else if (kind == GET_ACCUMULATE)
        MPI_Get_accumulate(o->origin, origin->times, origin->type, o->got, result->times, result->type,
                           target, at, place->times, place->type, op, w->win);
    else if (kind == FETCH_AND_OP)
        MPI_Fetch_and_op(o->origin, o->got, o->access.element->type, target, at, op, w->win);
    else
        MPI_Compare_and_swap(o->origin, o->compare, o->got, o->access.element->type, target, at, w->win);
    if (r != MPI_REQUEST_NULL)
        finish_request(o, &r);
}

static MPI_Op op_draw(const struct access *a) {
    bool fetches = a->kind == GET_ACCUMULATE || a->kind == FETCH_AND_OP;
    unsigned n = draw_below(&random_stream, (unsigned)a->element->op_count + fetches);
    return (int)n < a->element->op_count ? a->element->ops[n] : MPI_NO_OP;
}

/* Sets what the operation brings, and applies it to the copy. */
static void predict(struct operation *o, MPI_Op op, const unsigned char *values) {
    const struct access *a = &o->access;
    const struct layout *place = &o->pattern->place;
    unsigned char *at = copies[a->target] + a->from, after[16 * MOST_ELEMENTS];
    size_t size = a->element->size;
    layout_gather(place, size, at, o->want);
    if (a->kind == COMPARE_AND_SWAP) {
        if (draw_below(&random_stream, 2)) /* otherwise it does not swap, most of the time */
            memcpy(o->compare, o->want, size);
        if (memcmp(o->compare, o->want, size) == 0)
            memcpy(at, values, size);
    } else if (a->kind != GET) {
        memcpy(after, o->want, (size_t)place->count * size);
        apply(after, values, place->count, a->element, a->kind == PUT ? MPI_REPLACE : op);
        layout_scatter(place, size, at, after);
    }
}

static void operation_begin(const struct access *a, const struct pattern *p) {
    struct operation *o = pending[pending_count++];
    struct stream *s = &random_stream;
    const struct element *e = a->element;
    unsigned char values[16 * MOST_ELEMENTS];
    MPI_Op op = op_draw(a);
    o->access = *a;
    o->pattern = p;
    element_fill(s, e, values, p->place.count);
    element_fill(s, e, o->compare, 1);
    layout_scatter(&p->origin, e->size, o->origin, values);
    predict(o, op, values);
    issue(o, op, w->bases[a->target] + (MPI_Aint)(slice_of(test_rank) + a->from),
          sync_kind >= ALL_LOCKED && draw_below(s, 4) == 0);
    operations++;
}

static void operate_on_slice(enum kind kind, int target) {
    struct stream *s = &random_stream;
    bool single = kind == FETCH_AND_OP || kind == COMPARE_AND_SWAP;
    const struct pattern *p = single ? &singles[draw_below(s, ELEMENTS)] : &patterns[draw_below(s, PATTERNS)];
    const struct element *e = p->element;
    if (kind == COMPARE_AND_SWAP && (e->area != 0 || e->type == MPI_BYTE))
        kind = FETCH_AND_OP; /* it is for integers */
    unsigned at = draw_below(s, (unsigned)(AREA_BYTES / (int)e->size - p->place.span + 1));
    struct access a = {.kind = kind, .element = e, .target = target};
    a.from = (size_t)e->area * AREA_BYTES + at * e->size;
    a.to = a.from + (size_t)p->place.span * e->size;
    if (makes_way(&a))
        operation_begin(&a, p);
}

/* All ranks add to the counters at the same time. What a rank fetches from one never falls. */
static void count(int target) {
    struct stream *s = &random_stream;
    int counter = (int)draw_below(s, COUNTERS);
    int64_t value = (int64_t)draw_below(s, 1000), old = 0;
    MPI_Aint at = w->bases[target] + (MPI_Aint)((size_t)test_size * SLICE + 8 * (size_t)counter);
    bool fetches = sync_kind >= ALL_LOCKED && draw_below(s, 2);
    if (fetches) {
        MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, at, MPI_SUM, w->win);
        MPI_Win_flush(target, w->win);
        complete(target);
        expect(old >= added[target][counter]);
    } else {
        MPI_Accumulate(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_SUM, w->win);
        if (sync_kind >= ALL_LOCKED) /* the value is on the stack */
            MPI_Win_flush_local(target, w->win);
    }
    added[target][counter] += value;
    operations++;
}

static void operate(int target) {
    enum kind kind = (enum kind)draw_below(&random_stream, KINDS);
    if (kind != COUNT)
        operate_on_slice(kind, target);
    else if (sync_kind >= ALL_LOCKED)
        count(target);
}

/* ---- phases ---- */

static void operate_locked(void) {
    for (int done = 0; done < STEPS;) {
        int target = (int)draw_below(&random_stream, (unsigned)test_size);
        MPI_Win_lock(sync_kind == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w->win);
        for (int i = (int)draw_below(&random_stream, LOCKED); i >= 0; i--, done++)
            operate(target);
        MPI_Win_unlock(target, w->win);
        complete(-1);
    }
}

static void operate_on_all(void) {
    for (int i = 0; i < STEPS; i++)
        operate((int)draw_below(&random_stream, (unsigned)test_size));
}

static void run_epoch(MPI_Group all) {
    if (sync_kind >= SHARED) {
        operate_locked();
        return;
    }
    if (sync_kind == FENCES)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    else if (sync_kind == START)
        MPI_Win_post(all, 0, w->win), MPI_Win_start(all, 0, w->win);
    else
        MPI_Win_lock_all(0, w->win);
    operate_on_all();
    if (sync_kind == FENCES)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    else if (sync_kind == START)
        MPI_Win_complete(w->win), MPI_Win_wait(w->win);
    else
        MPI_Win_unlock_all(w->win);
    complete(-1);
}

/* Each rank gets what this rank's window is to hold: the slices from those who know them, and the sum of what all added. */
static void compare_windows(void) {
    static unsigned char expected[MOST_RANKS][SLICE];
    int64_t sums[COUNTERS];
    barrier();
    MPI_Alltoall(copies, SLICE, MPI_BYTE, expected, SLICE, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(added, sums, COUNTERS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, test_rank, 0, w->win);
    for (int i = 0; i < COUNTERS; i++)
        expect_eq(((int64_t *)(void *)(w->base + (size_t)test_size * SLICE))[i], w->sums[i] += sums[i]);
    for (int rank = 0; rank < test_size; rank++)
        expect_bytes(w->base + slice_of(rank), expected[rank], SLICE);
    MPI_Win_unlock(test_rank, w->win);
    barrier();
}

/* The ranks that own the slices in this phase get copies of them. */
static void copy_slices(void) {
    static unsigned char own[MOST_RANKS][SLICE];
    MPI_Win_lock(MPI_LOCK_SHARED, test_rank, 0, w->win);
    for (int rank = 0; rank < test_size; rank++)
        memcpy(own[rank], w->base + slice_of(rank), SLICE);
    MPI_Win_unlock(test_rank, w->win);
    MPI_Alltoall(own, SLICE, MPI_BYTE, copies, SLICE, MPI_BYTE, MPI_COMM_WORLD);
    memset(added, 0, sizeof added);
}

/* A machine that is too slow for all operations ends the test by time. */
static bool is_late(void) {
    enum { LONGEST = 45 };
    return test_elapsed() > LONGEST;
}

static bool inside_a_node(void) {
    return strcmp(test_config(), "serve") == 0;
}

/* Inside a node, operations take less time than the exchanges between phases. Under MPI_Win_lock_all no rank waits for the
 * others, so a phase can have many epochs. */
static int epochs(void) {
    return inside_a_node() && sync_kind == ALL_LOCKED ? 8 * EPOCHS : EPOCHS;
}

static void run_phase(MPI_Group all) {
    w = &windows[test_number(0, 1, phase) % MEMORIES];
    sync_kind = (enum sync)(test_number(0, 2, phase) % SYNCS);
    random_stream.state = test_number(test_rank, 3, phase);
    for (int i = 0; i < RENEWED; i++) {
        struct pattern *p = &patterns[draw_below(&random_stream, PATTERNS)];
        pattern_free(p);
        pattern_draw(&random_stream, p);
    }
    copy_slices();
    for (int i = 0; i < epochs() && !(sync_kind >= ALL_LOCKED && is_late()); i++)
        run_epoch(all);
    compare_windows();
}

/* Inside a node an operation takes less than a microsecond, between nodes many take a round trip. Over MPI, helpers poll on
 * the cores of the ranks. */
static long long operations_wanted(void) {
    bool over_mpi = strcmp(test_config(), "servempi") == 0;
    double each_second = inside_a_node() ? 700000 : over_mpi ? 30000 : 120000;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    each_second /= 10;
#endif
    return (long long)(each_second * test_seconds);
}

/* Whether the ranks have executed enough operations. */
static bool is_enough(long long *total) {
    long long mine[2] = {operations, is_late()}, sums[2];
    MPI_Allreduce(mine, sums, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    *total = sums[0];
    return sums[0] >= operations_wanted() || sums[1];
}

static void patterns_open(void) {
    struct stream s = {test_number(test_rank, 2, 0)};
    for (int i = 0; i < ELEMENTS; i++)
        pattern_single(element_number(i), &singles[i]);
    for (int i = 0; i < PATTERNS; i++)
        pattern_draw(&s, &patterns[i]);
}

CASE(phases) {
    SKIP_IF(!test_served() || test_size > MOST_RANKS,
            "Open MPI 4.1 crashes in it, MPICH 4.0 takes unsigned numbers as signed");
    MPI_Group all;
    long long total;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    patterns_open();
    for (int i = 0; i < IN_FLIGHT; i++)
        pending[i] = calloc(1, sizeof *pending[i]);
    for (int i = 0; i < MEMORIES; i++) {
        random_window_open(&windows[i], (enum memory)i);
        random_window_fill(&windows[i]);
    }
    barrier();
    do {
        run_phase(all);
        phase++;
    } while (!is_enough(&total));
    if (test_rank == 0)
        printf("   %d phases, %lld operations in %.1f s\n", phase, total, test_elapsed());
    for (int i = 0; i < MEMORIES; i++)
        random_window_close(&windows[i]);
    MPI_Group_free(&all);
    for (int i = 0; i < IN_FLIGHT; i++)
        free(pending[i]);
    for (int i = 0; i < PATTERNS; i++)
        pattern_free(&patterns[i]);
}
