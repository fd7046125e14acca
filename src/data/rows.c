/* rows.c: copies many rows of equal size.
 *
 * Arrays of doubles arrive as thousands of rows of 8 bytes, and a call of memcpy costs more than such a row. So rows
 * of up to 64 bytes have loops of their own. There the size is a constant or, for sizes between two powers of two,
 * the row is copied as its first and its last half, which may overlap.
 *
 * Non-temporal stores. A copy that is larger than the caches evicts everything else from them, and reads each line
 * of the target before it is overwritten. Measured on a Neoverse V1 with 32 MB of L3 (1 to 128 MB, in rows of 256
 * bytes to all in one): stnp is never faster than memcpy. So such stores are used on x86-64 only, where memcpy
 * itself uses them for one long row but not for many; and for rows of at least STREAM_ROW bytes, as shorter ones leave
 * too many lines half written. */
#include "data/rows.h"

#include <string.h>

#include "base/compiler.h"
#include "data/patch.h"

#ifdef __SSE2__
#include <emmintrin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* The loop for rows of `bytes` bytes, a constant in its callers. */
INLINE void copy_small(const struct patch_rows *r, size_t bytes) {
    char *to = r->to;
    const char *from = r->from;
    int64_t to_stride = r->to_stride, from_stride = r->from_stride;
#pragma GCC unroll 4
    for (uint64_t left = r->rows; left; left--) {
        memcpy(to, from, bytes);
        to += to_stride;
        from += from_stride;
    }
}

/* Rows of more than `half` and fewer than 2 * `half` bytes. */
INLINE void copy_halves(const struct patch_rows *r, size_t half) {
    char *to = r->to;
    const char *from = r->from;
    int64_t to_stride = r->to_stride, from_stride = r->from_stride;
    size_t second = r->bytes - half;
    for (uint64_t left = r->rows; left; left--) {
        memcpy(to, from, half);
        memcpy(to + second, from + second, half);
        to += to_stride;
        from += from_stride;
    }
}

INLINE void copy_between(const struct patch_rows *r) {
    if (r->bytes > 32)
        copy_halves(r, 32);
    else if (r->bytes > 16)
        copy_halves(r, 16);
    else if (r->bytes > 8)
        copy_halves(r, 8);
    else if (r->bytes > 4)
        copy_halves(r, 4);
    else
        copy_halves(r, 2);
}

INLINE void copy_large(const struct patch_rows *r) {
    for (uint64_t i = 0; i < r->rows; i++)
        memcpy(r->to + (int64_t)i * r->to_stride, r->from + (int64_t)i * r->from_stride, r->bytes);
}

/* Inlined, like all of the above, into both functions that call it: a row of 8 bytes is copied in fewer instructions
 * than another call takes. */
INLINE void copy_rows(const struct patch_rows *r) {
    switch (r->bytes) {
    case 0:
        break;
    case 1:
        copy_small(r, 1);
        break;
    case 2:
        copy_small(r, 2);
        break;
    case 4:
        copy_small(r, 4);
        break;
    case 8:
        copy_small(r, 8);
        break;
    case 12: /* pairs of a double and an int */
        copy_small(r, 12);
        break;
    case 16:
        copy_small(r, 16);
        break;
    case 32:
        copy_small(r, 32);
        break;
    case 64:
        copy_small(r, 64);
        break;
    default:
        if (r->bytes < 64)
            copy_between(r);
        else
            copy_large(r);
    }
}

void data_rows_copy(char *to, int64_t to_stride, const char *from, int64_t from_stride, uint64_t rows,
                    size_t bytes) {
    copy_rows(&(struct patch_rows){.to = to,
                                   .from = from,
                                   .to_stride = to_stride,
                                   .from_stride = from_stride,
                                   .rows = rows,
                                   .bytes = bytes});
}

#ifdef __SSE2__

enum { STREAM_ROW = 1024 };

/* One row, in whole lines of the target, so that no line has to be read. */
static void copy_row_streaming(char *to, const char *from, size_t bytes) {
    size_t head = -(uintptr_t)to % CACHE_LINE, i = head;
    memcpy(to, from, head);
    for (; bytes - i >= CACHE_LINE; i += CACHE_LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)(from + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(from + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(from + i + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(from + i + 48));
        _mm_stream_si128((__m128i *)(to + i), a);
        _mm_stream_si128((__m128i *)(to + i + 16), b);
        _mm_stream_si128((__m128i *)(to + i + 32), c);
        _mm_stream_si128((__m128i *)(to + i + 48), d);
    }
    memcpy(to + i, from + i, bytes - i);
}

static bool copy_streaming(const struct patch_rows *r) {
    if (r->rows < 2 || r->bytes < STREAM_ROW)
        return false;
    for (uint64_t i = 0; i < r->rows; i++)
        copy_row_streaming(r->to + (int64_t)i * r->to_stride, r->from + (int64_t)i * r->from_stride,
                           r->bytes);
    return true;
}

/* The size of the last cache, or the maximum if the C library does not report it. */
static uint64_t ask_cache_bytes(void) {
    long third = 0, second = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    third = sysconf(_SC_LEVEL3_CACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return third > 0 ? (uint64_t)third : second > 0 ? (uint64_t)second : UINT64_MAX;
}

bool data_rows_are_streamed(uint64_t bytes) {
    /* Concurrent first calls store the same value, so the order does not matter. */
    static _Atomic uint64_t cache_bytes;
    if (bytes < 1 << 20)
        return false;
    uint64_t most = atomic_load_explicit(&cache_bytes, memory_order_relaxed);
    if (!most) {
        most = ask_cache_bytes();
        atomic_store_explicit(&cache_bytes, most, memory_order_relaxed);
    }
    return bytes > most;
}

void data_rows_fence(void) {
    _mm_sfence();
}

#else

static bool copy_streaming(const struct patch_rows *r) {
    return false;
}

bool data_rows_are_streamed(uint64_t bytes) {
    return false;
}

void data_rows_fence(void) {
}

#endif

void data_rows_copy_run(const struct patch_rows *r, bool streaming) {
    if (r->to_stride == (int64_t)r->bytes && r->from_stride == (int64_t)r->bytes)
        memcpy(r->to, r->from, r->rows * r->bytes);
    else if (!streaming || !copy_streaming(r))
        copy_rows(r);
}
