/* wide.h: calls of GA with int or int64_t indices, alternating between the two. */
#ifndef HEARTH_TEST_GA_WIDE_H
#define HEARTH_TEST_GA_WIDE_H

#include "check.h"

/* Indices as int64_t; up to GA_MAX_DIM of them. */
struct wide {
    int64_t at[GA_MAX_DIM];
};

static inline struct wide widen(const int *from, int count) {
    struct wide w = {{0}};
    for (int i = 0; from && i < count; i++)
        w.at[i] = from[i];
    return w;
}

#define WIDE(from, array)    (widen(from, GA_Ndim(array)).at)
#define WIDE_LD(from, array) (widen(from, GA_Ndim(array) - 1).at)

#endif
