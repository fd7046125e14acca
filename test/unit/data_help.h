/* data_help.h: random elements of all types for tests, and a reference implementation of MPI's operations on two elements. */
#ifndef HEARTH_TEST_DATA_HELP_H
#define HEARTH_TEST_DATA_HELP_H

#include <float.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "data/data.h"

enum kind_class { C_SIGNED, C_UNSIGNED, C_REAL, C_COMPLEX, C_LOGICAL, C_BYTE, C_PAIR };

static const struct kind {
    enum kind_class class;
    size_t bytes, value, index; /* value, index: sizes of the two parts of a pair */
} kinds[DATA_TYPES] = {
    [DATA_INT8] = {C_SIGNED, 1, 0, 0},
    [DATA_INT16] = {C_SIGNED, 2, 0, 0},
    [DATA_INT32] = {C_SIGNED, 4, 0, 0},
    [DATA_INT64] = {C_SIGNED, 8, 0, 0},
    [DATA_UINT8] = {C_UNSIGNED, 1, 0, 0},
    [DATA_UINT16] = {C_UNSIGNED, 2, 0, 0},
    [DATA_UINT32] = {C_UNSIGNED, 4, 0, 0},
    [DATA_UINT64] = {C_UNSIGNED, 8, 0, 0},
    [DATA_FLOAT] = {C_REAL, 4, 0, 0},
    [DATA_DOUBLE] = {C_REAL, 8, 0, 0},
    [DATA_LONG_DOUBLE] = {C_REAL, 16, 0, 0},
    [DATA_FLOAT_COMPLEX] = {C_COMPLEX, 8, 0, 0},
    [DATA_DOUBLE_COMPLEX] = {C_COMPLEX, 16, 0, 0},
    [DATA_LONG_DOUBLE_COMPLEX] = {C_COMPLEX, 32, 0, 0},
    [DATA_BOOL] = {C_LOGICAL, 1, 0, 0},
    [DATA_LOGICAL1] = {C_LOGICAL, 1, 0, 0},
    [DATA_LOGICAL2] = {C_LOGICAL, 2, 0, 0},
    [DATA_LOGICAL4] = {C_LOGICAL, 4, 0, 0},
    [DATA_LOGICAL8] = {C_LOGICAL, 8, 0, 0},
    [DATA_BYTE] = {C_BYTE, 1, 0, 0},
    [DATA_FLOAT_INT] = {C_PAIR, 8, 4, 4},
    [DATA_DOUBLE_INT] = {C_PAIR, 12, 8, 4},
    [DATA_LONG_INT] = {C_PAIR, 12, 8, 4},
    [DATA_SHORT_INT] = {C_PAIR, 6, 2, 4},
    [DATA_INT_INT] = {C_PAIR, 8, 4, 4},
    [DATA_LONG_DOUBLE_INT] = {C_PAIR, 20, 16, 4},
    [DATA_FLOAT_FLOAT] = {C_PAIR, 8, 4, 4},
    [DATA_DOUBLE_DOUBLE] = {C_PAIR, 16, 8, 8},
    [DATA_INT64_INT64] = {C_PAIR, 16, 8, 8},
};

/* Which operations each type allows: the table in MPI 4.0, section 6.9.2. */
static inline bool naive_allows(int op, int type) {
    bool integer = kinds[type].class <= C_UNSIGNED;
    switch (op) {
    case DATA_MAX:
    case DATA_MIN:
        return integer || kinds[type].class == C_REAL;
    case DATA_SUM:
    case DATA_PROD:
        return integer || kinds[type].class == C_REAL || kinds[type].class == C_COMPLEX;
    case DATA_LAND:
    case DATA_LOR:
    case DATA_LXOR:
        return integer || kinds[type].class == C_LOGICAL;
    case DATA_BAND:
    case DATA_BOR:
    case DATA_BXOR:
        return integer || kinds[type].class == C_BYTE;
    case DATA_MAXLOC:
    case DATA_MINLOC:
        return kinds[type].class == C_PAIR;
    default:
        return true;
    }
}

/* ---- integers, logical types and bytes: computed in 64 bits, then truncated ---- */

