/* accumulate_help.h: elements of ARMCI's types for tests, and a reference implementation of their sum. */
#ifndef HEARTH_TEST_ACCUMULATE_HELP_H
#define HEARTH_TEST_ACCUMULATE_HELP_H

#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "data/data.h"

enum { TYPES = ACC_DOUBLE_COMPLEX + 1 };

/* An element or a scale of any type. */
union element {
    unsigned as_int;
    unsigned long as_long;
    float as_float[2];
    double as_double[2];
};

/* Products are rounded to these before they are added: the compiler cannot fuse through volatile variables. */
static volatile float rounded_float[2];
static volatile double rounded_double[2];

static inline void naive_float(float *to, const float *from, const float *s) {
    rounded_float[0] = *s * *from;
    *to += rounded_float[0];
}

static inline void naive_double(double *to, const double *from, const double *s) {
    rounded_double[0] = *s * *from;
    *to += rounded_double[0];
}

static inline void naive_complex(float *to, const float *from, const float *s) {
    for (int part = 0; part < 2; part++) {
        rounded_float[0] = s[0] * from[part];
        rounded_float[1] = s[1] * from[1 - part];
        rounded_float[0] = part ? rounded_float[0] + rounded_float[1] : rounded_float[0] - rounded_float[1];
        to[part] += rounded_float[0];
    }
}

static inline void naive_double_complex(double *to, const double *from, const double *s) {
    for (int part = 0; part < 2; part++) {
        rounded_double[0] = s[0] * from[part];
        rounded_double[1] = s[1] * from[1 - part];
        rounded_double[0] =
            part ? rounded_double[0] + rounded_double[1] : rounded_double[0] - rounded_double[1];
        to[part] += rounded_double[0];
    }
}

/* One element at any address. */
static inline void naive_add(int type, const union element *s, void *to, const void *from) {
    union element a, b;
    size_t grain = data_accumulate_grain(type);
    memcpy(&a, to, grain);
    memcpy(&b, from, grain);
    switch (type) {
    case ACC_INT:
        a.as_int += s->as_int * b.as_int;
        break;
    case ACC_LONG:
        a.as_long += s->as_long * b.as_long;
        break;
    case ACC_FLOAT:
        naive_float(a.as_float, b.as_float, s->as_float);
        break;
    case ACC_DOUBLE:
        naive_double(a.as_double, b.as_double, s->as_double);
        break;
    case ACC_COMPLEX:
        naive_complex(a.as_float, b.as_float, s->as_float);
        break;
    default:
        naive_double_complex(a.as_double, b.as_double, s->as_double);
    }
    memcpy(to, &a, grain);
}

/* Integers use all bits, so that sums and products wrap; fractions do not add up exactly. */
static inline union element random_element(int type, struct random *dice) {
    union element e = {0};
    for (int part = 0; part < 2; part++) {
        double fraction = ((double)random_below(dice, 1u << 31) - (1 << 30)) / 1000003.0;
        if (type == ACC_FLOAT || type == ACC_COMPLEX)
            e.as_float[part] = (float)fraction;
        else if (type == ACC_DOUBLE || type == ACC_DOUBLE_COMPLEX)
            e.as_double[part] = fraction;
    }
    if (type == ACC_INT)
        e.as_int = (unsigned)random_next(dice);
    else if (type == ACC_LONG)
        e.as_long = random_next(dice);
    return e;
}

/* In one of three cases 1, which has its own kernels. */
static inline union element random_scale(int type, struct random *dice) {
    union element e = random_element(type, dice);
    if (random_below(dice, 3))
        return e;
    memset(&e, 0, sizeof e);
    if (type == ACC_INT)
        e.as_int = 1;
    else if (type == ACC_LONG)
        e.as_long = 1;
    else if (type == ACC_FLOAT || type == ACC_COMPLEX)
        e.as_float[0] = 1;
    else
        e.as_double[0] = 1;
    return e;
}

static inline void fill_elements(int type, struct random *dice, void *at, size_t bytes) {
    size_t grain = data_accumulate_grain(type);
    for (size_t i = 0; i + grain <= bytes; i += grain) {
        union element e = random_element(type, dice);
        memcpy((char *)at + i, &e, grain);
    }
}

/* In memory that children share; NULL if there is none. */
static inline struct net_lock_table *open_stripes(void) {
    void *memory =
        mmap(NULL, net_lock_table_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && !net_lock_table_make(memory) ? memory : NULL;
}

static inline void close_stripes(struct net_lock_table *s) {
    munmap(s, net_lock_table_bytes());
}

#endif
