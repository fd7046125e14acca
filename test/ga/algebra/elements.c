/* elements.c: compares element-wise operations on whole arrays and on boxes with the same computed one by one. */
#include <math.h>
#include <stdlib.h>

#include "grid.h"
#include "wide.h"

static const int sides[] = {13, 10, 4};
enum { NDIM = 3 };

static const int types[] = {C_INT, C_LONG, C_FLOAT, C_DBL, C_SCPL, C_DCPL};
enum { TYPES = sizeof types / sizeof types[0], REAL_TYPES = 4 };

struct operand {
    struct grid grid;
    int array;
    struct box box;
};

static struct operand operand_new(int type, uint64_t *state) {
    struct operand o = {.grid = grid_new(type, NDIM, sides)};
    grid_fill(&o.grid, state);
    o.array = array_of(&o.grid);
    o.box = whole(&o.grid);
    return o;
}

static void operand_free(struct operand *o) {
    GA_Destroy(o->array);
    grid_free(&o->grid);
}

/* The i-th element of an operand's box. */
static number *element(struct operand *o, long i) {
    int at[GA_MAX_DIM];
    for (int d = NDIM - 1; d >= 0; d--) {
        int extent = o->box.hi[d] - o->box.lo[d] + 1;
        at[d] = o->box.lo[d] + (int)(i % extent);
        i /= extent;
    }
    return &o->grid.at[grid_offset(&o->grid, at)];
}

static double tolerance(int type) {
    return type == C_FLOAT || type == C_SCPL ? 1e-4 : 1e-12;
}

static number cut(int type, number value) { /* integers are truncated */
    return type == C_INT || type == C_LONG ? trunc(creal(value)) : value;
}

/* ---- one operand ---- */

enum one { ABS, ADD_CONSTANT, RECIPROCAL, SCALE, FILL, ZERO, ONES };

static void one_whole(enum one op, int g, void *c) {
    switch (op) {
    case ABS:
        GA_Abs_value(g);
        break;
    case ADD_CONSTANT:
        GA_Add_constant(g, c);
        break;
    case RECIPROCAL:
        GA_Recip(g);
        break;
    case SCALE:
        GA_Scale(g, c);
        break;
    case FILL:
        turn() ? GA_Fill(g, c) : NGA_Fill(g, c);
        break;
    default:
        turn() ? GA_Zero(g) : NGA_Zero(g);
    }
}

static void one_patch(enum one op, int g, int *lo, int *hi, void *c) {
    switch (op) {
    case ABS:
        GA_Abs_value_patch(g, lo, hi);
        break;
    case ADD_CONSTANT:
        GA_Add_constant_patch(g, lo, hi, c);
        break;
    case RECIPROCAL:
        GA_Recip_patch(g, lo, hi);
        break;
    case SCALE:
        NGA_Scale_patch(g, lo, hi, c);
        break;
    case FILL:
        NGA_Fill_patch(g, lo, hi, c);
        break;
    default:
        NGA_Zero_patch(g, lo, hi);
    }
}

static void one_patch64(enum one op, int g, int64_t *lo, int64_t *hi, void *c) {
    switch (op) {
    case ABS:
        GA_Abs_value_patch64(g, lo, hi);
        break;
    case ADD_CONSTANT:
        GA_Add_constant_patch64(g, lo, hi, c);
        break;
    case RECIPROCAL:
        GA_Recip_patch64(g, lo, hi);
        break;
    case SCALE:
        NGA_Scale_patch64(g, lo, hi, c);
        break;
    case FILL:
        NGA_Fill_patch64(g, lo, hi, c);
        break;
    default:
        NGA_Zero_patch64(g, lo, hi);
    }
}

static number one_serial(enum one op, number a, number c) {
    switch (op) {
    case ABS:
        return cabs(a);
    case ADD_CONSTANT:
        return a + c;
    case RECIPROCAL:
        return 1 / a;
    case SCALE:
        return a * c;
    case FILL:
        return c;
    default:
        return 0;
    }
}

static void try_one(enum one op, int type, int how, uint64_t *state) {
    struct operand a = operand_new(type, state);
    number c = draw_number(state, type);
    if (how > 0)
        a.box = draw_box(&a.grid, state);
    if (how == 0)
        one_whole(op, a.array, scalar(type, c));
    else if (how == 1)
        one_patch(op, a.array, a.box.lo, a.box.hi, scalar(type, c));
    else
        one_patch64(op, a.array, widen(a.box.lo, NDIM).at, widen(a.box.hi, NDIM).at, scalar(type, c));
    GA_Sync();
    for (long i = 0; i < box_count(NDIM, &a.box); i++)
        *element(&a, i) = cut(type, one_serial(op, *element(&a, i), c));
    expect_array_near(a.array, &a.grid, tolerance(type));
    GA_Sync();
    operand_free(&a);
}

