/* dots.c: tests reductions of whole arrays to one number: dot products, norms, extremes, and the step lengths of
 * optimisers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

static const int sides[] = {14, 9};
static const int types[] = {C_INT, C_LONG, C_LONGLONG, C_FLOAT, C_DBL, C_SCPL, C_DCPL};
enum { TYPES = sizeof types / sizeof types[0] };

static number from_double(DoubleComplex z) {
    return __builtin_complex(z.real, z.imag);
}

static number from_single(SingleComplex c) {
    return __builtin_complex(c.real, c.imag);
}

static number dot(int type, int a, int b) {
    switch (type) {
    case C_INT:
        return GA_Idot(a, b);
    case C_LONG:
        return (double)GA_Ldot(a, b);
    case C_LONGLONG:
        return (double)GA_Lldot(a, b);
    case C_FLOAT:
        return GA_Fdot(a, b);
    case C_DBL:
        return GA_Ddot(a, b);
    case C_SCPL:
        return from_single(GA_Cdot(a, b));
    default:
        return from_double(GA_Zdot(a, b));
    }
}

static number dot_patch(int type, int a, struct box *x, int b, char t, struct box *y) {
    switch (type) {
    case C_INT:
        return NGA_Idot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi);
    case C_LONG:
        return (double)NGA_Ldot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi);
    case C_LONGLONG:
        return (double)NGA_Lldot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi);
    case C_FLOAT:
        return NGA_Fdot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi);
    case C_DBL:
        return NGA_Ddot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi);
    case C_SCPL:
        return from_single(NGA_Cdot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi));
    default:
        return from_double(NGA_Zdot_patch(a, 'n', x->lo, x->hi, b, t, y->lo, y->hi));
    }
}

static number dot_patch64(int type, int a, struct box *x, int b, char t, struct box *y) {
    struct wide xl = widen(x->lo, 2), xh = widen(x->hi, 2), yl = widen(y->lo, 2), yh = widen(y->hi, 2);
    switch (type) {
    case C_INT:
        return NGA_Idot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at);
    case C_LONG:
        return (double)NGA_Ldot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at);
    case C_LONGLONG:
        return (double)NGA_Lldot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at);
    case C_FLOAT:
        return NGA_Fdot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at);
    case C_DBL:
        return NGA_Ddot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at);
    case C_SCPL:
        return from_single(NGA_Cdot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at));
    default:
        return from_double(NGA_Zdot_patch64(a, 'n', xl.at, xh.at, b, t, yl.at, yh.at));
    }
}

CASE(dots_of_arrays) {
    uint64_t state = test_seed;
    for (int t = 0; t < TYPES; t++) {
        struct grid a = grid_new(types[t], 2, sides), b = grid_new(types[t], 2, sides);
        number want = 0;
        grid_fill(&a, &state);
        grid_fill(&b, &state);
        for (long i = 0; i < a.count; i++)
            want += a.at[i] * b.at[i];
        int x = array_of(&a), y = array_of(&b), z = array_new(&b, &state);
        array_set(z, &b);
        expect(dot(types[t], x, y) == want);
        expect(dot(types[t], x, z) == want); /* distributed otherwise */
        GA_Destroy(x);
        GA_Destroy(y);
        GA_Destroy(z);
        grid_free(&a);
        grid_free(&b);
    }
}

static void try_dot_patch(int type, bool transposed, uint64_t *state) {
    int turned[] = {sides[1], sides[0]};
    struct grid a = grid_new(type, 2, sides), b = grid_new(type, 2, transposed ? turned : sides);
    grid_fill(&a, state);
    grid_fill(&b, state);
    int x = array_of(&a), y = array_of(&b), swap = transposed ? 1 : 0;
    for (int round = 0; round < 4; round++) {
        struct box box = draw_box(&a, state), like = {0}, other;
        number want = 0;
        for (int d = 0; d < 2; d++)
            like.hi[d] = box.hi[d ^ swap] - box.lo[d ^ swap];
        other = move_box(&b, &like, state);
        for (int i = 0; i <= box.hi[0] - box.lo[0]; i++)
            for (int j = 0; j <= box.hi[1] - box.lo[1]; j++) {
                int in_a[] = {box.lo[0] + i, box.lo[1] + j};
                int in_b[] = {other.lo[0] + (swap ? j : i), other.lo[1] + (swap ? i : j)};
                want += a.at[grid_offset(&a, in_a)] * b.at[grid_offset(&b, in_b)];
            }
        char t = transposed ? 't' : 'n';
        number got =
            round % 2 ? dot_patch(type, x, &box, y, t, &other) : dot_patch64(type, x, &box, y, t, &other);
        expect(got == want);
    }
    GA_Sync();
    GA_Destroy(x);
    GA_Destroy(y);
    grid_free(&a);
    grid_free(&b);
}

CASE(dots_of_boxes) {
    uint64_t state = test_seed;
    for (int t = 0; t < TYPES; t++) {
        try_dot_patch(types[t], false, &state);
        try_dot_patch(types[t], true, &state);
    }
}

