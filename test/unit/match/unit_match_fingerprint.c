/* unit_match_fingerprint.c: tests that comparing 64 lanes at once gives the result of comparing one by one. Built with
 * the instructions that all processors of this kind have, without SIMD (unit_match_scalar.c), and on x86-64 with AVX2
 * (unit_match_avx2.c). */
#include "test.h"

#include "base/random.h"
#include "match/fast/fingerprint.h"

static struct random dice;

static uint64_t one_by_one(const uint8_t *lanes, uint8_t value) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(lanes[i] == value) << i;
    return bits;
}

static void fill(uint8_t *lanes, unsigned values) {
    for (unsigned i = 0; i < 64; i++)
        lanes[i] = (uint8_t)(random_below(&dice, values) * 85); /* 0, 85, 170, 255: each bit is 0 and 1 */
}

TEST(each_lane_alone)
{
    uint8_t lanes[64];
    for (unsigned i = 0; i < 64; i++)
        for (unsigned value = 0; value < 256; value++) {
            memset(lanes, (int)(value ^ 1u << (value % 8)), sizeof lanes);
            lanes[i] = (uint8_t)value;
            expect(fingerprint_equal(lanes, (uint8_t)value) == (uint64_t)1 << i);
        }
}

TEST(any_lanes)
{
    uint8_t a[64], b[64];
    random_seed(&dice, test_seed());
    for (unsigned round = 0; round < 20000; round++) {
        fill(a, 1 + round % 4);
        fill(b, 1 + round / 4 % 4);
        uint8_t x = a[random_below(&dice, 64)], y = b[random_below(&dice, 64)];
        expect(fingerprint_equal(a, x) == one_by_one(a, x));
        expect(fingerprint_both(a, x, b, y) == (one_by_one(a, x) & one_by_one(b, y)));
    }
}

TEST(seven_words)
{
    uint32_t words[8];
    random_seed(&dice, test_seed());
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < 8; i++)
            words[i] = random_below(&dice, 3) << (round % 31);
        for (unsigned i = 0; i < 7; i++)
            bits |= (uint64_t)(words[i] == words[7]) << (8 * i);
        expect(fingerprint_words(words, words[7]) == bits);
    }
}

/* Most consecutive sources and tags, as programs use them, have different fingerprints. */
TEST(neighbours_differ)
{
    for (uint32_t context = 0; context < 50; context++) {
        bool tag_seen[256] = {0}, source_seen[256] = {0};
        unsigned tags = 0, sources = 0;
        for (int32_t i = 0; i < 64; i++) {
            struct fingerprint print = fingerprint_of(key_of(i, i, context));
            tags += !tag_seen[print.tag];
            sources += !source_seen[print.source];
            tag_seen[print.tag] = source_seen[print.source] = true;
        }
        expect(tags >= 56 && sources >= 56);
    }
}
