/* receives.c: see receives.h.
 *
 *      table[hash of the handle] -> handle, weight, kind        open addressing, linear probing; 0: free
 *
 * While few receives wait, each has a row. Where many do, one in up to a 64th of them has, at random distances, and stands for those that
 * were posted since the one before: their number is its weight, and they count as completed when it is. The table of a program that posts
 * thousands at once stays in the cache, and most posts are a decrement. The number that waits is exact as long as none completes, and also if
 * they complete in the order of their posts; in a random order the error is some percent.
 *
 * A handle is removed when its request completes. Where a completion was missed and MPI reuses the handle for another
 * receive, the row is reused as well and the receive does not count twice. Threads may complete a request while another
 * reuses its handle: the count is then wrong by one until that completes. */
#include "mpi/observe/receives.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/random.h"
#include "mpi/observe/unexpected.h"

enum receive_kind { RECEIVE_ONCE, RECEIVE_INACTIVE, RECEIVE_ACTIVE }; /* the latter two: persistent */
enum { BUCKETS = 32, FIRST_BITS = 6, EXACT = 128, PER_GROUP = 64 };

struct receive {
    uint64_t handle;
    uint32_t weight;
    enum receive_kind kind;
};

bool receives_are_counted;
static bool has_threads;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct receive *table, *last;           /* last: its last row */
static unsigned bits, used;                    /* 1 << bits rows, of which `used` are not free */
static uint64_t pending, most, posts, waiting; /* waiting: the sum of pending at all posts */
static uint32_t group = 1, left = 1; /* posts from one row to the next, that included; of these, to come */
static uint64_t group_behind, drawn; /* receives that waited when the group began; random numbers drawn */
static uint64_t
    depth[BUCKETS]; /* [b]: posts behind less than 1 << b others, and not less than half of that */

static void receives_lock(void) {
    if (UNLIKELY(has_threads))
        pthread_mutex_lock(&mutex);
}

static void receives_unlock(void) {
    if (UNLIKELY(has_threads))
        pthread_mutex_unlock(&mutex);
}

void receives_open(bool counts, bool threads) {
    bits = FIRST_BITS;
    table = counts ? calloc((size_t)1 << bits, sizeof *table) : NULL;
    last = table ? &table[(1u << bits) - 1] : NULL;
    has_threads = threads;
    receives_are_counted = table != NULL;
    if (receives_are_counted)
        unexpected_open(threads);
}

/* ---- the table ---- */

static size_t receive_place(uint64_t handle) {
    return (size_t)(handle * 0x9e3779b97f4a7c15u >> (64 - bits));
}

/* The row of a handle, or the free one where it belongs. */
static struct receive *receive_find(uint64_t handle) {
    size_t mask = ((size_t)1 << bits) - 1, i = receive_place(handle);
    while (table[i].handle && table[i].handle != handle)
        i = (i + 1) & mask;
    return &table[i];
}

static void receives_grow(void) {
    struct receive *old = table, *more = calloc((size_t)2 << bits, sizeof *more);
    size_t rows = (size_t)1 << bits;
    if (!more)
        return;
    table = more;
    bits++;
    last = &table[((size_t)1 << bits) - 1];
    for (size_t i = 0; i < rows; i++)
        if (old[i].handle)
            *receive_find(old[i].handle) = old[i];
    free(old);
}

static struct receive *receive_add(uint64_t handle, enum receive_kind kind, uint32_t weight) {
    if (UNLIKELY(2 * (used + 1) > 1u << bits))
        receives_grow();
    if (UNLIKELY(used + 2 > 1u << bits)) /* no memory: one row must stay free */
        return NULL;
    struct receive *r = receive_find(handle);
    if (r->handle && r->kind != RECEIVE_INACTIVE)
        pending -= r->weight; /* its completion was missed */
    used += !r->handle;
    *r = (struct receive){handle, weight, kind};
    return r;
}

/* Moves later rows of the chain up, so that each is found from its place without a gap. */
static void receive_remove(struct receive *r) {
    size_t mask = ((size_t)1 << bits) - 1, gap = (size_t)(r - table);
    for (size_t i = (gap + 1) & mask; table[i].handle; i = (i + 1) & mask)
        if (((i - receive_place(table[i].handle)) & mask) >= ((i - gap) & mask)) {
            table[gap] = table[i];
            gap = i;
        }
    table[gap].handle = 0;
    used--;
}

/* ---- counting ---- */

static uint64_t receive_handle(MPI_Request request) {
    return (uint64_t)(uintptr_t)request;
}

