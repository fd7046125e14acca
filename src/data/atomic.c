/* atomic.c: updates under the lock table.
 *
 * Three concerns are separate: the cursor, which finds the next rows of the target; kernels, which combine rows and use no
 * locks; and the hold, which owns the lock of the block where the next element begins.
 *
 *      run of rows  ->  as many rows as begin and end in this block  ->  kernel
 *                       or, of a row that continues into the next, the elements that begin here
 *      an element split over blocks of the shape  ->  gathered, combined, scattered
 *
 * The lock of a block is kept while the next rows lie in the same block, so that rows of 8 bytes do not take it one by
 * one, but for at most LOCK_TABLE_GRAIN of data. Only one lock is held at a time, so there is no lock order to keep.
 * Old values are copied before the kernel runs, under the same lock. One contiguous range in one block, the common case,
 * goes past all of this. */
#include "data/atomic.h"

#include "data/cursor.h"

/* ---- the lock of a block ---- */

struct data_hold {
    struct net_lock_table *locks;
    bool waits;
    const char *place; /* the address for which it was locked; NULL: no lock is held */
    size_t room;       /* bytes that may still be changed under it */
};

static void hold_release(struct data_hold *h) {
    if (h->place)
        net_lock_table_unlock(h->locks, h->place);
    h->place = NULL;
}

static bool hold_acquire(struct data_hold *h, const char *place) {
    if (h->waits)
        net_lock_table_lock(h->locks, place);
    else if (!net_lock_table_try(h->locks, place))
        return false;
    h->place = place;
    h->room = LOCK_TABLE_GRAIN;
    return true;
}

/* Makes sure that the lock is held for an element that begins here. False if it is held elsewhere and h->waits is false. */
static bool hold_at(struct data_hold *h, const char *place, size_t unit) {
    if (LIKELY(h->place) && ((uintptr_t)h->place ^ (uintptr_t)place) < LOCK_TABLE_GRAIN && h->room >= unit)
        return true;
    hold_release(h);
    return hold_acquire(h, place);
}

/* ---- elements under a lock ---- */

struct data_task {
    struct data_hold hold;
    data_kernel *combine; /* NULL: NO_OP */
    size_t unit;          /* bytes of an element */
    const char *packed;   /* operands of the next element */
    char *old;            /* place for its old value, or NULL */
};

static inline void task_apply(struct data_task *t, char *to, int64_t stride, uint64_t rows, size_t bytes) {
    if (t->old) {
        data_rows_copy(t->old, (int64_t)bytes, to, stride, rows, bytes);
        t->old += rows * bytes;
    }
    if (t->combine) {
        t->combine(to, stride, t->packed, rows, bytes);
        t->packed += rows * bytes;
    }
}

static uint64_t atomic_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The number of rows from this one on whose elements all begin in the block of its first byte; 0 if not even this
 * one's. */
static uint64_t rows_in_block(const char *to, const struct data_run *r, size_t unit) {
    uint64_t first = (uintptr_t)to % LOCK_TABLE_GRAIN, last = first + r->bytes - unit;
    if (last >= LOCK_TABLE_GRAIN)
        return 0;
    if (r->rows == 1 || r->stride >= LOCK_TABLE_GRAIN || r->stride <= -LOCK_TABLE_GRAIN)
        return 1;
    uint64_t step = (uint64_t)(r->stride < 0 ? -r->stride : r->stride);
    uint64_t room = r->stride < 0 ? first : LOCK_TABLE_GRAIN - 1 - last;
    return (r->rows - 1) * step <= room ? r->rows : 1 + room / step;
}

/* One row, in parts, one per block. Returns the bytes done. */
static uint64_t update_row(struct data_task *t, char *to, uint64_t bytes) {
    for (uint64_t done = 0, part; done < bytes; done += part) {
        if (!hold_at(&t->hold, to + done, t->unit))
            return done;
        part = round_up(net_lock_table_part(to + done, bytes - done), t->unit);
        part = atomic_least(part, t->hold.room / t->unit * t->unit);
        task_apply(t, to + done, 0, 1, part);
        t->hold.room -= part;
    }
    return bytes;
}

/* Returns the bytes done: all, unless a lock was held elsewhere. */
static uint64_t update_run(struct data_task *t, char *to, struct data_run r) {
    uint64_t done = 0;
    while (r.rows) {
        if (!hold_at(&t->hold, to, t->unit))
            return done;
        uint64_t rows = rows_in_block(to, &r, t->unit);
        if (rows * r.bytes > t->hold.room)
            rows = t->hold.room / r.bytes;
        if (rows) {
            task_apply(t, to, r.stride, rows, r.bytes);
            t->hold.room -= rows * r.bytes;
        } else {
            uint64_t part = update_row(t, to, r.bytes);
            if (part < r.bytes)
                return done + part;
            rows = 1;
        }
        to += (int64_t)rows * r.stride;
        r.rows -= rows;
        done += rows * r.bytes;
    }
    return done;
}

