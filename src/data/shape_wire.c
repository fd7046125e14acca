/* shape_wire.c: encodes and decodes pieces of shapes, in the byte order of the machine, which all nodes of a job share.
 *
 *      kind 4 | blocks 4 | address 8 |
 *          CONTIGUOUS    bytes 8
 *          REGULAR       block_bytes 8, stride 8, skip 8, bytes 8
 *          NARROW_LIST   blocks x (offset 4, bytes 4)
 *          WIDE_LIST     blocks x (offset 8, bytes 8)
 *
 * `blocks` is 0 unless there is a list. The address is that of the first byte of the piece, for REGULAR that of the block where
 * the piece begins, `skip` bytes before it. Offsets are relative to the address; the first is 0. A list has wide entries only
 * if a block does not fit a narrow one, and wide entries do not cover less than the narrow ones before that block. */
#include "data/shape_wire.h"

#include <errno.h>

enum wire_kind { WIRE_CONTIGUOUS = 1, WIRE_REGULAR, WIRE_NARROW_LIST, WIRE_WIDE_LIST };

struct wire_head {
    uint32_t kind, blocks;
    uint64_t address;
};

struct wire_regular {
    uint64_t block_bytes;
    int64_t stride;
    uint64_t skip, bytes;
};

struct wire_narrow {
    int32_t offset;
    uint32_t bytes;
};

_Static_assert(sizeof(struct wire_head) + sizeof(struct wire_regular) == DATA_SHAPE_WIRE, "as documented");
_Static_assert(sizeof(struct wire_head) + 2 * sizeof(struct shape_block) <= DATA_SHAPE_WIRE,
               "two blocks fit");

static size_t entry_bytes(enum wire_kind kind) {
    return kind == WIRE_NARROW_LIST ? sizeof(struct wire_narrow) : sizeof(struct shape_block);
}

/* ---- writing ---- */

static size_t wire_put(char *wire, size_t room, const struct wire_head *head, const void *rest,
                       size_t bytes) {
    if (room < sizeof *head + bytes)
        return 0;
    memcpy(wire, head, sizeof *head);
    memcpy(wire + sizeof *head, rest, bytes);
    return sizeof *head + bytes;
}

static size_t write_contiguous(char *wire, size_t room, uint64_t address, uint64_t bytes) {
    struct wire_head head = {.kind = WIRE_CONTIGUOUS, .address = address};
    return wire_put(wire, room, &head, &bytes, sizeof bytes);
}

static size_t write_regular(const struct data_cursor *c, char *wire, size_t room, uint64_t address,
                            uint64_t bytes) {
    const struct shape *s = c->shape;
    struct wire_head head = {.kind = WIRE_REGULAR, .address = address + c->index * (uint64_t)s->stride};
    struct wire_regular r = {
        .block_bytes = s->block_bytes, .stride = s->stride, .skip = c->within, .bytes = bytes};
    return wire_put(wire, room, &head, &r, sizeof r);
}

/* The entries of a list while they are written. */
struct wire_list {
    enum wire_kind kind;
    char *entries;
    uint32_t count, most;
    uint64_t covered;
};

static bool is_narrow(const struct shape_block *b) {
    return b->offset >= INT32_MIN && b->offset <= INT32_MAX && b->bytes <= UINT32_MAX;
}

static void list_set(struct wire_list *l, uint32_t i, const struct shape_block *b) {
    struct wire_narrow n = {.offset = (int32_t)b->offset, .bytes = (uint32_t)b->bytes};
    const void *entry = l->kind == WIRE_NARROW_LIST ? (const void *)&n : b;
    memcpy(l->entries + i * entry_bytes(l->kind), entry, entry_bytes(l->kind));
}

static struct shape_block list_get(enum wire_kind kind, const char *entries, uint64_t i) {
    struct shape_block b;
    struct wire_narrow n;
    if (kind == WIRE_WIDE_LIST) {
        memcpy(&b, entries + i * sizeof b, sizeof b);
        return b;
    }
    memcpy(&n, entries + i * sizeof n, sizeof n);
    return (struct shape_block){.offset = n.offset, .bytes = n.bytes};
}

/* Removes this many bytes, an incomplete unit, from the end. */
static void list_trim(struct wire_list *l, uint64_t bytes) {
    l->covered -= bytes;
    while (bytes) {
        struct shape_block last = list_get(l->kind, l->entries, l->count - 1);
        uint64_t part = last.bytes < bytes ? last.bytes : bytes;
        last.bytes -= part;
        bytes -= part;
        if (last.bytes)
            list_set(l, l->count - 1, &last);
        else
            l->count--;
    }
}

/* Writes blocks from the cursor on, until `bytes` are covered, the room is full, or a block does not fit a narrow entry.
 * Returns true if it stopped at such a block. */
static bool list_fill(struct wire_list *l, struct data_cursor c, uint64_t bytes, size_t unit) {
    int64_t first = data_cursor_rest(&c).offset;
    bool misfit = false;
    while (l->count < l->most && l->covered < bytes) {
        struct shape_block b = data_cursor_rest(&c);
        uint64_t left = bytes - l->covered;
        b.offset -= first;
        b.bytes = b.bytes < left ? b.bytes : left;
        misfit = l->kind == WIRE_NARROW_LIST && !is_narrow(&b);
        if (misfit)
            break;
        list_set(l, l->count++, &b);
        l->covered += b.bytes;
        data_cursor_skip(&c, b.bytes);
    }
    list_trim(l, l->covered % unit);
    return misfit;
}

static struct wire_list list_start(enum wire_kind kind, char *wire, size_t room) {
    size_t most = (room - sizeof(struct wire_head)) / entry_bytes(kind);
    return (struct wire_list){.kind = kind,
                              .entries = wire + sizeof(struct wire_head),
                              .most = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX};
}