/* Norms of the array as one vector: the sum of the magnitudes, and the largest. */
CASE(norms) {
    uint64_t state = test_seed;
    struct grid a = grid_new(C_DBL, 2, sides);
    double sum = 0, largest = 0, got;
    grid_fill(&a, &state);
    for (long i = 0; i < a.count; i++) {
        sum += cabs(a.at[i]);
        largest = fmax(largest, cabs(a.at[i]));
    }
    int x = array_of(&a);
    GA_Norm1(x, &got);
    expect_near(got, sum, 0);
    GA_Norm_infinity(x, &got);
    expect_near(got, largest, 0);
    GA_Destroy(x);
    grid_free(&a);
}

CASE(extremes) {
    uint64_t state = test_seed;
    for (int t = 0; t < TYPES; t++) {
        if (type_is_complex(types[t]))
            continue;
        struct grid a = grid_new(types[t], 2, sides);
        grid_fill(&a, &state);
        long least = (long)(draw(&state) % (uint64_t)a.count), most = (least + 5) % a.count;
        a.at[least] = -100;
        a.at[most] = 100;
        int x = array_of(&a), at[2];
        number value;
        NGA_Select_elem(x, "min", &value, at);
        expect(load(types[t], &value, 0) == -100);
        expect_eq(grid_offset(&a, at), least);
        int64_t wide_at[2];
        NGA_Select_elem64(x, "max", &value, wide_at);
        expect(load(types[t], &value, 0) == 100);
        expect_eq(wide_at[0] * sides[1] + wide_at[1], most);
        GA_Destroy(x);
        grid_free(&a);
    }
}

/* The longest step in direction b that keeps all elements of a above zero. */
static double longest_step(const struct grid *a, const struct grid *b, const struct box *box) {
    double step = HUGE_VAL;
    int at[] = {box->lo[0], box->lo[1]};
    do {
        double value = creal(a->at[grid_offset(a, at)]), change = creal(b->at[grid_offset(b, at)]);
        if (change < 0)
            step = fmin(step, -value / change);
    } while (box_next(2, box, at));
    return step;
}

CASE(steps) {
    uint64_t state = test_seed;
    struct grid a = grid_new(C_DBL, 2, sides), b = grid_new(C_DBL, 2, sides);
    grid_fill(&a, &state);
    grid_fill(&b, &state);
    for (long i = 0; i < a.count; i++)
        a.at[i] = cabs(a.at[i]);
    int x = array_of(&a), y = array_of(&b);
    struct box all = whole(&a);
    /* Boxes of the whole array: libga 5.8.2 reads beyond smaller ones. */
    double step;
    GA_Step_max(x, y, &step);
    expect_near(step, longest_step(&a, &b, &all), 1e-12);
    GA_Step_max_patch(x, all.lo, all.hi, y, all.lo, all.hi, &step);
    expect_near(step, longest_step(&a, &b, &all), 1e-12);
    struct wide lo = widen(all.lo, 2), hi = widen(all.hi, 2);
    GA_Step_max_patch64(x, lo.at, hi.at, y, lo.at, hi.at, &step);
    expect_near(step, longest_step(&a, &b, &all), 1e-12);
    GA_Destroy(x);
    GA_Destroy(y);
    grid_free(&a);
    grid_free(&b);
}

/* Steps to the bounds of each element: the shortest and the longest. */
CASE(steps_to_bounds) {
    uint64_t state = test_seed;
    struct grid x = grid_new(C_DBL, 2, sides), v = grid_new(C_DBL, 2, sides), low = grid_new(C_DBL, 2, sides),
                high = grid_new(C_DBL, 2, sides);
    grid_fill(&x, &state);
    grid_fill(&v, &state);
    double least = HUGE_VAL, most = 0;
    for (long i = 0; i < x.count; i++) {
        low.at[i] = -30;
        high.at[i] = 40;
        double to = creal(v.at[i]) > 0 ? 40 : -30, step = (to - creal(x.at[i])) / creal(v.at[i]);
        least = fmin(least, step);
        most = fmax(most, step);
    }
    int gx = array_of(&x), gv = array_of(&v), gl = array_of(&low), gh = array_of(&high);
    struct box all = whole(&x);
    int *lo = all.lo, *hi = all.hi;
    struct wide wl = widen(lo, 2), wh = widen(hi, 2);
    for (int how = 0; how < 3; how++) {
        double shortest = 0, wolfe = 0, longest = 0;
        if (how == 0)
            GA_Step_bound_info(gx, gv, gl, gh, &shortest, &wolfe, &longest);
        else if (how == 1)
            GA_Step_bound_info_patch(gx, lo, hi, gv, lo, hi, gl, lo, hi, gh, lo, hi, &shortest, &wolfe,
                                     &longest);
        else
            GA_Step_bound_info_patch64(gx, wl.at, wh.at, gv, wl.at, wh.at, gl, wl.at, wh.at, gh, wl.at, wh.at,
                                       &shortest, &wolfe, &longest);
        expect_near(shortest, least, 1e-12);
        expect_near(longest, most, 1e-12);
        expect_near(wolfe, least, 1e-12); /* no element starts on its bound */
    }
    GA_Destroy(gx);
    GA_Destroy(gv);
    GA_Destroy(gl);
    GA_Destroy(gh);
    grid_free(&x);
    grid_free(&v);
    grid_free(&low);
    grid_free(&high);
}
