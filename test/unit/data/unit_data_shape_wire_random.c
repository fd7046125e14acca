/* unit_data_shape_wire_random.c: tests the encoding of shapes for messages: random shapes are written as pieces into
 * buffers of random sizes and read back, also after random damage.
 *
 * The pieces of a range, in order, must cover exactly the bytes of the range, in packed order, whatever the buffer size. Small
 * shapes are also copied through their pieces. A damaged piece must be refused, or be a valid piece that stays inside its
 * hull and whose numbers do not overflow.
 *
 * Options: --seconds N, --operations N (pieces), --seed N. */
#include <errno.h>

#include "base/random.h"
#include "data/data.h"
#include "episodes.h"
#include "shape_help.h"
#include "tables/shape.h"

enum { ROOM = 512, MOST = ROOM / 8 };

static struct random dice;
static uint64_t round_seed;

static void fail(const char *what, int line) {
    printf("FAIL data_shape_wire_random %s:%d: not so: %s (replay with --seed %llu --operations 1)\n",
           __FILE__, line, what, (unsigned long long)round_seed);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

/* ---- the bytes that a range covers, as extents; adjacent ones are merged ---- */

struct hull {
    uint64_t count;
    struct {
        uint64_t address, bytes;
    } at[SHAPE_BYTES];
};

static void extents_add(struct hull *e, uint64_t address, uint64_t bytes) {
    if (e->count && e->at[e->count - 1].address + e->at[e->count - 1].bytes == address) {
        e->at[e->count - 1].bytes += bytes;
        return;
    }
    require(e->count < SHAPE_BYTES);
    e->at[e->count].address = address;
    e->at[e->count++].bytes = bytes;
}

static void extents_add_range(struct hull *e, uint64_t address, const struct shape *s, uint64_t from,
                              uint64_t bytes) {
    for (uint64_t i = 0; i < s->blocks && bytes; i++) {
        struct shape_block b = shape_block_at(s, i);
        uint64_t skip = from < b.bytes ? from : b.bytes, part = b.bytes - skip;
        part = part < bytes ? part : bytes;
        if (part)
            extents_add(e, address + (uint64_t)b.offset + skip, part);
        from -= skip;
        bytes -= part;
    }
    require(!bytes);
}

static bool extents_equal(const struct hull *a, const struct hull *b) {
    return a->count == b->count && !memcmp(a->at, b->at, a->count * sizeof a->at[0]);
}

/* ---- shapes: small ones, and some whose blocks are large or far apart ---- */

static void choose_large(struct random_shape *r, size_t unit) {
    uint32_t blocks = 1 + roll(SHAPE_BLOCKS);
    uint64_t all = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        uint64_t bytes = (roll(4) ? 1 + roll(100) : (random_next(&dice) >> 30) + 1) * unit;
        int64_t step = roll(3) ? (int64_t)roll(1000) : (int64_t)(random_next(&dice) >> (20 + roll(12)));
        int64_t at = i ? r->list[i - 1].offset + (int64_t)r->list[i - 1].bytes + step : 0;
        r->list[i] = (struct shape_block){.offset = at, .bytes = bytes};
        all += bytes;
    }
    r->shape = (struct shape){.bytes = all, .blocks = blocks, .list = r->list};
    if (roll(4) == 0)
        r->shape = (struct shape){.bytes = blocks * (unit << 32),
                                  .blocks = blocks,
                                  .block_bytes = unit << 32,
                                  .stride = (int64_t)(roll(2) ? unit << 33 : -(unit << 32))};
    shape_hull(&r->shape, &r->low, &r->high);
}

static uint64_t choose_address(const struct random_shape *r) {
    uint64_t low = (uint64_t)-r->low, most = (uint64_t)INT64_MAX - (uint64_t)r->high;
    switch (roll(3)) {
    case 0:
        return low;
    case 1:
        return most;
    default:
        return low + random_next(&dice) % (most - low + 1);
    }
}

/* ---- one piece ---- */

static void check_piece(const struct data_piece *p, size_t most) {
    require(p->bytes && p->shape.bytes <= INT64_MAX && p->from < p->shape.bytes);
    require(p->bytes <= p->shape.bytes - p->from);
    require(p->low <= p->address && p->address < p->high && p->high <= INT64_MAX);
    require(!p->shape.list || p->shape.blocks <= most);
    int64_t low, high;
    shape_hull(&p->shape, &low, &high);
    require(p->low == p->address + (uint64_t)low && p->high == p->address + (uint64_t)high);
    if (!p->shape.list)
        return;
    uint64_t all = 0;
    for (uint64_t i = 0; i < p->shape.blocks; i++) {
        require(p->shape.list[i].bytes);
        all += p->shape.list[i].bytes;
    }
    require(all == p->shape.bytes);
}