static size_t write_list(const struct data_cursor *c, char *wire, size_t room, uint64_t address,
                         uint64_t bytes, size_t unit, uint64_t *covered) {
    if (room < sizeof(struct wire_head))
        return 0;
    struct wire_list list = list_start(WIRE_NARROW_LIST, wire, room);
    if (list_fill(&list, *c, bytes, unit)) {
        uint64_t narrow = list.covered;
        list = list_start(WIRE_WIDE_LIST, wire, room);
        list_fill(&list, *c, bytes, unit);
        if (list.covered < narrow) {
            list = list_start(WIRE_NARROW_LIST, wire, room);
            list_fill(&list, *c, bytes, unit);
        }
    }
    if (!list.covered)
        return 0;
    struct wire_head head = {.kind = list.kind, .blocks = list.count, .address = address};
    memcpy(wire, &head, sizeof head);
    *covered = list.covered;
    return sizeof head + list.count * entry_bytes(list.kind);
}

size_t data_shape_write(struct data_cursor *c, uint64_t address, uint64_t bytes, size_t unit, void *wire,
                        size_t room, uint64_t *covered) {
    struct shape_block rest = data_cursor_rest(c);
    uint64_t first = address + (uint64_t)rest.offset, all = bytes;
    size_t length;
    if (rest.bytes >= bytes)
        length = write_contiguous(wire, room, first, bytes);
    else if (!c->shape->list)
        length = write_regular(c, wire, room, address, bytes);
    else
        length = write_list(c, wire, room, first, bytes, unit, &all);
    *covered = length ? all : 0;
    data_cursor_skip(c, *covered);
    return length;
}

/* ---- reading ---- */

/* The numbers are not trusted: 128 bits hold any sum and product of two of them. Returns true if the range lies in the
 * address space. */
static bool piece_set_hull(struct data_piece *p, __int128 low, __int128 high) {
    low += p->address;
    high += p->address;
    p->low = (uint64_t)low;
    p->high = (uint64_t)high;
    return low >= 0 && high <= INT64_MAX;
}

static bool read_contiguous(struct data_piece *p, const char *wire) {
    memcpy(&p->bytes, wire, sizeof p->bytes);
    p->shape = shape_contiguous(p->bytes);
    return p->bytes && piece_set_hull(p, 0, p->bytes);
}

static bool read_regular(struct data_piece *p, const char *wire) {
    struct wire_regular r;
    uint64_t end, all;
    memcpy(&r, wire, sizeof r);
    if (!r.bytes || r.skip >= r.block_bytes || __builtin_add_overflow(r.skip, r.bytes, &end))
        return false;
    uint64_t blocks = (end - 1) / r.block_bytes + 1;
    if (__builtin_mul_overflow(blocks, r.block_bytes, &all) || all > INT64_MAX)
        return false;
    /* The stride of a single block is not part of the range checked below, so it is not kept. */
    p->shape = (struct shape){
        .bytes = all, .blocks = blocks, .block_bytes = r.block_bytes, .stride = blocks > 1 ? r.stride : 0};
    p->from = r.skip;
    p->bytes = r.bytes;
    __int128 last = (__int128)r.stride * (__int128)(blocks - 1);
    return piece_set_hull(p, last < 0 ? last : 0, (last > 0 ? last : 0) + (__int128)r.block_bytes);
}

static bool read_list(struct data_piece *p, const struct wire_head *head, const char *wire,
                      struct shape_block *list) {
    __int128 low = 0, high = 0;
    for (uint32_t i = 0; i < head->blocks; i++) {
        struct shape_block b = list_get(head->kind, wire, i);
        __int128 end = (__int128)b.offset + b.bytes;
        low = b.offset < low ? b.offset : low;
        high = end > high ? end : high;
        if (!b.bytes || __builtin_add_overflow(p->bytes, b.bytes, &p->bytes))
            return false;
        list[i] = b;
    }
    if (list[0].offset || p->bytes > INT64_MAX)
        return false;
    p->shape = (struct shape){.bytes = p->bytes, .blocks = head->blocks, .list = list};
    return piece_set_hull(p, low, high);
}

/* How many bytes follow the head; 0 if there is no such kind, or it comes with a wrong number of blocks. */
static size_t wire_rest(const struct wire_head *head, size_t most) {
    bool fits = head->blocks && head->blocks <= most;
    switch (head->kind) {
    case WIRE_CONTIGUOUS:
        return head->blocks ? 0 : sizeof(uint64_t);
    case WIRE_REGULAR:
        return head->blocks ? 0 : sizeof(struct wire_regular);
    case WIRE_NARROW_LIST:
    case WIRE_WIDE_LIST:
        return fits ? head->blocks * entry_bytes(head->kind) : 0;
    default:
        return 0;
    }
}

ssize_t data_shape_read(struct data_piece *piece, struct shape_block *list, size_t most, const void *wire,
                        size_t bytes) {
    struct wire_head head;
    const char *rest = (const char *)wire + sizeof head;
    if (bytes < sizeof head)
        return -EPROTO;
    memcpy(&head, wire, sizeof head);
    size_t length = wire_rest(&head, most);
    if (!length || length > bytes - sizeof head)
        return -EPROTO;
    struct data_piece p = {.address = head.address};
    bool valid = head.kind == WIRE_CONTIGUOUS ? read_contiguous(&p, rest)
                 : head.kind == WIRE_REGULAR  ? read_regular(&p, rest)
                                              : read_list(&p, &head, rest, list);
    if (!valid)
        return -EPROTO;
    *piece = p;
    return (ssize_t)(sizeof head + length);
}
