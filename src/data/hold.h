/* hold.h: holds the lock of the block where the next element begins. Internal to data/.
 *
 * An element belongs to the block of its first byte, for all processes. The two parts of a complex number may also be
 * elements of other accumulates. If they begin in different blocks, it is changed under both locks (data_hold_both).
 *
 * A hold keeps the lock of a block while the next rows lie in the same block, so that rows of 8 bytes do not take it one
 * by one, but for at most LOCK_TABLE_GRAIN of data. It has one lock at a time, so there is no lock order to keep.
 *
 *      while there are rows:
 *          data_hold_at(&h, to, unit)
 *          rows = data_hold_rows(&h, to, stride, rows left, bytes, unit)
 *          change these rows, or if there are none, data_hold_part bytes of the first; h.room -= their bytes
 *      data_hold_release(&h)
 *
 * All functions are inline: an update of one element consists of little else. */
#ifndef HEARTH_DATA_HOLD_H
#define HEARTH_DATA_HOLD_H

#include "base/compiler.h"
#include "net/net.h"

struct data_hold {
    struct net_lock_table *locks;
    bool waits;
    const char *place; /* the address for which it was locked; NULL: no lock is held */
    size_t room;       /* bytes that may still be changed under it */
};

/* Acquires the lock of this block. False if it is held elsewhere and `waits` is false. */
static inline bool data_hold_lock(struct net_lock_table *locks, const void *place, bool waits) {
    if (!waits)
        return net_lock_table_try(locks, place);
    net_lock_table_lock(locks, place);
    return true;
}

static inline void data_hold_release(struct data_hold *h) {
    if (h->place)
        net_lock_table_unlock(h->locks, h->place);
    h->place = NULL;
}

/* Makes sure that the lock is held for an element that begins here. False if it is held elsewhere and h->waits is false. */
static inline bool data_hold_at(struct data_hold *h, const char *place, size_t unit) {
    if (LIKELY(h->place) && ((uintptr_t)h->place ^ (uintptr_t)place) < LOCK_TABLE_GRAIN && h->room >= unit)
        return true;
    data_hold_release(h);
    if (!data_hold_lock(h->locks, place, h->waits))
        return false;
    h->place = place;
    h->room = LOCK_TABLE_GRAIN;
    return true;
}

/* The number of rows from this one on whose elements all begin in the block of its first byte. */
static inline uint64_t data_hold_rows_in_block(const char *to, int64_t stride, uint64_t rows, uint64_t bytes,
                                               size_t unit) {
    uint64_t first = (uintptr_t)to % LOCK_TABLE_GRAIN, last = first + bytes - unit;
    if (last >= LOCK_TABLE_GRAIN)
        return 0;
    if (rows == 1 || stride >= LOCK_TABLE_GRAIN || stride <= -LOCK_TABLE_GRAIN)
        return 1;
    uint64_t step = (uint64_t)(stride < 0 ? -stride : stride);
    uint64_t room = stride < 0 ? first : LOCK_TABLE_GRAIN - 1 - last;
    return (rows - 1) * step <= room ? rows : 1 + room / step;
}

/* The number of rows from `to` on that may be changed under the lock that is held; 0 if not even the first. */
static inline uint64_t data_hold_rows(const struct data_hold *h, const char *to, int64_t stride,
                                      uint64_t rows, uint64_t bytes, size_t unit) {
    uint64_t here = data_hold_rows_in_block(to, stride, rows, bytes, unit);
    return here * bytes <= h->room ? here : h->room / bytes;
}

/* How many of the `bytes` bytes of a row may be changed from here on under the lock that is held: the elements that begin
 * in its block. */
static inline uint64_t data_hold_part(const struct data_hold *h, const char *to, uint64_t bytes,
                                      size_t unit) {
    uint64_t part = round_up(net_lock_table_part(to, bytes), unit), most = h->room / unit * unit;
    return part < most ? part : most;
}

/* Acquires the locks of two neighbouring blocks, which are never the same. No other lock may be held. False if one of them
 * is held elsewhere and `waits` is false. */
static inline bool data_hold_both(struct net_lock_table *locks, const char *first, const char *second,
                                  bool waits) {
    size_t bytes = (size_t)(second - first) + 1;
    if (!waits)
        return net_lock_table_try_range(locks, first, bytes);
    net_lock_table_lock_range(locks, first, bytes);
    return true;
}

static inline void data_hold_release_both(struct net_lock_table *locks) {
    net_lock_table_unlock_range(locks);
}

#endif
