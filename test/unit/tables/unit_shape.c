/* unit_shape.c: compares shapes with a list of byte offsets, in packed order. */
#include "test.h"

#include "base/clock.h"
#include "base/random.h"
#include "tables/shape.h"

enum { SPACE = 256, MIDDLE = 128, BLOCKS = 5 };

struct sample {
    struct shape shape;
    struct shape_block list[BLOCKS];
    int offsets[SPACE * BLOCKS]; /* of each packed byte */
    int count;
};

static struct random dice;

static int roll(int n) {
    return (int)random_below(&dice, (uint32_t)n);
}

static void flatten(struct sample *s) {
    s->count = 0;
    for (uint64_t i = 0; i < s->shape.blocks; i++) {
        struct shape_block b = shape_block_at(&s->shape, i);
        for (uint64_t j = 0; j < b.bytes; j++)
            s->offsets[s->count++] = (int)b.offset + (int)j;
    }
}

static void make_regular(struct sample *s) {
    uint64_t blocks = 1 + (uint64_t)roll(BLOCKS), bytes = 1 + (uint64_t)roll(8);
    int64_t stride = roll(41) - 20;
    s->shape =
        (struct shape){.blocks = blocks, .block_bytes = bytes, .stride = stride, .bytes = blocks * bytes};
}

static void make_irregular(struct sample *s) {
    s->shape = (struct shape){.blocks = 1 + (uint64_t)roll(BLOCKS), .list = s->list};
    bool ascending = roll(2);
    int64_t end = 0;
    for (uint64_t i = 0; i < s->shape.blocks; i++) {
        int64_t offset = !i ? 0 : ascending ? end + roll(10) : roll(200) - 100;
        s->list[i] = (struct shape_block){.offset = offset, .bytes = 1 + (uint64_t)roll(12)};
        s->shape.bytes += s->list[i].bytes;
        end = offset + (int64_t)s->list[i].bytes;
    }
}

static void make(struct sample *s) {
    switch (roll(3)) {
    case 0:
        s->shape = shape_contiguous((uint64_t)roll(30));
        break;
    case 1:
        make_regular(s);
        break;
    default:
        make_irregular(s);
    }
    flatten(s);
}

TEST(hull_holds_all_bytes_and_no_more)
{
    random_seed(&dice, 1);
    for (int round = 0; round < 100000; round++) {
        struct sample s;
        int64_t lo, hi, least = 0, most = 0;
        make(&s);
        for (int i = 0; i < s.count; i++) {
            least = s.offsets[i] < least ? s.offsets[i] : least;
            most = s.offsets[i] >= most ? s.offsets[i] + 1 : most;
        }
        shape_hull(&s.shape, &lo, &hi);
        expect_eq(lo, least);
        expect_eq(hi, most);
    }
}

static bool naive_prefix(const struct sample *part, const struct sample *whole) {
    if (part->count > whole->count)
        return false;
    return !memcmp(part->offsets, whole->offsets, (size_t)part->count * sizeof(int));
}

/* Makes a shape of the same bytes, or of the first of them, divided into other blocks. */
static void cut_anew(struct sample *s, const struct sample *from) {
    int count = roll(from->count + 1), blocks = 0;
    for (int i = 0; i < count; i++) {
        bool joins = i && from->offsets[i] == from->offsets[i - 1] + 1;
        if (blocks && joins && (roll(4) || blocks == BLOCKS))
            s->list[blocks - 1].bytes++;
        else if (blocks < BLOCKS)
            s->list[blocks++] = (struct shape_block){.offset = from->offsets[i], .bytes = 1};
        else
            count = i;
    }
    s->shape =
        (struct shape){.blocks = (uint64_t)blocks, .bytes = (uint64_t)count, .list = blocks ? s->list : NULL};
    flatten(s);
}

TEST(prefix_is_what_the_bytes_say)
{
    unsigned yes = 0;
    random_seed(&dice, 2);
    for (int round = 0; round < 300000; round++) {
        struct sample whole, part;
        make(&whole);
        if (roll(2))
            make(&part);
        else
            cut_anew(&part, &whole);
        bool truth = naive_prefix(&part, &whole);
        yes += truth;
        expect_eq(shape_is_prefix(&part.shape, &whole.shape), truth);
    }
    expect(yes > 100000);
}

static bool naive_overlap(const struct sample *a, const struct sample *b, int shift) {
    bool touched[8 * SPACE] = {false};
    for (int i = 0; i < a->count; i++)
        touched[4 * SPACE + a->offsets[i]] = true;
    for (int i = 0; i < b->count; i++)
        if (touched[4 * SPACE + b->offsets[i] + shift])
            return true;
    return false;
}

TEST(overlap_is_what_the_bytes_say)
{
    unsigned yes = 0, no = 0;
    random_seed(&dice, 3);
    for (int round = 0; round < 500000; round++) {
        struct sample a, b;
        make(&a);
        make(&b);
        int shift = roll(240) - 120;
        bool truth = naive_overlap(&a, &b, shift);
        *(truth ? &yes : &no) += 1;
        expect_eq(shape_overlaps(&a.shape, &b.shape, shift), truth);
        expect_eq(shape_overlaps(&b.shape, &a.shape, -shift), truth);
    }
    expect(yes > 50000 && no > 50000);
}

/* Two large tiles with interleaved columns: as many steps as blocks, not their product. */
TEST(overlap_of_long_lists_is_quick)
{
    enum { LONG = 20000 };
    static struct shape_block list[LONG];
    struct shape a = {.blocks = LONG, .bytes = 8 * LONG, .list = list};
    for (int i = 0; i < LONG; i++)
        list[i] = (struct shape_block){.offset = 64 * i + (i % 3), .bytes = 8};
    uint64_t start = clock_ns();
    for (int i = 0; i < 20; i++)
        expect_eq(shape_overlaps(&a, &a, 16), false);
    expect(clock_ns() - start < 1000000000u);
}

TEST(copies_move_each_byte_to_its_place)
{
    random_seed(&dice, 4);
    for (int round = 0; round < 100000; round++) {
        struct sample s, t;
        uint8_t from[4 * SPACE], to[4 * SPACE] = {0}, packed[SPACE * BLOCKS], other[4 * SPACE] = {0};
        make(&s);
        make(&t);
        for (int i = 0; i < 4 * SPACE; i++)
            from[i] = (uint8_t)(i * 7 + round);
        int bytes = roll((s.count < t.count ? s.count : t.count) + 1);
        shape_gather(packed, from + 2 * SPACE, &s.shape, (uint64_t)bytes);
        for (int i = 0; i < bytes; i++)
            expect_eq(packed[i], from[2 * SPACE + s.offsets[i]]);
        shape_scatter(to + 2 * SPACE, &t.shape, packed, (uint64_t)bytes);
        shape_copy(other + 2 * SPACE, &t.shape, from + 2 * SPACE, &s.shape, (uint64_t)bytes);
        expect(!memcmp(to, other, sizeof to));
        uint8_t model[4 * SPACE] = {0};
        for (int i = 0; i < bytes; i++)
            model[2 * SPACE + t.offsets[i]] = packed[i];
        expect(!memcmp(to, model, sizeof to));
    }
}

TEST(nothing_is_a_prefix_and_overlaps_nothing)
{
    struct shape none = shape_contiguous(0), some = shape_contiguous(8);
    expect_eq(none.blocks, 0);
    expect(shape_is_prefix(&none, &some));
    expect(!shape_is_prefix(&some, &none));
    expect(!shape_overlaps(&none, &some, 0));
    expect(!shape_overlaps(&some, &none, 4));
}
