/* accumulate.h: dst[i] += scale * src[i], for ARMCI's six types. */
#ifndef HEARTH_ARMCI_ACCUMULATE_H
#define HEARTH_ARMCI_ACCUMULATE_H

#include <stddef.h>

#include "armci/patch.h"
#include "net/net.h"

/* The values of ARMCI_ACC_*; not from there, as that header needs MPI. */
enum accumulate_type { ACC_INT, ACC_LONG, ACC_FLOAT, ACC_DOUBLE, ACC_COMPLEX, ACC_DOUBLE_COMPLEX };

/* Bytes of an element of an ARMCI_ACC_* type, 0 if it is none. */
size_t accumulate_grain(int type);

/* dst[i] += scale * src[i] over so many bytes, a multiple of the grain. Neither needs to be aligned. No lock. */
void accumulate_plain(int type, const void *scale, void *dst, const void *src, size_t bytes);

/* The same, atomic per element against all others who use the same stripes: the lock of each block of
 * STRIPE_BYTES is held while that block is changed. An element that lies across two blocks counts to the first: whoever
 * accumulates to it takes the same lock. */
void accumulate(struct net_stripes *stripes, int type, const void *scale, void *dst, const void *src,
                size_t bytes);

/* For a helper: only tries the locks. Returns how many bytes were done: fewer than `bytes` if a lock was held. */
size_t accumulate_try(struct net_stripes *stripes, int type, const void *scale, void *dst, const void *src,
                      size_t bytes);

/* From one patch to another of the same number of bytes, under the stripes. Rows are multiples of the grain. A lock is
 * kept for following rows of the same block, but for no more than STRIPE_BYTES of data. */
void accumulate_patch(struct net_stripes *stripes, int type, const void *scale, const struct patch *to,
                      const struct patch *from);

/* Packed bytes [from, from + bytes) into the patch, trying; both multiples of the grain. Returns how many were
 * done: go on at from + done, with packed + done. */
size_t accumulate_patch_try(struct net_stripes *stripes, int type, const void *scale, const struct patch *to,
                            uint64_t from, const void *packed, size_t bytes);

#endif