/* Whole arrays, boxes, and boxes with 64-bit indices in turn, so that each operation and each type meets each form. */
CASE(one_operand) {
    uint64_t state = test_seed;
    for (int op = 0; op < ONES; op++)
        for (int t = 0; t < TYPES; t++)
            try_one(op, types[t], (op + t) % 3, &state);
}

/* ---- two operands and a result ---- */

enum two { ADD, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, TWOS };

static void two_whole(enum two op, int a, int b, int c, void *alpha, void *beta) {
    switch (op) {
    case ADD:
        GA_Add(alpha, a, beta, b, c);
        break;
    case MULTIPLY:
        GA_Elem_multiply(a, b, c);
        break;
    case DIVIDE:
        GA_Elem_divide(a, b, c);
        break;
    case MAXIMUM:
        GA_Elem_maximum(a, b, c);
        break;
    default:
        GA_Elem_minimum(a, b, c);
    }
}

static void two_patch(enum two op, struct operand *a, struct operand *b, struct operand *c, void *alpha,
                      void *beta) {
    int x = a->array, y = b->array, z = c->array;
    int *al = a->box.lo, *ah = a->box.hi, *bl = b->box.lo, *bh = b->box.hi, *cl = c->box.lo, *ch = c->box.hi;
    switch (op) {
    case ADD:
        NGA_Add_patch(alpha, x, al, ah, beta, y, bl, bh, z, cl, ch);
        break;
    case MULTIPLY:
        GA_Elem_multiply_patch(x, al, ah, y, bl, bh, z, cl, ch);
        break;
    case DIVIDE:
        GA_Elem_divide_patch(x, al, ah, y, bl, bh, z, cl, ch);
        break;
    case MAXIMUM:
        GA_Elem_maximum_patch(x, al, ah, y, bl, bh, z, cl, ch);
        break;
    default:
        GA_Elem_minimum_patch(x, al, ah, y, bl, bh, z, cl, ch);
    }
}

static void two_patch64(enum two op, struct operand *a, struct operand *b, struct operand *c, void *alpha,
                        void *beta) {
    int x = a->array, y = b->array, z = c->array;
    struct wide al = widen(a->box.lo, NDIM), ah = widen(a->box.hi, NDIM), bl = widen(b->box.lo, NDIM),
                bh = widen(b->box.hi, NDIM), cl = widen(c->box.lo, NDIM), ch = widen(c->box.hi, NDIM);
    switch (op) {
    case ADD:
        NGA_Add_patch64(alpha, x, al.at, ah.at, beta, y, bl.at, bh.at, z, cl.at, ch.at);
        break;
    case MULTIPLY:
        GA_Elem_multiply_patch64(x, al.at, ah.at, y, bl.at, bh.at, z, cl.at, ch.at);
        break;
    case DIVIDE:
        GA_Elem_divide_patch64(x, al.at, ah.at, y, bl.at, bh.at, z, cl.at, ch.at);
        break;
    case MAXIMUM:
        GA_Elem_maximum_patch64(x, al.at, ah.at, y, bl.at, bh.at, z, cl.at, ch.at);
        break;
    default:
        GA_Elem_minimum_patch64(x, al.at, ah.at, y, bl.at, bh.at, z, cl.at, ch.at);
    }
}

static number two_serial(enum two op, number a, number b, number alpha, number beta) {
    switch (op) {
    case ADD:
        return alpha * a + beta * b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return a / b;
    case MAXIMUM:
        return creal(a) > creal(b) ? a : b;
    default:
        return creal(a) < creal(b) ? a : b;
    }
}

static void try_two(enum two op, int type, int how, uint64_t *state) {
    struct operand a = operand_new(type, state), b = operand_new(type, state), c = operand_new(type, state);
    number alpha = draw_number(state, type), beta = draw_number(state, type);
    if (how > 0) {
        a.box = draw_box(&a.grid, state);
        b.box = move_box(&b.grid, &a.box, state);
        c.box = move_box(&c.grid, &a.box, state);
    }
    if (how == 0)
        two_whole(op, a.array, b.array, c.array, scalar(type, alpha), scalar(type, beta));
    else if (how == 1)
        two_patch(op, &a, &b, &c, scalar(type, alpha), scalar(type, beta));
    else
        two_patch64(op, &a, &b, &c, scalar(type, alpha), scalar(type, beta));
    GA_Sync();
    for (long i = 0; i < box_count(NDIM, &a.box); i++)
        *element(&c, i) = cut(type, two_serial(op, *element(&a, i), *element(&b, i), alpha, beta));
    expect_array(a.array, &a.grid);
    expect_array(b.array, &b.grid);
    expect_array_near(c.array, &c.grid, tolerance(type) * 10);
    GA_Sync();
    operand_free(&a);
    operand_free(&b);
    operand_free(&c);
}

