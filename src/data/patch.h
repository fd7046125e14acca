/* patch.h: a strided area of memory, as ARMCI describes it.
 *
 *      count[0] bytes in a row; count[1] rows, stride[0] bytes apart; count[2] of these, stride[1] apart; ...
 *
 * Its bytes have an order (rows first), in which they are packed: a block of an operation is a range of this order.
 * Levels that continue each other without a gap are merged when the patch is made, so that a contiguous patch has 0
 * levels. Strides are positive or negative; rows must not overlap if the patch is written. */
#ifndef HEARTH_DATA_PATCH_H
#define HEARTH_DATA_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATCH_LEVELS = 7 }; /* at most; ARMCI's own limit */

struct patch {
    char *base;
    uint32_t levels;
    uint64_t bytes; /* of all rows */
    int64_t stride[PATCH_LEVELS];
    uint64_t count[PATCH_LEVELS + 1];
};

struct patch data_patch_row(const void *base, size_t bytes);

/* From the arguments of an ARMCI call. Returns 0, or -EINVAL: more than PATCH_LEVELS levels or less than 0, a
 * negative count, or more than INT64_MAX bytes. A count of 0 anywhere makes it empty. */
int data_patch_make(struct patch *p, const void *base, const int strides[], const int counts[], int levels);

/* Makes two patches of the same counts. Levels are merged only where both patches allow it, so that their counts stay
 * equal; separate calls of data_patch_make could make them differ. */
int data_patch_make_pair(struct patch *a, const void *a_base, const int a_strides[], struct patch *b,
                         const void *b_base, const int b_strides[], const int counts[], int levels);

/* The lowest byte, and one beyond the highest; low == high if it is empty. A patch that would leave the address
 * space is clipped to it. */
void data_patch_hull(const struct patch *p, char **low, char **high);

/* Copies the packed bytes [from, from + bytes) out of the patch, or into it. */
void data_patch_pack(const struct patch *p, uint64_t from, void *packed, size_t bytes);
void data_patch_unpack(const struct patch *p, uint64_t from, const void *packed, size_t bytes);

/* Copies between patches of the same number of bytes but possibly different rows. Fastest if the counts are equal.
 * The patches must not overlap. Uses non-temporal stores where that pays (rows.c), and then ends with a store fence. */
void data_patch_copy(const struct patch *to, const struct patch *from);

/* Calls `each` for the pieces of the packed range [from, from + bytes), in order, with their addresses and their
 * offsets in the range. `each` returns false to stop. Returns the number of bytes before the piece where it stopped, or
 * `bytes`. */
typedef bool patch_piece(void *arg, char *place, uint64_t offset, size_t bytes);
uint64_t data_patch_walk(const struct patch *p, uint64_t from, uint64_t bytes, patch_piece *each, void *arg);

/* The same for a range of two patches at once, as runs of equal rows, for operations other than copying.
 *
 *      data_patch_pair_start(&pair, to, 0, from, 0, to->bytes);
 *      while (data_patch_pair_next(&pair, &rows))
 *          ...
 *
 * The runs come in packed order, and so do the rows of each. If all rows of both are multiples of a grain, and the
 * ranges begin at one, so are the rows of the runs. */
struct patch_rows {
    char *to;
    const char *from;
    int64_t to_stride, from_stride;
    uint64_t rows;
    size_t bytes; /* of each row */
};

struct patch_cursor {
    const struct patch *patch;
    uint64_t offset; /* of the row from the base; wraps, as it may be negative */
    uint64_t within; /* bytes of the row already passed: fewer than the row has */
    uint64_t index[PATCH_LEVELS];
};

struct patch_pair {
    struct patch_cursor to, from;
    uint64_t left;
};

void data_patch_pair_start(struct patch_pair *pair, const struct patch *to, uint64_t to_from,
                           const struct patch *from, uint64_t from_from, uint64_t bytes);
bool data_patch_pair_next(struct patch_pair *pair, struct patch_rows *rows);

/* The encoding of a patch in a block's header: at most PATCH_WIRE bytes, unaligned. data_patch_write returns its length;
 * data_patch_read returns how many bytes it consumed, or -EPROTO: truncated, empty, or an impossible patch. The reader
 * must check with data_patch_hull whether the sender may access that memory. */
enum { PATCH_WIRE = 8 + 4 + PATCH_LEVELS * 8 + 8 + PATCH_LEVELS * 4 };
size_t data_patch_write(const struct patch *p, void *wire);
int data_patch_read(struct patch *p, const void *wire, size_t bytes);

#endif
