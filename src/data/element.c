/* element.c: one kernel for each operation on each kind of element.
 *
 * A kernel combines rows of one kind of element with packed operands. It is a plain loop, which the compiler vectorises (the
 * options are in CMakeLists.txt), for long rows with the processor's widest vectors (vectors.h). Rows of one element have a
 * loop of their own: the row loop would spend more on its setup and remainder. The table of kernels is NULL where MPI does
 * not define the operation. Integers are added and multiplied as unsigned ones, which wrap, so that signed and unsigned types
 * share the kernels; only MAX and MIN have two. */
#include "data/element.h"

#include <string.h>

#include "data/rows.h"
#include "data/vectors.h"

/* At any alignment. */
#define LOOSE __attribute__((aligned(1), may_alias))
typedef int8_t loose_i8 LOOSE;
typedef int16_t loose_i16 LOOSE;
typedef int32_t loose_i32 LOOSE;
typedef int64_t loose_i64 LOOSE;
typedef uint8_t loose_u8 LOOSE;
typedef uint16_t loose_u16 LOOSE;
typedef uint32_t loose_u32 LOOSE;
typedef uint64_t loose_u64 LOOSE;
typedef float loose_f LOOSE;
typedef double loose_d LOOSE;
typedef long double loose_l LOOSE;

/* `element` combines the element at `to` with the one at `from`; each consists of `width` cells. */
#define KERNEL(name, cell, width, ...)                                                                       \
    static inline void name##_element(cell *restrict to, const cell *restrict from) {                        \
        __VA_ARGS__;                                                                                         \
    }                                                                                                        \
    static inline void name##_row(cell *restrict to, const cell *restrict from, size_t count) {              \
        for (size_t i = 0; i < count; i++)                                                                   \
            name##_element(to + i * width, from + i * width);                                                \
    }                                                                                                        \
    WIDE_VECTORS static void name##_long_row(cell *restrict to, const cell *restrict from, size_t count) {   \
        name##_row(to, from, count);                                                                         \
    }                                                                                                        \
    static void name(char *to, int64_t stride, const char *from, uint64_t rows, size_t bytes) {              \
        if (bytes == width * sizeof(cell))                                                                   \
            for (; rows; rows--, to += stride, from += width * sizeof(cell))                                 \
                name##_element((cell *)to, (const cell *)from);                                              \
        for (; rows; rows--, to += stride, from += bytes)                                                    \
            (bytes < LONG_ROW ? name##_row : name##_long_row)((cell *)to, (const cell *)from,                \
                                                              bytes / (width * sizeof(cell)));               \
    }