/* An element that is split over blocks of the shape. Returns its size, or 0 if the lock was held elsewhere. */
static size_t update_split(struct data_task *t, char *first, struct data_cursor *c) {
    char element[DATA_ELEMENT_MOST];
    struct data_cursor start = *c;
    if (!hold_at(&t->hold, first + data_cursor_rest(c).offset, t->unit))
        return 0;
    data_cursor_gather(c, element, first, t->unit);
    task_apply(t, element, 0, 1, t->unit);
    if (t->combine)
        data_cursor_scatter(&start, first, element, t->unit);
    t->hold.room -= t->unit;
    return t->unit;
}

static __attribute__((noinline)) uint64_t update_shape(struct net_lock_table *locks,
                                                       const struct data_update *u, bool waits) {
    struct data_task t = {.hold = {.locks = locks, .waits = waits},
                          .combine = data_element_kernel(u->op, u->type),
                          .unit = data_element_bytes(u->type),
                          .packed = u->packed,
                          .old = u->old};
    struct data_cursor c;
    uint64_t done = 0;
    data_cursor_start(&c, u->shape, u->from);
    while (u->bytes - done >= t.unit) {
        struct data_run run;
        uint64_t part, all = t.unit;
        if (data_cursor_take(&c, u->bytes - done, t.unit, &run)) {
            part = update_run(&t, u->to + run.offset, run);
            all = run.rows * run.bytes;
        } else {
            part = update_split(&t, u->to, &c);
        }
        done += part;
        if (part < all)
            break;
    }
    hold_release(&t.hold);
    return done;
}

/* Whether all elements of a contiguous range begin in one block. */
static inline bool range_in_block(const char *to, uint64_t bytes, size_t unit) {
    return bytes - 1 < LOCK_TABLE_GRAIN && (uintptr_t)to % LOCK_TABLE_GRAIN + bytes - unit < LOCK_TABLE_GRAIN;
}

/* One range in one block needs neither a cursor nor a hold. */
static inline __attribute__((always_inline)) uint64_t update_range(struct net_lock_table *locks,
                                                                   const struct data_update *u, bool waits) {
    data_kernel *combine = data_element_kernel(u->op, u->type);
    char *to = u->to + u->from;
    if (!combine && !u->old)
        return u->bytes;
    if (!shape_is_contiguous(u->shape) || !range_in_block(to, u->bytes, data_element_bytes(u->type)))
        return update_shape(locks, u, waits);
    if (waits)
        net_lock_table_lock(locks, to);
    else if (!net_lock_table_try(locks, to))
        return 0;
    if (u->old && u->bytes == 8)
        memcpy(u->old, to, 8); /* the most common size, without a call */
    else if (u->old)
        memcpy(u->old, to, u->bytes);
    if (combine)
        combine(to, 0, u->packed, 1, u->bytes);
    net_lock_table_unlock(locks, to);
    return u->bytes;
}

uint64_t data_update_wait(struct net_lock_table *locks, const struct data_update *u) {
    return update_range(locks, u, true);
}

uint64_t data_update_try(struct net_lock_table *locks, const struct data_update *u) {
    return update_range(locks, u, false);
}

/* ---- compare and swap ---- */

bool data_swap_allows(unsigned type) {
    return type <= DATA_UINT64 || (type >= DATA_BOOL && type <= DATA_BYTE);
}

/* The types are of 1, 2, 4 and 8 bytes. */
#define SWAP_IF_EQUAL(size)                                                                                  \
    do {                                                                                                     \
        char held[size];                                                                                     \
        memcpy(held, element, size);                                                                         \
        if (!memcmp(held, expected, size))                                                                   \
            memcpy(element, desired, size);                                                                  \
        memcpy(old, held, size);                                                                             \
    } while (0)

static void swap_if_equal(size_t bytes, void *element, const void *expected, const void *desired, void *old) {
    switch (bytes) {
    case 1:
        SWAP_IF_EQUAL(1);
        break;
    case 2:
        SWAP_IF_EQUAL(2);
        break;
    case 4:
        SWAP_IF_EQUAL(4);
        break;
    default:
        SWAP_IF_EQUAL(8);
    }
}

bool data_swap_if(struct net_lock_table *locks, enum data_type type, void *element, const void *expected,
                  const void *desired, void *old, bool waits) {
    if (waits)
        net_lock_table_lock(locks, element);
    else if (!net_lock_table_try(locks, element))
        return false;
    swap_if_equal(data_element_bytes(type), element, expected, desired, old);
    net_lock_table_unlock(locks, element);
    return true;
}