/* Reads a damaged copy, perhaps truncated, in its own allocation, so that a sanitizer detects reads beyond its end. */
static void check_damage(const char *wire, size_t length) {
    struct shape_block list[MOST];
    struct data_piece p;
    size_t given = roll(2) ? length : roll((uint32_t)length + 1), most = roll(4) ? MOST : roll(8);
    char *copy = malloc(given ? given : 1);
    memcpy(copy, wire, given);
    for (uint32_t i = 1 + roll(4); i && given; i--) {
        uint32_t at = roll(2) && given > 24 ? roll(24) : roll((uint32_t)given);
        copy[at] = (char)(roll(3) ? copy[at] ^ 1 << roll(8) : (int)roll(256));
    }
    ssize_t result = data_shape_read(&p, list, most, copy, given);
    require(result == -EPROTO || (result > 0 && (size_t)result <= given));
    if (result > 0)
        check_piece(&p, most);
    free(copy);
}

/* Reads a piece back and adds the bytes that it covers to `e`. Truncated input, and lists that are too short, must be refused. */
static void read_piece(const char *wire, size_t length, uint64_t covered, struct hull *e,
                       struct data_piece *p, struct shape_block *list) {
    struct data_piece other;
    require(data_shape_read(p, list, MOST, wire, length) == (ssize_t)length);
    check_piece(p, MOST);
    require(p->bytes == covered);
    extents_add_range(e, p->address, &p->shape, p->from, p->bytes);
    require(data_shape_read(&other, list, MOST, wire, roll((uint32_t)length)) == -EPROTO);
    if (p->shape.list)
        require(data_shape_read(&other, list, p->shape.blocks - 1, wire, length) == -EPROTO);
    require(data_shape_read(p, list, p->shape.blocks, wire, length) == (ssize_t)length);
}

/* A random buffer size, sometimes too small for any piece. */
static size_t choose_room(void) {
    return roll(4) ? DATA_SHAPE_WIRE + roll(ROOM - DATA_SHAPE_WIRE + 1) : roll(DATA_SHAPE_WIRE);
}

/* Writes the next piece. Returns its length; 0 if the buffer was too small. */
static size_t write_piece(struct data_cursor *c, uint64_t address, uint64_t bytes, size_t unit, char *wire,
                          uint64_t *covered) {
    struct data_cursor before = *c;
    size_t room = choose_room();
    memset(wire + room, 0x77, 8);
    size_t length = data_shape_write(c, address, bytes, unit, wire, room, covered);
    require(length <= room && *covered <= bytes && *covered % unit == 0);
    for (int i = 0; i < 8; i++)
        require(wire[room + i] == 0x77);
    if (!length)
        require(!*covered && c->index == before.index && c->within == before.within);
    require(length || room < DATA_SHAPE_WIRE || unit > 1);
    require(c->shape->list || !length || (*covered == bytes && length <= DATA_SHAPE_WIRE));
    return length;
}

/* ---- rounds ---- */

static char memory[1 << 19], copied[SHAPE_BYTES], expected[SHAPE_BYTES];

/* Gathers and scatters the bytes of a piece. */
static void copy_through(const struct data_piece *p, const struct random_shape *r, uint64_t base,
                         uint64_t from) {
    struct data_cursor c;
    char *first = memory + (p->address - base);
    data_cursor_start(&c, &p->shape, p->from);
    data_cursor_gather(&c, copied, first, p->bytes);
    for (uint64_t i = 0; i < p->bytes; i++)
        expected[i] = memory[r->place[from + i] - r->low];
    require(!memcmp(copied, expected, p->bytes));
    for (uint64_t i = 0; i < p->bytes; i++)
        copied[i] = (char)(copied[i] + 1);
    data_cursor_start(&c, &p->shape, p->from);
    data_cursor_scatter(&c, first, copied, p->bytes);
    for (uint64_t i = 0; i < p->bytes; i++)
        require(memory[r->place[from + i] - r->low] == copied[i]);
}

static uint64_t run_round(uint64_t seed) {
    static struct random_shape r;
    static struct hull wanted, found;
    struct shape_block list[MOST];
    struct data_piece p;
    struct data_cursor c;
    char wire[ROOM + 8];
    static const uint8_t units[] = {1, 1, 4, 6, 8, 12, 16, 20, 32};
    uint64_t pieces = 0, covered;
    round_seed = seed;
    random_seed(&dice, seed);
    size_t unit = units[roll(sizeof units)];
    bool large = roll(3) == 0;
    if (large)
        choose_large(&r, unit);
    else
        shape_choose(&r, &dice, unit);
    uint64_t count = r.shape.bytes / unit, from = roll(2) ? random_next(&dice) % count : 0,
             bytes = (roll(2) ? 1 + random_next(&dice) % (count - from) : count - from) * unit,
             address = choose_address(&r);
    from *= unit;
    wanted.count = found.count = 0;
    extents_add_range(&wanted, address, &r.shape, from, bytes);
    data_cursor_start(&c, &r.shape, from);
    for (; bytes; bytes -= covered, from += covered, pieces++) {
        size_t length = write_piece(&c, address, bytes, unit, wire, &covered);
        if (!length)
            continue;
        read_piece(wire, length, covered, &found, &p, list);
        if (!large && r.high - r.low <= (int64_t)sizeof memory)
            copy_through(&p, &r, address + (uint64_t)r.low, from);
        check_damage(wire, length);
    }
    require(extents_equal(&wanted, &found));
    return pieces;
}

int main(int argc, char **argv) {
    struct episodes e = {
        .name = "data_shape_wire_random", .operations = "pieces in", .things = "rounds", .run = run_round};
    return episodes_run(e, argc, argv);
}
