/* accumulate.c: accumulates into shared memory.
 *
 * Two concerns are separate: kernels, which add rows of one type and use no locks, and the hold (hold.h), which owns
 * the lock of the block where the next element begins.
 *
 *      run of rows  ->  as many rows as begin and end in this block  ->  kernel
 *                       or, of a row that continues into the next, the elements that begin here
 *                       or a complex element whose parts begin in two blocks, under both locks
 *
 * Rows that lie far apart are not prefetched: on a Neoverse V1 that gains nothing.
 *
 * Results are those of plain C. Integers wrap. Products are rounded before they are added: no fused multiply-add is
 * used, so sums are the same on all processors, and as MPI would compute them. A complex product is
 * (ac - bd) + (ad + bc)i. If the scale is 1, nothing is multiplied. */
#include "data/accumulate.h"

#include <string.h>

#include "base/log.h"
#include "data/hold.h"
#include "data/vectors.h"

/* ---- kernels: CMakeLists.txt enables vectorisation for this file ---- */

/* At any alignment. Integers are added as unsigned ones, which wrap. */
typedef unsigned int loose_int __attribute__((aligned(1), may_alias));
typedef unsigned long loose_long __attribute__((aligned(1), may_alias));
typedef float loose_float __attribute__((aligned(1), may_alias));
typedef double loose_double __attribute__((aligned(1), may_alias));

typedef void add_rows(const struct patch_rows *r, const void *scale);

/* KERNEL(name, cell, width, to[0] += ...): adds rows whose elements are `width` cells; `s` is the scale. Rows of one
 * element have their own loop: the row loop would spend more on its setup and remainder. Long rows use wide vectors. */
