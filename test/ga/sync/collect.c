/* collect.c: tests sums, products and extremes over all ranks, of all types and lengths; broadcasts; barriers. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int product_of_ranks(void) {
    int product = 1;
    for (int rank = 0; rank < ranks; rank++)
        product *= rank + 1;
    return product;
}

/* One operation in all types, by GA's name for each. */
#define TRY_TYPE(type, call)                                                                                 \
    do {                                                                                                     \
        type x[3] = {(type)(me + 1), (type)-me, (type)(me == ranks / 2)};                                    \
        call(x, 3, "+");                                                                                     \
        expect(x[0] == (type)(ranks * (ranks + 1) / 2) && x[1] == (type)(-ranks * (ranks - 1) / 2) &&        \
               x[2] == 1);                                                                                   \
        type p[1] = {(type)(me + 1)}, m[2] = {(type)(me - 1), (type)-me}, a[1] = {(type)(-me - 1)};          \
        call(p, 1, "*");                                                                                     \
        expect(p[0] == (type)product_of_ranks());                                                            \
        call(m, 2, "max");                                                                                   \
        expect(m[0] == (type)(ranks - 2) && m[1] == 0);                                                      \
        m[0] = (type)(me - 1);                                                                               \
        call(m, 1, "min");                                                                                   \
        expect(m[0] == (type)-1);                                                                            \
        call(a, 1, "absmax");                                                                                \
        expect(a[0] == (type)ranks);                                                                         \
        a[0] = (type)(-me - 1);                                                                              \
        call(a, 1, "absmin");                                                                                \
        expect(a[0] == 1);                                                                                   \
    } while (0)

static void gop_int(int *x, int n, char *op) {
    GA_Gop(C_INT, x, n, op);
}

static void gop_long(long *x, int n, char *op) {
    GA_Gop(C_LONG, x, n, op);
}

static void gop_long_long(long long *x, int n, char *op) {
    GA_Gop(C_LONGLONG, x, n, op);
}

static void gop_float(float *x, int n, char *op) {
    GA_Gop(C_FLOAT, x, n, op);
}

static void gop_double(double *x, int n, char *op) {
    GA_Gop(C_DBL, x, n, op);
}

CASE(all_operations_in_all_types) {
    TRY_TYPE(int, GA_Igop);
    TRY_TYPE(int, NGA_Igop);
    TRY_TYPE(int, gop_int);
    TRY_TYPE(long, GA_Lgop);
    TRY_TYPE(long, gop_long);
    TRY_TYPE(long long, GA_Llgop);
    TRY_TYPE(long long, gop_long_long);
    TRY_TYPE(float, GA_Fgop);
    TRY_TYPE(float, gop_float);
    TRY_TYPE(double, GA_Dgop);
    TRY_TYPE(double, NGA_Dgop);
    TRY_TYPE(double, gop_double);
}

CASE(or_of_bits) {
    int bits[2] = {1 << me, me == 0 ? 5 : 0};
    GA_Igop(bits, 2, "or");
    expect_eq(bits[0], (1 << ranks) - 1);
    expect_eq(bits[1], 5);
}

CASE(complex_sums) {
    DoubleComplex z[2] = {{me, 1}, {-me, 2}};
    SingleComplex c[2] = {{(float)me, 1}, {(float)-me, 2}};
    int sum = ranks * (ranks - 1) / 2;
    GA_Zgop(z, 2, "+");
    GA_Cgop(c, 2, "+");
    expect(z[0].real == sum && z[0].imag == ranks && z[1].real == -sum && z[1].imag == 2 * ranks);
    expect(c[0].real == (float)sum && c[0].imag == (float)ranks && c[1].real == (float)-sum);
    DoubleComplex again = {me, me};
    GA_Gop(C_DCPL, &again, 1, "+");
    expect(again.real == sum && again.imag == sum);
}

/* Longer than any buffer that an implementation may use. */
CASE(long_vectors) {
    for (int n = 1; n <= 300000; n = n * 7 + 1) {
        double *x = need((size_t)n * sizeof *x);
        for (int i = 0; i < n; i++)
            x[i] = i % 1000 + me;
        GA_Dgop(x, n, "+");
        for (int i = 0; i < n; i++)
            if (!expect(x[i] == (double)ranks * (i % 1000) + ranks * (ranks - 1) / 2.))
                break;
        free(x);
    }
}

CASE(broadcasts_from_each) {
    for (int bytes = 1; bytes <= 1000000; bytes = bytes * 9 + 1)
        for (int root = 0; root < ranks; root++) {
            unsigned char *data = need((size_t)bytes);
            memset(data, me + 1, (size_t)bytes);
            GA_Brdcst(data, bytes, root);
            for (int i = 0; i < bytes; i++)
                if (!expect(data[i] == root + 1))
                    break;
            free(data);
        }
}

CASE(syncs_and_masks) {
    int dims[] = {ranks * 5}, array = NGA_Create(C_INT, 1, dims, "masked", NULL), seven = 7;
    GA_Sync();
    NGA_Sync();
    for (int names = 0; names < 2; names++) {
        if (names)
            NGA_Mask_sync(0, 0);
        else
            GA_Mask_sync(0, 0);
        GA_Fill(array, &seven); /* makes no sync of its own */
        GA_Sync();
        expect_eq(GA_Idot(array, array), 49 * dims[0]);
    }
    GA_Destroy(array);
}

CASE(time_passes) {
    double start = GA_Wtime(), later = NGA_Wtime();
    expect(later >= start && later - start < 60);
    while (GA_Wtime() - start < 0.01)
        ;
    expect(GA_Wtime() > start);
}