static unsigned receive_bucket(uint64_t others) {
    unsigned bucket = others ? 64 - (unsigned)__builtin_clzll(others) : 0;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

/* Posts behind so many others, each also behind those before it. */
static inline void receive_count(uint64_t others, uint32_t count) {
    posts += count;
    waiting += others * count + (uint64_t)count * (count - 1) / 2;
    depth[receive_bucket(others + (count - 1) / 2)] += count;
    most = others + count > most ? others + count : most;
}

/* Counts the posts of the group that have no row yet. */
static void receive_end_group(void) {
    if (group > left)
        receive_count(group_behind, group - left);
    group = left;
}

/* The next group, 1 post as long as few receives wait. */
static inline void receive_draw(void) {
    uint64_t mean = pending < EXACT ? 1 : pending / PER_GROUP;
    group_behind = pending;
    group = left = LIKELY(mean == 1) ? 1 : (uint32_t)(1 + random_mix(++drawn) % (2 * mean - 1));
}

void receives_note_blocking(int source) {
    if (source == MPI_PROC_NULL)
        return;
    receives_lock();
    receive_count(pending, 1);
    unexpected_sample();
    receives_unlock();
}

/* The last post of a group has a row for all. */
static void receive_group(uint64_t handle) {
    struct receive *r = &table[receive_place(handle)];
    uint32_t weight = group;
    if (LIKELY(!r->handle && 2 * (used + 1) <= 1u << bits)) {
        *r = (struct receive){handle, weight, RECEIVE_ONCE};
        used++;
    } else {
        r = receive_add(handle, RECEIVE_ONCE, weight);
    }
    if (LIKELY(r != NULL)) {
        receive_count(pending, weight);
        pending += weight;
    }
    receive_draw();
}

void receives_note(int rc, int source, const MPI_Request *request) {
    if (rc != MPI_SUCCESS || source == MPI_PROC_NULL || *request == MPI_REQUEST_NULL)
        return;
    receives_lock();
    unexpected_sample();
    if (!--left)
        receive_group(receive_handle(*request));
    receives_unlock();
}

void receives_note_persistent(int rc, int source, const MPI_Request *request) {
    if (rc != MPI_SUCCESS || source == MPI_PROC_NULL || *request == MPI_REQUEST_NULL)
        return;
    receives_lock();
    receive_add(receive_handle(*request), RECEIVE_INACTIVE, 1);
    receives_unlock();
}

void receives_note_start(int count, const MPI_Request requests[]) {
    receives_lock();
    for (int i = 0; requests && i < count; i++) {
        struct receive *r = receive_find(receive_handle(requests[i]));
        if (!r->handle || r->kind != RECEIVE_INACTIVE)
            continue;
        r->kind = RECEIVE_ACTIVE;
        unexpected_sample();
        receive_count(pending, 1);
        pending++;
    }
    receives_unlock();
}

void receives_complete(MPI_Request request) {
    receives_lock();
    struct receive *r = receive_find(receive_handle(request));
    if (LIKELY(r->handle && r->kind == RECEIVE_ONCE && r < last && !r[1].handle)) { /* it ends its chain */
        r->handle = 0;
        used--;
        pending -= r->weight;
    } else if (r->handle && r->kind != RECEIVE_INACTIVE) {
        pending -= r->weight;
        if (r->kind == RECEIVE_ACTIVE)
            r->kind = RECEIVE_INACTIVE;
        else
            receive_remove(r);
    }
    if (UNLIKELY(group > 1 && pending < EXACT)) { /* few wait again: each has a row from now on */
        receive_end_group();
        receive_draw();
    }
    receives_unlock();
}

void receives_forget(MPI_Request request) {
    receives_lock();
    struct receive *r = receive_find(receive_handle(request));
    if (r->handle) {
        pending -= r->kind != RECEIVE_INACTIVE ? r->weight : 0;
        receive_remove(r);
    }
    receives_unlock();
}

/* ---- the report ---- */

void receives_json(struct json *j) {
    size_t buckets = BUCKETS;
    if (!receives_are_counted)
        return;
    receive_end_group();
    while (buckets && !depth[buckets - 1])
        buckets--;
    json_open(j, "receives", '{');
    json_count(j, "posts", posts);
    json_count(j, "most", most);
    json_number(j, "mean", posts ? (double)waiting / (double)posts : 0);
    json_counts(j, "depth", depth, buckets);
    unexpected_json(j);
    json_close(j, '}');
}