static inline uint64_t naive_load(const void *at, size_t bytes, bool is_signed) {
    uint64_t value = 0;
    memcpy(&value, at, bytes); /* little-endian */
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return is_signed && (value & sign) ? value | -sign : value;
}

static inline bool naive_less(uint64_t a, uint64_t b, bool is_signed) {
    return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static inline uint64_t naive_integer(int op, uint64_t a, uint64_t t, bool is_signed) {
    switch (op) {
    case DATA_SUM:
        return a + t;
    case DATA_PROD:
        return a * t;
    case DATA_MAX:
        return naive_less(a, t, is_signed) ? t : a;
    case DATA_MIN:
        return naive_less(a, t, is_signed) ? a : t;
    case DATA_LAND:
        return a != 0 && t != 0;
    case DATA_LOR:
        return a != 0 || t != 0;
    case DATA_LXOR:
        return (a != 0) + (t != 0) == 1;
    case DATA_BAND:
        return a & t;
    case DATA_BOR:
        return a | t;
    default:
        return a ^ t;
    }
}

/* ---- floating point: volatile variables force rounding after each step ---- */

/* x86's long double has 6 bytes of padding. */
static inline void clear_padding(long double *value) {
    if (LDBL_MANT_DIG == 64)
        memset((char *)value + 10, 0, sizeof *value - 10);
}

#define NAIVE_REAL(T)                                                                                        \
    static inline T naive_real_##T(int op, T a, T t) {                                                       \
        volatile T r = op == DATA_SUM ? a + t : op == DATA_PROD ? a * t : t;                                 \
        if ((op == DATA_MAX && a > t) || (op == DATA_MIN && a < t))                                          \
            r = a;                                                                                           \
        return r;                                                                                            \
    }                                                                                                        \
    static inline void naive_complex_##T(int op, const T *a, T *t) {                                         \
        volatile T ac = a[0] * t[0], bd = a[1] * t[1], ad = a[0] * t[1], bc = a[1] * t[0];                   \
        if (op == DATA_SUM) {                                                                                \
            t[0] = a[0] + t[0];                                                                              \
            t[1] = a[1] + t[1];                                                                              \
        } else {                                                                                             \
            t[0] = ac - bd;                                                                                  \
            t[1] = ad + bc;                                                                                  \
        }                                                                                                    \
    }
typedef long double long_double;
NAIVE_REAL(float)
NAIVE_REAL(double)
NAIVE_REAL(long_double)

union number {
    float f[2];
    double d[2];
    long double l[2];
    char bytes[DATA_ELEMENT_MOST];
};

static inline void naive_floating(int op, int type, union number *t, const union number *a) {
    switch (type) {
    case DATA_FLOAT:
        t->f[0] = naive_real_float(op, a->f[0], t->f[0]);
        break;
    case DATA_DOUBLE:
        t->d[0] = naive_real_double(op, a->d[0], t->d[0]);
        break;
    case DATA_LONG_DOUBLE:
        t->l[0] = naive_real_long_double(op, a->l[0], t->l[0]);
        break;
    case DATA_FLOAT_COMPLEX:
        naive_complex_float(op, a->f, t->f);
        break;
    case DATA_DOUBLE_COMPLEX:
        naive_complex_double(op, a->d, t->d);
        break;
    default:
        naive_complex_long_double(op, a->l, t->l);
    }
    for (int i = 0; i < 2; i++)
        if (type == DATA_LONG_DOUBLE || type == DATA_LONG_DOUBLE_COMPLEX)
            clear_padding(&t->l[i]);
}

/* ---- pairs ---- */

/* A value or an index; long double holds all of them exactly, on the machines of test/foreign too. */
static inline long double naive_part(int type, const char *at, size_t bytes, bool is_index) {
    union number n;
    bool floating =
        type == DATA_FLOAT_FLOAT || type == DATA_DOUBLE_DOUBLE ||
        (!is_index && (type == DATA_FLOAT_INT || type == DATA_DOUBLE_INT || type == DATA_LONG_DOUBLE_INT));
    if (!floating)
        return (long double)(int64_t)naive_load(at, bytes, true);
    memcpy(n.bytes, at, bytes);
    return bytes == 4 ? (long double)n.f[0] : bytes == 8 ? (long double)n.d[0] : n.l[0];
}

