/* accumulate.h: dst[i] += scale * src[i], for ARMCI's six types. */
#ifndef HEARTH_DATA_ACCUMULATE_H
#define HEARTH_DATA_ACCUMULATE_H

#include <stddef.h>

#include "data/patch.h"
#include "net/net.h"

/* The values of ARMCI_ACC_*; not taken from that header, which needs MPI. */
enum accumulate_type { ACC_INT, ACC_LONG, ACC_FLOAT, ACC_DOUBLE, ACC_COMPLEX, ACC_DOUBLE_COMPLEX };

/* Bytes of an element of an ARMCI_ACC_* type; 0 if the type is invalid. */
size_t data_accumulate_grain(int type);

/* dst[i] += scale * src[i] over this many bytes, a multiple of the element size. No alignment required. No lock. */
void data_accumulate_unlocked(int type, const void *scale, void *dst, const void *src, size_t bytes);

/* The same, atomic per element among all users of the same lock table: the lock of each block of LOCK_TABLE_GRAIN is
 * held while that block is changed. An element that crosses two blocks belongs to the first, so all accumulates to it
 * take the same lock. */
void data_accumulate_locked(struct net_lock_table *lock_table, int type, const void *scale, void *dst,
                            const void *src, size_t bytes);

/* For a helper: only tries the locks. Returns the bytes done: fewer than `bytes` if a lock was held. */
size_t data_accumulate_try(struct net_lock_table *lock_table, int type, const void *scale, void *dst,
                           const void *src, size_t bytes);

/* From one patch to another of the same number of bytes, under the locks of the target. Rows are multiples of the
 * element size. A lock is kept for following rows of the same block, but for at most LOCK_TABLE_GRAIN of data. */
void data_accumulate_patch(struct net_lock_table *lock_table, int type, const void *scale,
                           const struct patch *to, const struct patch *from);

/* Adds packed bytes [from, from + bytes) into the patch, only trying the locks; both are multiples of the element
 * size. Returns the bytes done. To continue, call again with from + done and packed + done. */
size_t data_accumulate_patch_try(struct net_lock_table *lock_table, int type, const void *scale,
                                 const struct patch *to, uint64_t from, const void *packed, size_t bytes);

#endif