#define KERNEL(name, cell, width, ...)                                                                       \
    static inline void name##_element(cell *restrict to, const cell *restrict from, const cell *s) {         \
        __VA_ARGS__;                                                                                         \
    }                                                                                                        \
    static inline void name##_row(cell *restrict to, const cell *restrict from, size_t count,                \
                                  const cell *s) {                                                           \
        for (size_t i = 0; i < count; i++)                                                                   \
            name##_element(to + i * width, from + i * width, s);                                             \
    }                                                                                                        \
    WIDE_VECTORS static void name##_long_row(cell *restrict to, const cell *restrict from, size_t count,     \
                                             const cell *s) {                                                \
        name##_row(to, from, count, s);                                                                      \
    }                                                                                                        \
    static void name(const struct patch_rows *r, const void *scale) {                                        \
        cell s[width];                                                                                       \
        memcpy(s, scale, sizeof s);                                                                          \
        char *to = r->to;                                                                                    \
        const char *from = r->from;                                                                          \
        int64_t to_stride = r->to_stride, from_stride = r->from_stride;                                      \
        uint64_t left = r->rows;                                                                             \
        size_t count = r->bytes / sizeof s;                                                                  \
        if (count == 1)                                                                                      \
            for (; left; left--, to += to_stride, from += from_stride)                                       \
                name##_element((cell *)to, (const cell *)from, s);                                           \
        for (; left; left--, to += to_stride, from += from_stride)                                           \
            (r->bytes < LONG_ROW ? name##_row : name##_long_row)((cell *)to, (const cell *)from, count, s);  \
    }

KERNEL(add_int, loose_int, 1, to[0] += from[0])
KERNEL(add_long, loose_long, 1, to[0] += from[0])
KERNEL(add_float, loose_float, 1, to[0] += from[0])
KERNEL(add_double, loose_double, 1, to[0] += from[0])
KERNEL(add_complex, loose_float, 2, to[0] += from[0]; to[1] += from[1])
KERNEL(add_double_complex, loose_double, 2, to[0] += from[0]; to[1] += from[1])

KERNEL(scale_int, loose_int, 1, to[0] += s[0] * from[0])
KERNEL(scale_long, loose_long, 1, to[0] += s[0] * from[0])
KERNEL(scale_float, loose_float, 1, to[0] += s[0] * from[0])
KERNEL(scale_double, loose_double, 1, to[0] += s[0] * from[0])
KERNEL(scale_complex, loose_float, 2, float re = from[0], im = from[1]; to[0] += s[0] * re - s[1] * im;
       to[1] += s[0] * im + s[1] * re)
KERNEL(scale_double_complex, loose_double, 2, double re = from[0], im = from[1];
       to[0] += s[0] * re - s[1] * im; to[1] += s[0] * im + s[1] * re)

static const struct kernel {
    size_t grain, cell; /* bytes of an element, and of each of its parts */
    add_rows *add, *scale;
} kernels[] = {
    [ACC_INT] = {sizeof(int), sizeof(int), add_int, scale_int},
    [ACC_LONG] = {sizeof(long), sizeof(long), add_long, scale_long},
    [ACC_FLOAT] = {sizeof(float), sizeof(float), add_float, scale_float},
    [ACC_DOUBLE] = {sizeof(double), sizeof(double), add_double, scale_double},
    [ACC_COMPLEX] = {2 * sizeof(float), sizeof(float), add_complex, scale_complex},
    [ACC_DOUBLE_COMPLEX] = {2 * sizeof(double), sizeof(double), add_double_complex, scale_double_complex},
};

static const struct {
    int as_int;
    long as_long;
    float as_float[2];
    double as_double[2];
} one = {1, 1, {1, 0}, {1, 0}};

static const void *one_of(int type) {
    switch (type) {
    case ACC_INT:
        return &one.as_int;
    case ACC_LONG:
        return &one.as_long;
    case ACC_FLOAT:
    case ACC_COMPLEX:
        return one.as_float;
    default:
        return one.as_double;
    }
}

size_t data_accumulate_grain(int type) {
    return type >= ACC_INT && type <= ACC_DOUBLE_COMPLEX ? kernels[type].grain : 0;
}

/* The work per element, determined once per call. */
struct task {
    add_rows *add;
    const void *scale;
    size_t grain, cell;
};

static struct task choose_task(int type, const void *scale) {
    ASSERT(data_accumulate_grain(type));
    const struct kernel *k = &kernels[type];
    bool is_one = !memcmp(scale, one_of(type), k->grain);
    return (struct task){
        .add = is_one ? k->add : k->scale, .scale = scale, .grain = k->grain, .cell = k->cell};
}

void data_accumulate_unlocked(int type, const void *scale, void *dst, const void *src, size_t bytes) {
    struct task t = choose_task(type, scale);
    t.add(&(struct patch_rows){.to = dst, .from = src, .rows = 1, .bytes = bytes}, scale);
}

/* ---- rows under locks ---- */

/* The last part of an element; the element itself, if it is not complex. */
static char *last_cell(const struct task *t, char *element) {
    return element + t->grain - t->cell;
}

/* Whether the parts of an element begin in two blocks. */
static bool is_split(const struct task *t, char *element) {
    return ((uintptr_t)element ^ (uintptr_t)last_cell(t, element)) >= LOCK_TABLE_GRAIN;
}

static bool add_split(struct data_hold *h, const struct task *t, struct patch_rows *element) {
    char *first = element->to, *second = last_cell(t, first);
    data_hold_release(h);
    if (!data_hold_both(h->locks, first, second, h->waits))
        return false;
    element->bytes = t->grain;
    t->add(element, t->scale);
    data_hold_release_both(h->locks);
    return true;
}

/* Adds the elements that begin in the block of the first, with all their parts. */
static bool add_part(struct data_hold *h, const struct task *t, struct patch_rows *part, size_t bytes) {
    size_t before = t->grain - t->cell;
    if (!data_hold_at(h, part->to, t->grain))
        return false;
    part->bytes = data_hold_part(h, part->to + before, bytes - before, t->grain);
    t->add(part, t->scale);
    h->room -= part->bytes;
    return true;
}

/* Adds the first row in parts, one per block. Returns the bytes done. */
static size_t add_row_in_parts(struct data_hold *h, const struct task *t, const struct patch_rows *r) {
    struct patch_rows part = {.rows = 1};
    for (size_t done = 0; done < r->bytes; done += part.bytes) {
        part.to = r->to + done;
        part.from = r->from + done;
        if (is_split(t, part.to) ? !add_split(h, t, &part) : !add_part(h, t, &part, r->bytes - done))
            return done;
    }
    return r->bytes;
}

/* Returns the bytes done: all, unless a lock was held elsewhere. */
static uint64_t accumulate_add_run(struct data_hold *h, const struct task *t, const struct patch_rows *run) {
    struct patch_rows r = *run;
    while (r.rows) {
        if (!data_hold_at(h, r.to, t->grain))
            return (run->rows - r.rows) * r.bytes;
        uint64_t rows = data_hold_rows(h, r.to, r.to_stride, r.rows, r.bytes, t->cell);
        if (rows) {
            struct patch_rows here = r;
            here.rows = rows;
            t->add(&here, t->scale);
            h->room -= rows * r.bytes;
        } else {
            size_t done = add_row_in_parts(h, t, &r);
            if (done < r.bytes)
                return (run->rows - r.rows) * r.bytes + done;
            rows = 1;
        }
        r.to += (int64_t)rows * r.to_stride;
        r.from += (int64_t)rows * r.from_stride;
        r.rows -= rows;
    }
    return run->rows * run->bytes;
}

static uint64_t add_pair(struct data_hold *h, const struct task *t, struct patch_pair *pair) {
    struct patch_rows run;
    uint64_t done = 0;
    while (data_patch_pair_next(pair, &run)) {
        uint64_t bytes = accumulate_add_run(h, t, &run);
        done += bytes;
        if (bytes < run.rows * run.bytes)
            break;
    }
    data_hold_release(h);
    return done;
}

/* ---- interface ---- */

static size_t add_flat(struct data_hold *h, int type, const void *scale, void *dst, const void *src,
                       size_t bytes) {
    struct task t = choose_task(type, scale);
    struct patch_rows row = {.to = dst, .from = src, .rows = bytes != 0, .bytes = bytes};
    size_t done = accumulate_add_run(h, &t, &row);
    data_hold_release(h);
    return done;
}

void data_accumulate_locked(struct net_lock_table *lock_table, int type, const void *scale, void *dst,
                            const void *src, size_t bytes) {
    struct data_hold h = {.locks = lock_table, .waits = true};
    add_flat(&h, type, scale, dst, src, bytes);
}

size_t data_accumulate_try(struct net_lock_table *lock_table, int type, const void *scale, void *dst,
                           const void *src, size_t bytes) {
    struct data_hold h = {.locks = lock_table};
    return add_flat(&h, type, scale, dst, src, bytes);
}

void data_accumulate_patch(struct net_lock_table *lock_table, int type, const void *scale,
                           const struct patch *to, const struct patch *from) {
    struct data_hold h = {.locks = lock_table, .waits = true};
    struct task t = choose_task(type, scale);
    struct patch_pair pair;
    data_patch_pair_start(&pair, to, 0, from, 0, to->bytes);
    add_pair(&h, &t, &pair);
}

size_t data_accumulate_patch_try(struct net_lock_table *lock_table, int type, const void *scale,
                                 const struct patch *to, uint64_t from, const void *packed, size_t bytes) {
    struct data_hold h = {.locks = lock_table};
    struct task t = choose_task(type, scale);
    struct patch row = data_patch_row(packed, bytes);
    struct patch_pair pair;
    data_patch_pair_start(&pair, to, from, &row, 0, bytes);
    return add_pair(&h, &t, &pair);
}