static inline bool naive_wins(int op, int type, const char *a, const char *t) {
    const struct kind *k = &kinds[type];
    long double value = naive_part(type, a, k->value, false), held = naive_part(type, t, k->value, false);
    if (value == held)
        return naive_part(type, a + k->value, k->index, true) <
               naive_part(type, t + k->value, k->index, true);
    return op == DATA_MAXLOC ? value > held : value < held;
}

/* Combines one element, at any alignment. */
static inline void naive_combine(int op, int type, void *to, const void *from) {
    const struct kind *k = &kinds[type];
    union number t, a;
    uint64_t result;
    if (op == DATA_NO_OP)
        return;
    if (op == DATA_REPLACE || (k->class == C_PAIR && naive_wins(op, type, from, to))) {
        memcpy(to, from, k->bytes);
    } else if (k->class == C_REAL || k->class == C_COMPLEX) {
        memcpy(t.bytes, to, k->bytes);
        memcpy(a.bytes, from, k->bytes);
        naive_floating(op, type, &t, &a);
        memcpy(to, t.bytes, k->bytes);
    } else if (k->class != C_PAIR) {
        bool is_signed = k->class == C_SIGNED;
        result = naive_integer(op, naive_load(from, k->bytes, is_signed), naive_load(to, k->bytes, is_signed),
                               is_signed);
        memcpy(to, &result, k->bytes);
    }
}

/* ---- random elements ---- */

/* Fractions that do not add up exactly; one in three is a small integer, so that ties occur. */
static inline double random_fraction(struct random *dice) {
    if (random_below(dice, 3) == 0)
        return (double)random_below(dice, 5) - 2;
    return ((double)random_below(dice, 1u << 31) - (1 << 30)) / 1000003.0;
}

static inline void random_real(struct random *dice, char *at, size_t bytes) {
    union number n = {.l = {0}};
    memset(&n, 0, sizeof n);
    double value = random_fraction(dice);
    if (bytes == 4)
        n.f[0] = (float)value;
    else if (bytes == 8)
        n.d[0] = value;
    else if (LDBL_MANT_DIG ==
             106) /* two doubles (POWER): a + b may differ from b + a in the last bit, unless it is exact */
        n.l[0] = (float)value;
    else
        n.l[0] = (long double)value / 3;
    if (bytes == 16)
        clear_padding(&n.l[0]);
    memcpy(at, n.bytes, bytes);
}

/* Either all bits are random, so that sums and products wrap, or the number is small. */
static inline void random_integer(struct random *dice, char *at, size_t bytes) {
    uint64_t value = random_next(dice);
    if (random_below(dice, 2))
        value = (uint64_t)((int64_t)(value >> 62) - 1);
    memcpy(at, &value, bytes);
}

static inline void random_element(int type, struct random *dice, char *at) {
    const struct kind *k = &kinds[type];
    if (k->class == C_REAL) {
        random_real(dice, at, k->bytes);
    } else if (k->class == C_COMPLEX) {
        random_real(dice, at, k->bytes / 2);
        random_real(dice, at + k->bytes / 2, k->bytes / 2);
    } else if (k->class != C_PAIR) {
        random_integer(dice, at, k->bytes);
    } else {
        bool reals = type == DATA_FLOAT_FLOAT || type == DATA_DOUBLE_DOUBLE;
        if (reals || type == DATA_FLOAT_INT || type == DATA_DOUBLE_INT || type == DATA_LONG_DOUBLE_INT)
            random_real(dice, at, k->value);
        else
            random_integer(dice, at, k->value);
        if (reals)
            random_real(dice, at + k->value, k->index);
        else
            random_integer(dice, at + k->value, k->index);
    }
}

static inline void random_elements(int type, struct random *dice, char *at, size_t count) {
    for (size_t i = 0; i < count; i++)
        random_element(type, dice, at + i * kinds[type].bytes);
}

/* ---- locks ---- */

static inline struct net_lock_table *open_locks(void) {
    void *memory =
        mmap(NULL, net_lock_table_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && !net_lock_table_make(memory) ? memory : NULL;
}

static inline void close_locks(struct net_lock_table *locks) {
    munmap(locks, net_lock_table_bytes());
}

#endif