CASE(two_operands) {
    uint64_t state = test_seed;
    for (int op = 0; op < TWOS; op++)
        /* Complex products of libga 5.8.2 are wrong. */
        for (int t = 0; t < (op == ADD ? TYPES : REAL_TYPES); t++)
            try_two(op, types[t], (op + t) % 3, &state);
}

/* ---- three ---- */

static double middle(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

CASE(medians) {
    uint64_t state = test_seed;
    for (int how = 0; how < 3; how++) {
        struct operand o[4];
        for (int i = 0; i < 4; i++) {
            o[i] = operand_new(C_DBL, &state);
            if (how > 0)
                o[i].box = i ? move_box(&o[i].grid, &o[0].box, &state) : draw_box(&o[i].grid, &state);
        }
        struct wide lo[4], hi[4];
        for (int i = 0; i < 4; i++)
            lo[i] = widen(o[i].box.lo, NDIM), hi[i] = widen(o[i].box.hi, NDIM);
        if (how == 0)
            GA_Median(o[0].array, o[1].array, o[2].array, o[3].array);
        else if (how == 1)
            GA_Median_patch(o[0].array, o[0].box.lo, o[0].box.hi, o[1].array, o[1].box.lo, o[1].box.hi,
                            o[2].array, o[2].box.lo, o[2].box.hi, o[3].array, o[3].box.lo, o[3].box.hi);
        else
            GA_Median_patch64(o[0].array, lo[0].at, hi[0].at, o[1].array, lo[1].at, hi[1].at, o[2].array,
                              lo[2].at, hi[2].at, o[3].array, lo[3].at, hi[3].at);
        GA_Sync();
        for (long i = 0; i < box_count(NDIM, &o[0].box); i++)
            *element(&o[3], i) =
                middle(creal(*element(&o[0], i)), creal(*element(&o[1], i)), creal(*element(&o[2], i)));
        expect_array(o[3].array, &o[3].grid);
        GA_Sync();
        for (int i = 0; i < 4; i++)
            operand_free(&o[i]);
    }
}

/* ---- copies ---- */

CASE(copies) {
    uint64_t state = test_seed;
    for (int t = 0; t < TYPES; t++) {
        struct operand a = operand_new(types[t], &state), b = operand_new(types[t], &state);
        GA_Copy(a.array, b.array);
        GA_Sync();
        expect_array(b.array, &a.grid);
        GA_Sync();
        GA_Destroy(b.array);
        b.array = array_new(&a.grid, &state); /* distributed otherwise */
        GA_Copy(a.array, b.array);
        GA_Sync();
        expect_array(b.array, &a.grid);
        GA_Sync();
        operand_free(&a);
        operand_free(&b);
    }
}

CASE(copies_of_boxes) {
    uint64_t state = test_seed;
    for (int round = 0; round < 10; round++) {
        struct operand a = operand_new(C_DBL, &state), b = operand_new(C_DBL, &state);
        a.box = draw_box(&a.grid, &state);
        b.box = move_box(&b.grid, &a.box, &state);
        if (turn())
            NGA_Copy_patch('n', a.array, a.box.lo, a.box.hi, b.array, b.box.lo, b.box.hi);
        else
            NGA_Copy_patch64('n', a.array, widen(a.box.lo, NDIM).at, widen(a.box.hi, NDIM).at, b.array,
                             widen(b.box.lo, NDIM).at, widen(b.box.hi, NDIM).at);
        GA_Sync();
        for (long i = 0; i < box_count(NDIM, &a.box); i++)
            *element(&b, i) = *element(&a, i);
        expect_array(b.array, &b.grid);
        GA_Sync();
        operand_free(&a);
        operand_free(&b);
    }
}

/* ---- random numbers ---- */

CASE(random_values) {
    int dims[] = {50, 20}, lo[] = {0, 0}, hi[] = {49, 19}, ld[] = {20};
    static double values[50][20];
    for (int names = 0; names < 2; names++) {
        int array = NGA_Create(C_DBL, 2, dims, "random", NULL);
        double limit = 10, sum = 0;
        if (names)
            NGA_Randomize(array, &limit);
        else
            GA_Randomize(array, &limit);
        GA_Sync();
        NGA_Get(array, lo, hi, values, ld);
        for (int i = 0; i < 1000; i++) {
            expect(values[i / 20][i % 20] >= 0 && values[i / 20][i % 20] <= limit);
            sum += values[i / 20][i % 20];
        }
        expect(sum > 3000 && sum < 7000); /* 5000 with a standard deviation of 91 */
        GA_Sync();
        GA_Destroy(array);
    }
}