/* Of an operand a and a target t. */
#define COMBINE(op, kind, result)                                                                            \
    KERNEL(op##_##kind, loose_##kind, 1, loose_##kind a = *from, t = *to; *to = (loose_##kind)(result))
#define IF_GREATER(op, kind) COMBINE(op, kind, a > t ? a : t)
#define IF_LESS(op, kind)    COMBINE(op, kind, a < t ? a : t)

/* Small integers are promoted to int, whose product could overflow; times 1u they are unsigned. */
#define FOR_UNSIGNED(kind)                                                                                   \
    COMBINE(sum, kind, a + t)                                                                                \
    COMBINE(prod, kind, 1u * a * t)                                                                          \
    IF_GREATER(max, kind)                                                                                    \
    IF_LESS(min, kind)                                                                                       \
    COMBINE(logical_and, kind, !!a && !!t)                                                                   \
    COMBINE(logical_or, kind, a || t)                                                                        \
    COMBINE(logical_xor, kind, !a != !t)                                                                     \
    COMBINE(band, kind, (a & t))                                                                             \
    COMBINE(bor, kind, a | t)                                                                                \
    COMBINE(bxor, kind, a ^ t)

#define FOR_SIGNED(kind)                                                                                     \
    IF_GREATER(max, kind)                                                                                    \
    IF_LESS(min, kind)

#define FOR_FLOATING(kind)                                                                                   \
    COMBINE(sum, kind, a + t)                                                                                \
    COMBINE(prod, kind, a *t)                                                                                \
    IF_GREATER(max, kind)                                                                                    \
    IF_LESS(min, kind)                                                                                       \
    KERNEL(sum_complex_##kind, loose_##kind, 2, to[0] += from[0]; to[1] += from[1])                          \
    KERNEL(prod_complex_##kind, loose_##kind, 2, loose_##kind re = from[0] * to[0] - from[1] * to[1];        \
           to[1] = from[0] * to[1] + from[1] * to[0]; to[0] = re)

FOR_UNSIGNED(u8)
FOR_UNSIGNED(u16)
FOR_UNSIGNED(u32)
FOR_UNSIGNED(u64)
FOR_SIGNED(i8)
FOR_SIGNED(i16)
FOR_SIGNED(i32)
FOR_SIGNED(i64)
FOR_FLOATING(f)
FOR_FLOATING(d)
FOR_FLOATING(l)

/* ---- pairs ---- */

#define FOR_PAIR(name, value_type, index_type)                                                               \
    struct name {                                                                                            \
        value_type value;                                                                                    \
        index_type index;                                                                                    \
    } __attribute__((packed, may_alias));                                                                    \
    typedef struct name loose_##name;                                                                        \
    KERNEL(maxloc_##name, loose_##name, 1,                                                                   \
           if (from->value > to->value || (from->value == to->value && from->index < to->index)) *to =       \
               *from)                                                                                        \
    KERNEL(minloc_##name, loose_##name, 1,                                                                   \
           if (from->value < to->value || (from->value == to->value && from->index < to->index)) *to =       \
               *from)

FOR_PAIR(float_int, float, int)
FOR_PAIR(double_int, double, int)
FOR_PAIR(long_int, long, int)
FOR_PAIR(short_int, short, int)
FOR_PAIR(int_int, int, int)
FOR_PAIR(long_double_int, long double, int)
FOR_PAIR(float_float, float, float)
FOR_PAIR(double_double, double, double)
FOR_PAIR(int64_int64, int64_t, int64_t)

/* ---- the table ---- */

#define INTEGERS(op)                                                                                         \
    [DATA_INT8] = op##_u8, [DATA_INT16] = op##_u16, [DATA_INT32] = op##_u32, [DATA_INT64] = op##_u64,        \
    [DATA_UINT8] = op##_u8, [DATA_UINT16] = op##_u16, [DATA_UINT32] = op##_u32, [DATA_UINT64] = op##_u64
#define SIGNED_INTEGERS(op)                                                                                  \
    [DATA_INT8] = op##_i8, [DATA_INT16] = op##_i16, [DATA_INT32] = op##_i32, [DATA_INT64] = op##_i64,        \
    [DATA_UINT8] = op##_u8, [DATA_UINT16] = op##_u16, [DATA_UINT32] = op##_u32, [DATA_UINT64] = op##_u64
#define FLOATING(op) [DATA_FLOAT] = op##_f, [DATA_DOUBLE] = op##_d, [DATA_LONG_DOUBLE] = op##_l
#define COMPLEX(op)                                                                                          \
    [DATA_FLOAT_COMPLEX] = op##_complex_f, [DATA_DOUBLE_COMPLEX] = op##_complex_d,                           \
    [DATA_LONG_DOUBLE_COMPLEX] = op##_complex_l
#define LOGICALS(op)                                                                                         \
    [DATA_BOOL] = op##_u8, [DATA_LOGICAL1] = op##_u8, [DATA_LOGICAL2] = op##_u16,                            \
    [DATA_LOGICAL4] = op##_u32, [DATA_LOGICAL8] = op##_u64
#define PAIRS(op)                                                                                            \
    [DATA_FLOAT_INT] = op##_float_int, [DATA_DOUBLE_INT] = op##_double_int, [DATA_LONG_INT] = op##_long_int, \
    [DATA_SHORT_INT] = op##_short_int, [DATA_INT_INT] = op##_int_int,                                        \
    [DATA_LONG_DOUBLE_INT] = op##_long_double_int, [DATA_FLOAT_FLOAT] = op##_float_float,                    \
    [DATA_DOUBLE_DOUBLE] = op##_double_double, [DATA_INT64_INT64] = op##_int64_int64

static data_kernel *const kernels[DATA_REPLACE][DATA_TYPES] = {
    [DATA_SUM] = {INTEGERS(sum), FLOATING(sum), COMPLEX(sum)},
    [DATA_PROD] = {INTEGERS(prod), FLOATING(prod), COMPLEX(prod)},
    [DATA_MAX] = {SIGNED_INTEGERS(max), FLOATING(max)},
    [DATA_MIN] = {SIGNED_INTEGERS(min), FLOATING(min)},
    [DATA_LAND] = {INTEGERS(logical_and), LOGICALS(logical_and)},
    [DATA_LOR] = {INTEGERS(logical_or), LOGICALS(logical_or)},
    [DATA_LXOR] = {INTEGERS(logical_xor), LOGICALS(logical_xor)},
    [DATA_BAND] = {INTEGERS(band), [DATA_BYTE] = band_u8},
    [DATA_BOR] = {INTEGERS(bor), [DATA_BYTE] = bor_u8},
    [DATA_BXOR] = {INTEGERS(bxor), [DATA_BYTE] = bxor_u8},
    [DATA_MAXLOC] = {PAIRS(maxloc)},
    [DATA_MINLOC] = {PAIRS(minloc)},
};

static const uint8_t element_bytes[DATA_TYPES] = {
    [DATA_INT8] = 1,
    [DATA_INT16] = 2,
    [DATA_INT32] = 4,
    [DATA_INT64] = 8,
    [DATA_UINT8] = 1,
    [DATA_UINT16] = 2,
    [DATA_UINT32] = 4,
    [DATA_UINT64] = 8,
    [DATA_FLOAT] = sizeof(float),
    [DATA_DOUBLE] = sizeof(double),
    [DATA_LONG_DOUBLE] = sizeof(long double),
    [DATA_FLOAT_COMPLEX] = 2 * sizeof(float),
    [DATA_DOUBLE_COMPLEX] = 2 * sizeof(double),
    [DATA_LONG_DOUBLE_COMPLEX] = 2 * sizeof(long double),
    [DATA_BOOL] = 1,
    [DATA_LOGICAL1] = 1,
    [DATA_LOGICAL2] = 2,
    [DATA_LOGICAL4] = 4,
    [DATA_LOGICAL8] = 8,
    [DATA_BYTE] = 1,
    [DATA_FLOAT_INT] = sizeof(loose_float_int),
    [DATA_DOUBLE_INT] = sizeof(loose_double_int),
    [DATA_LONG_INT] = sizeof(loose_long_int),
    [DATA_SHORT_INT] = sizeof(loose_short_int),
    [DATA_INT_INT] = sizeof(loose_int_int),
    [DATA_LONG_DOUBLE_INT] = sizeof(loose_long_double_int),
    [DATA_FLOAT_FLOAT] = sizeof(loose_float_float),
    [DATA_DOUBLE_DOUBLE] = sizeof(loose_double_double),
    [DATA_INT64_INT64] = sizeof(loose_int64_int64),
};

size_t data_element_bytes(unsigned type) {
    return type < DATA_TYPES ? element_bytes[type] : 0;
}

bool data_element_allows(unsigned op, unsigned type) {
    return op < DATA_OPS && type < DATA_TYPES && (op >= DATA_REPLACE || kernels[op][type]);
}

static void replace_rows(char *to, int64_t stride, const char *from, uint64_t rows, size_t bytes) {
    data_rows_copy(to, stride, from, (int64_t)bytes, rows, bytes);
}

data_kernel *data_element_kernel(enum data_op op, enum data_type type) {
    if (op < DATA_REPLACE)
        return kernels[op][type];
    return op == DATA_REPLACE ? replace_rows : NULL;
}

void data_element_combine(enum data_op op, enum data_type type, void *to, const void *from, size_t count) {
    data_kernel *combine = data_element_kernel(op, type);
    size_t bytes = count * element_bytes[type];
    if (combine && bytes)
        combine(to, 0, from, 1, bytes);
}
