/* shape_wire.h: a range of an access, encoded for a helper on another node.
 *
 * The sender cuts a range of packed order into pieces. A piece that is contiguous or regular takes at most DATA_SHAPE_WIRE
 * bytes, however long it is; a piece of an irregular shape takes 8 bytes per block (16 if the blocks lie more than 2 GB
 * apart) and covers as many as fit in the room that is left:
 *
 *      data_cursor_start(&c, shape, from);
 *      while (bytes) {
 *          length = data_shape_write(&c, address, bytes, unit, wire, room, &covered);
 *          ... send `length` bytes of wire with `covered` bytes of data ...
 *          bytes -= covered;
 *      }
 *
 * The receiver decodes the piece with data_shape_read, and passes it to data_cursor_start or in a struct data_update. */
#ifndef HEARTH_DATA_SHAPE_WIRE_H
#define HEARTH_DATA_SHAPE_WIRE_H

#include <sys/types.h>

#include "data/cursor.h"
#include "tables/shape.h"

enum { DATA_SHAPE_WIRE = 48 };

/* Encodes the next bytes at the cursor, and advances the cursor over the `*covered` bytes that the piece contains: all `bytes`
 * of a contiguous or regular shape, and of a list as many as fit, always whole units (elements; 1 for plain copies).
 * `bytes` is a multiple of the unit and at least one. `address` is that of the shape's first byte, or an offset that the
 * receiver understands; with the shape it lies between 0 and INT64_MAX. The wire needs no alignment. Returns the number of
 * bytes written: at most `room`, and never 0 if room is at least DATA_SHAPE_WIRE and no unit is split over more than two
 * blocks. Otherwise it may return 0, and then *covered is 0 and the cursor has not moved. */
size_t data_shape_write(struct data_cursor *c, uint64_t address, uint64_t bytes, size_t unit, void *wire,
                        size_t room, uint64_t *covered);

/* Bytes [from, from + bytes) in the packed order of a shape whose first byte is at `address`. All that the piece covers, and
 * possibly the rest of its first and last block, lies in [low, high). */
struct data_piece {
    uint64_t address;
    struct shape shape;
    uint64_t from, bytes;
    uint64_t low, high;
};

/* Decodes the piece at the beginning of these bytes, which are not trusted. Returns how many bytes it consumed, or -EPROTO:
 * truncated, of an unknown kind, empty, more than `most` blocks in a list, or not between addresses 0 and INT64_MAX. The
 * blocks of a list are put into `list`, which the shape refers to; room for bytes / 8 blocks is always enough.
 *
 * After success all sums of offsets, blocks and addresses are free of overflow. The caller must check that the sender may
 * access [low, high), that the operation can process piece->bytes (a stride of 0 covers any number of bytes in one place),
 * and that they are a multiple of the element size. */
ssize_t data_shape_read(struct data_piece *piece, struct shape_block *list, size_t most, const void *wire,
                        size_t bytes);

#endif
