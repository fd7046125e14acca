/* fingerprint.h: compares 64 entries at once, by one byte of their tag and one of their source.
 *
 * The context is mixed into both bytes. An entry with a byte that differs from the sought one need not be read.
 * One in 65536 entries that do not match has both bytes equal by chance. Two bytes instead of one word of 16 bits
 * cost the same and can be compared separately, which wildcards need. */
#ifndef HEARTH_MATCH_FINGERPRINT_H
#define HEARTH_MATCH_FINGERPRINT_H

#include <stdint.h>

#include "match/engine/key.h"

#if defined(MATCH_SCALAR) /* the portable form, whatever the machine */
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

struct fingerprint {
    uint8_t tag, source;
};

/* Multiplication by a large odd number carries every bit upwards, and spreads consecutive numbers. */
static inline struct fingerprint fingerprint_of(struct key key) {
    uint32_t mixed = key.context * 0x85ebca6bu;
    return (struct fingerprint){.tag = (uint8_t)(((uint32_t)key.who * 0x9e3779b1u + mixed) >> 24),
                                .source = (uint8_t)(((uint32_t)(key.who >> 32) * 0x9e3779b1u + mixed) >> 24)};
}

/* fingerprint_equal: bit i is set if lane i equals the value. fingerprint_both: if lane i of both does. */

#if defined(MATCH_SCALAR) || !(defined(__aarch64__) || defined(__SSE2__))

/* Bit 0 of each byte is set if the byte is zero: its high bit is clear, and adding 0x7f to the other seven does not carry
 * into it. fingerprint_equal gathers these eight bits by a multiplication. */
static inline uint64_t fingerprint_zero_bytes(uint64_t x) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    return ~(((x & low) + low) | x | low) >> 7;
}

/* Lane i is bits 8 i and up, on any machine. */
static inline uint64_t fingerprint_word(const uint8_t *lanes, uint8_t value) {
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)lanes[i] << (8 * i);
    return word ^ value * 0x0101010101010101u;
}

static inline uint64_t fingerprint_equal(const uint8_t *lanes, uint8_t value) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++)
        bits |= (fingerprint_zero_bytes(fingerprint_word(lanes + 8 * i, value)) * 0x0102040810204080u >> 56)
                << (8 * i);
    return bits;
}

static inline uint64_t fingerprint_both(const uint8_t *a, uint8_t value_a, const uint8_t *b,
                                        uint8_t value_b) {
    return fingerprint_equal(a, value_a) & fingerprint_equal(b, value_b);
}

#elif defined(__aarch64__)

static inline uint8x16_t fingerprint_compare(const uint8_t *lanes, uint8_t value) {
    return vceqq_u8(vld1q_u8(lanes), vdupq_n_u8(value));
}

/* No instruction gathers one bit per lane: keep a different bit of each, and add neighbours. */
static inline uint64_t fingerprint_gather(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t one_each = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(a, one_each), vandq_u8(b, one_each));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, one_each), vandq_u8(d, one_each));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline uint64_t fingerprint_equal(const uint8_t *lanes, uint8_t value) {
    return fingerprint_gather(fingerprint_compare(lanes, value), fingerprint_compare(lanes + 16, value),
                              fingerprint_compare(lanes + 32, value), fingerprint_compare(lanes + 48, value));
}

static inline uint8x16_t fingerprint_pair(const uint8_t *a, uint8_t value_a, const uint8_t *b,
                                          uint8_t value_b) {
    return vandq_u8(fingerprint_compare(a, value_a), fingerprint_compare(b, value_b));
}

static inline uint64_t fingerprint_both(const uint8_t *a, uint8_t value_a, const uint8_t *b,
                                        uint8_t value_b) {
    return fingerprint_gather(fingerprint_pair(a, value_a, b, value_b),
                              fingerprint_pair(a + 16, value_a, b + 16, value_b),
                              fingerprint_pair(a + 32, value_a, b + 32, value_b),
                              fingerprint_pair(a + 48, value_a, b + 48, value_b));
}

#elif defined(__AVX2__)

static inline __m256i fingerprint_compare(const uint8_t *lanes, uint8_t value) {
    return _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)lanes), _mm256_set1_epi8((char)value));
}

static inline uint64_t fingerprint_gather(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline uint64_t fingerprint_equal(const uint8_t *lanes, uint8_t value) {
    return fingerprint_gather(fingerprint_compare(lanes, value), fingerprint_compare(lanes + 32, value));
}

static inline uint64_t fingerprint_both(const uint8_t *a, uint8_t value_a, const uint8_t *b,
                                        uint8_t value_b) {
    return fingerprint_gather(
        _mm256_and_si256(fingerprint_compare(a, value_a), fingerprint_compare(b, value_b)),
        _mm256_and_si256(fingerprint_compare(a + 32, value_a), fingerprint_compare(b + 32, value_b)));
}

#else /* SSE2, which every x86-64 has */

static inline __m128i fingerprint_compare(const uint8_t *lanes, uint8_t value) {
    return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)lanes), _mm_set1_epi8((char)value));
}

static inline uint64_t fingerprint_equal(const uint8_t *lanes, uint8_t value) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 4; i++)
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(fingerprint_compare(lanes + 16 * i, value)) << (16 * i);
    return bits;
}

static inline uint64_t fingerprint_both(const uint8_t *a, uint8_t value_a, const uint8_t *b,
                                        uint8_t value_b) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i both =
            _mm_and_si128(fingerprint_compare(a + 16 * i, value_a), fingerprint_compare(b + 16 * i, value_b));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(both) << (16 * i);
    }
    return bits;
}

#endif

/* Of seven consecutive words, those equal to the value: bit 8 i for word i. The eighth word is read but ignored. */
static inline uint64_t fingerprint_words(const uint32_t *words, uint32_t value) {
    const uint64_t one_each = 0x0001010101010101u;
#if !defined(MATCH_SCALAR) && defined(__aarch64__)
    uint32x4_t low = vceqq_u32(vld1q_u32(words), vdupq_n_u32(value));
    uint32x4_t high = vceqq_u32(vld1q_u32(words + 4), vdupq_n_u32(value));
    uint16x8_t both = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(both)), 0) & one_each;
#elif !defined(MATCH_SCALAR) && defined(__SSE2__)
    __m128i sought = _mm_set1_epi32((int)value);
    __m128i low = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)words), sought);
    __m128i high = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(words + 4)), sought);
    __m128i both = _mm_packs_epi32(low, high);
    return (uint64_t)_mm_cvtsi128_si64(_mm_packs_epi16(both, both)) & one_each;
#else
    uint64_t bits = 0;
    for (unsigned i = 0; i < 7; i++)
        bits |= (uint64_t)(words[i] == value) << (8 * i);
    return bits & one_each;
#endif
}

#endif
