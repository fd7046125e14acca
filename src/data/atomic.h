/* atomic.h: operations on shared memory that are atomic for each element.
 *
 * All functions here that use the same lock table are atomic with respect to each other: the lock of a block of
 * LOCK_TABLE_GRAIN is held while elements that begin in it are read and changed. An element that crosses two blocks belongs to
 * the first. Processor atomics are not used: they would not be atomic with respect to accesses under the locks.
 * Plain loads and stores, also those of data_cursor_gather and _scatter, are not atomic with respect to these functions. */
#ifndef HEARTH_DATA_ATOMIC_H
#define HEARTH_DATA_ATOMIC_H

#include "data/element.h"
#include "net/net.h"
#include "tables/shape.h"

/* to[i] = packed[i] OP to[i] for the elements in the packed range [from, from + bytes) of a shape.
 *
 * The range begins at an element, consists of whole ones, and lies inside the shape. Operands and old values are packed; `old`
 * overlaps neither the operands nor the target. Elements may be split over blocks of the shape, as those of pairs are. If
 * blocks of the shape overlap, which MPI forbids, each operand is still applied, but `old` is unspecified. */
struct data_update {
    enum data_op op; /* that the type allows */
    enum data_type type;
    char *to; /* the first byte of the shape */
    const struct shape *shape;
    uint64_t from;
    const void *packed; /* operands of this range; unused for NO_OP */
    void *old;          /* receives the previous values of this range; or NULL */
    uint64_t bytes;
};

/* Blocks while a lock is held elsewhere. Returns u->bytes. A lock is held for at most LOCK_TABLE_GRAIN of data. */
uint64_t data_update_wait(struct net_lock_table *locks, const struct data_update *u);

/* For a helper: only tries the locks. Returns the bytes done, whole elements: fewer than u->bytes if a lock was held. To
 * continue, call again with from, packed and old advanced and bytes reduced by that number. */
uint64_t data_update_try(struct net_lock_table *locks, const struct data_update *u);

/* One element of at most 8 bytes, without a description: *old = *to, then *to = *operand OP *to. `combine` is the kernel of
 * the operation (element.h); NULL: NO_OP. `old` may be NULL. Blocks while the lock is held elsewhere. */
void data_update_element(struct net_lock_table *locks, data_kernel *combine, void *to, const void *operand,
                         void *old, size_t bytes);

/* Whether compare-and-swap is defined for this type: integers, logical types and bytes. */
bool data_swap_allows(unsigned type);

/* Stores *desired in the element if it equals *expected, bit for bit; *old receives its previous value. Pointers need no
 * alignment. False, and nothing is done, if the lock is held elsewhere and `waits` is false. */
bool data_swap_if(struct net_lock_table *locks, enum data_type type, void *element, const void *expected,
                  const void *desired, void *old, bool waits);

#endif
