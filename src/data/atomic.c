/* atomic.c: updates elements under the locks of the lock table.
 *
 * Three concerns are separate: the cursor, which finds the next rows of the target; kernels, which combine rows and use no
 * locks; and the hold (hold.h), which owns the lock of the block where the next element begins.
 *
 *      run of rows  ->  as many rows as begin and end in this block  ->  kernel
 *                       or, of a row that continues into the next, the elements that begin here
 *      an element split over blocks of the shape  ->  gathered, combined, scattered
 *
 * Old values are copied before the kernel runs, under the same lock. The common case, one contiguous range in one block,
 * has a path of its own (update_range). */
#include "data/atomic.h"

#include "data/cursor.h"
#include "data/hold.h"
#include "data/rows.h"

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

/* One row, in parts, one per block. Returns the bytes done. */
static uint64_t update_row(struct data_task *t, char *to, uint64_t bytes) {
    for (uint64_t done = 0, part; done < bytes; done += part) {
        if (!data_hold_at(&t->hold, to + done, t->unit))
            return done;
        part = data_hold_part(&t->hold, to + done, bytes - done, t->unit);
        task_apply(t, to + done, 0, 1, part);
        t->hold.room -= part;
    }
    return bytes;
}

/* Returns the bytes done: all, unless a lock was held elsewhere. */
static uint64_t update_run(struct data_task *t, char *to, struct data_run r) {
    uint64_t done = 0;
    while (r.rows) {
        if (!data_hold_at(&t->hold, to, t->unit))
            return done;
        uint64_t rows = data_hold_rows(&t->hold, to, r.stride, r.rows, r.bytes, t->unit);
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
    if (!data_hold_at(&t->hold, first + data_cursor_rest(c).offset, t->unit))
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
    data_hold_release(&t.hold);
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
    if (!data_hold_lock(locks, to, waits))
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

void data_update_element(struct net_lock_table *locks, data_kernel *combine, void *to, const void *operand,
                         void *old, size_t bytes) {
    net_lock_table_lock(locks, to);
    if (old && bytes == 8)
        memcpy(old, to, 8);
    else if (old && bytes == 4)
        memcpy(old, to, 4);
    else if (old)
        memcpy(old, to, bytes);
    if (combine)
        combine(to, 0, operand, 1, bytes);
    net_lock_table_unlock(locks, to);
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
    if (!data_hold_lock(locks, element, waits))
        return false;
    swap_if_equal(data_element_bytes(type), element, expected, desired, old);
    net_lock_table_unlock(locks, element);
    return true;
}
