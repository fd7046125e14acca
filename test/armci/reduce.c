/* reduce.c: compares reductions with a serial computation. Every rank knows the values of all ranks. */
/* configs: node real */
#include "test.h"

#include <limits.h>
#include <math.h>
#include <message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ARMCI-MPI only declares these. */
#pragma weak armci_msg_clus_igop
#pragma weak armci_msg_clus_lgop
#pragma weak armci_msg_clus_llgop
#pragma weak armci_msg_clus_fgop
#pragma weak armci_msg_clus_dgop

enum { MOST = 64, TYPES = ARMCI_DOUBLE + 1 };

/* Small whole numbers, so that sums and products are exact in every type; some are 0. */
static long value_of(int rank, size_t i, int version, const char *op) {
    uint64_t n = test_number(rank, i, version);
    if (op[0] == '*')
        return n % 4 ? 1 : n % 8 ? 2 : -1;
    return n % 5 ? (long)(n % 2001) - 1000 : 0;
}

static long combine(const char *op, long a, long b) {
    if (op[0] == '+')
        return a + b;
    if (op[0] == '*')
        return a * b;
    if (!strncmp(op, "absm", 4)) {
        a = labs(a);
        b = labs(b);
        return (op[4] == 'a') == (a > b) ? a : b;
    }
    if (op[0] == 'm')
        return (op[1] == 'a') == (a > b) ? a : b;
    if (!strncmp(op, "&&", 2) || !strncmp(op, "land", 4))
        return a && b;
    if (!strncmp(op, "||", 2) || !strncmp(op, "lor", 3))
        return a || b;
    if (op[0] == '&' || !strncmp(op, "band", 4))
        return a & b;
    return a | b;
}

/* The expected result for the ranks in the list. Except in sums and products, the first value is combined with itself:
 * this changes nothing but in "abs..." and "and" operations, which change even a single value. */
static long combined(const int *ranks, int count, size_t i, int version, const char *op) {
    long first = value_of(ranks[0], i, version, op);
    long all = op[0] == '+' || op[0] == '*' ? first : combine(op, first, first);
    for (int r = 1; r < count; r++)
        all = combine(op, all, value_of(ranks[r], i, version, op));
    return all;
}

static size_t size_of(int type) {
    static const size_t sizes[] = {sizeof(int), sizeof(long), sizeof(long long), sizeof(float),
                                   sizeof(double)};
    return sizes[type];
}

static void store(void *x, size_t i, int type, long value) {
    switch (type) {
    case ARMCI_INT:
        ((int *)x)[i] = (int)value;
        break;
    case ARMCI_LONG:
        ((long *)x)[i] = value;
        break;
    case ARMCI_LONG_LONG:
        ((long long *)x)[i] = value;
        break;
    case ARMCI_FLOAT:
        ((float *)x)[i] = (float)value;
        break;
    default:
        ((double *)x)[i] = (double)value;
    }
}

static double load(const void *x, size_t i, int type) {
    switch (type) {
    case ARMCI_INT:
        return ((const int *)x)[i];
    case ARMCI_LONG:
        return (double)((const long *)x)[i];
    case ARMCI_LONG_LONG:
        return (double)((const long long *)x)[i];
    case ARMCI_FLOAT:
        return (double)((const float *)x)[i];
    default:
        return ((const double *)x)[i];
    }
}

/* One element more than n, which must not change. */
static void *own_values(size_t n, int type, int version, const char *op) {
    void *x = malloc((n + 1) * size_of(type));
    for (size_t i = 0; i < n; i++)
        store(x, i, type, value_of(test_rank, i, version, op));
    store(x, n, type, 12345);
    return x;
}

static void expect_combined(const void *x, size_t n, int type, int version, const char *op, const int *ranks,
                            int count) {
    for (size_t i = 0; i<n; i += n> 100000 && i + 1000 < n ? 101 : 1) /* checks a sample of very many */
        if (!expect_real(load(x, i, type), (double)combined(ranks, count, i, version, op))) {
            fprintf(stderr, "rank %d: operation %s, type %d, %zu values, value %zu\n", test_rank, op, type, n,
                    i);
            return;
        }
    expect_real(load(x, n, type), 12345);
}

static int everyone(int *ranks) {
    for (int i = 0; i < test_size; i++)
        ranks[i] = i;
    return test_size;
}

static int those_on_my_node(int *ranks) {
    int count = 0;
    for (int i = 0; i < test_size; i++)
        if (test_node(i) == test_node(test_rank))
            ranks[count++] = i;
    return count;
}

static int masters(int *ranks) {
    for (int i = 0; i < test_nodes(); i++)
        ranks[i] = test_master(i);
    return test_nodes();
}

static bool is_master(void) {
    return test_master(test_node(test_rank)) == test_rank;
}

static char *const for_all_types[] = {"+", "*", "max", "min", "absmax", "absmin", "maximum", "min of them"};
static char *const for_integers[] = {"land", "&&", "lor", "||", "band", "&", "bor", "|", "or", "or so"};
enum {
    FOR_ALL = sizeof for_all_types / sizeof *for_all_types,
    FOR_INTEGERS = sizeof for_integers / sizeof *for_integers
};

static void expect_reduction(int scope, size_t n, int type, char *op, int version, const int *ranks,
                             int count) {
    void *x = own_values(n, type, version, op);
    armci_msg_gop_scope(scope, x, (int)n, op, type);
    expect_combined(x, n, type, version, op, ranks, count);
    free(x);
}

/* ---- over all ranks ---- */

CASE(every_operation_on_every_type) {
    int ranks[MOST], count = everyone(ranks);
    for (int type = 0; type < TYPES; type++) {
        for (int o = 0; o < FOR_ALL; o++)
            expect_reduction(SCOPE_ALL, 100, type, for_all_types[o], o, ranks, count);
        for (int o = 0; o < FOR_INTEGERS && type < ARMCI_FLOAT; o++)
            expect_reduction(SCOPE_ALL, 100, type, for_integers[o], o, ranks, count);
    }
}

/* MPI has none of these. */
CASE(truth_of_floating_point_numbers) {
    SKIP_IF_STOCK();
    int ranks[MOST], count = everyone(ranks);
    for (int type = ARMCI_FLOAT; type <= ARMCI_DOUBLE; type++)
        for (int o = 0; o < 4; o++)
            expect_reduction(SCOPE_ALL, 100, type, for_integers[o], o, ranks, count);
}

CASE(any_number_of_values) {
    static const size_t sizes[] = {0, 1, 2, 3, 1000, 65537};
    int ranks[MOST], count = everyone(ranks);
    for (int i = 0; i < 6; i++) {
        expect_reduction(SCOPE_ALL, sizes[i], ARMCI_INT, "+", i, ranks, count);
        expect_reduction(SCOPE_ALL, sizes[i], ARMCI_DOUBLE, "absmax", i, ranks, count);
    }
}

/* Larger than the unit in which data is reduced, and not a multiple of it. */
CASE(very_many_values) {
    int ranks[MOST], count = everyone(ranks);
    expect_reduction(SCOPE_ALL, (9 << 20) / sizeof(int) + 1, ARMCI_INT, "+", 1, ranks, count);
    expect_reduction(SCOPE_ALL, (9 << 20) / sizeof(double) + 1, ARMCI_DOUBLE, "max", 2, ranks, count);
}

CASE(calls_by_type) {
    int ranks[MOST], count = everyone(ranks);
    int *i = own_values(10, ARMCI_INT, 1, "+");
    long *l = own_values(10, ARMCI_LONG, 2, "+");
    long long *ll = own_values(10, ARMCI_LONG_LONG, 3, "+");
    float *f = own_values(10, ARMCI_FLOAT, 4, "+");
    double *d = own_values(10, ARMCI_DOUBLE, 5, "+");
    armci_msg_igop(i, 10, "+");
    armci_msg_lgop(l, 10, "+");
    armci_msg_llgop(ll, 10, "+");
    armci_msg_fgop(f, 10, "+");
    armci_msg_dgop(d, 10, "+");
    expect_combined(i, 10, ARMCI_INT, 1, "+", ranks, count);
    expect_combined(l, 10, ARMCI_LONG, 2, "+", ranks, count);
    expect_combined(ll, 10, ARMCI_LONG_LONG, 3, "+", ranks, count);
    expect_combined(f, 10, ARMCI_FLOAT, 4, "+", ranks, count);
    expect_combined(d, 10, ARMCI_DOUBLE, 5, "+", ranks, count);
    free(i);
    free(l);
    free(ll);
    free(f);
    free(d);
}

/* The magnitude of the least integer is the largest of all, although the type cannot represent it. */
CASE(magnitude_of_the_least_integer) {
    SKIP_IF_STOCK();
    int i = test_rank ? test_rank : INT_MIN;
    long l = test_rank ? LONG_MAX : LONG_MIN;
    armci_msg_igop(&i, 1, "absmax");
    armci_msg_lgop(&l, 1, "absmax");
    expect_eq(i, INT_MIN);
    expect_eq(l, LONG_MIN);
    i = test_rank ? test_rank : INT_MIN;
    armci_msg_igop(&i, 1, "absmin");
    expect_eq(i, test_size > 1 ? 1 : INT_MIN);
}

/* ---- over some ranks ---- */

CASE(inside_nodes_and_between_masters) {
    int near[MOST], between[MOST], count = those_on_my_node(near), nodes = masters(between);
    for (int type = 0; type < TYPES; type++)
        for (int o = 0; o < FOR_ALL; o++) {
            char *op = for_all_types[o];
            if (test_ours || !strstr(op, "abs")) /* a single value is left unchanged */
                expect_reduction(SCOPE_NODE, 10, type, op, o, near, count);
            void *x = own_values(10, type, o, op), *before = own_values(10, type, o, op);
            armci_msg_gop_scope(SCOPE_MASTERS, x, 10, op, type);
            if (is_master())
                expect_combined(x, 10, type, o, op, between, nodes);
            else
                expect_bytes(x, before, 11 * size_of(type));
            free(before);
            free(x);
        }
}

CASE(by_type_inside_nodes) {
    SKIP_IF(!armci_msg_clus_igop && !test_ours, "ARMCI-MPI only declares them");
    int ranks[MOST], count = those_on_my_node(ranks);
    int *i = own_values(10, ARMCI_INT, 1, "+");
    long *l = own_values(10, ARMCI_LONG, 2, "max");
    long long *ll = own_values(10, ARMCI_LONG_LONG, 3, "min");
    float *f = own_values(10, ARMCI_FLOAT, 4, "+");
    double *d = own_values(10, ARMCI_DOUBLE, 5, "absmax");
    armci_msg_clus_igop(i, 10, "+");
    armci_msg_clus_lgop(l, 10, "max");
    armci_msg_clus_llgop(ll, 10, "min");
    armci_msg_clus_fgop(f, 10, "+");
    armci_msg_clus_dgop(d, 10, "absmax");
    expect_combined(i, 10, ARMCI_INT, 1, "+", ranks, count);
    expect_combined(l, 10, ARMCI_LONG, 2, "max", ranks, count);
    expect_combined(ll, 10, ARMCI_LONG_LONG, 3, "min", ranks, count);
    expect_combined(f, 10, ARMCI_FLOAT, 4, "+", ranks, count);
    expect_combined(d, 10, ARMCI_DOUBLE, 5, "absmax", ranks, count);
    free(i);
    free(l);
    free(ll);
    free(f);
    free(d);
}

static void expect_in_group(ARMCI_Group *g, const int *ranks, int count) {
    int *i = own_values(9, ARMCI_INT, 1, "min");
    long *l = own_values(9, ARMCI_LONG, 2, "+");
    long long *ll = own_values(9, ARMCI_LONG_LONG, 3, "or");
    float *f = own_values(9, ARMCI_FLOAT, 4, "max");
    double *d = own_values(9, ARMCI_DOUBLE, 5, "*");
    armci_msg_group_igop(i, 9, "min", g);
    armci_msg_group_lgop(l, 9, "+", g);
    armci_msg_group_llgop(ll, 9, "or", g);
    armci_msg_group_fgop(f, 9, "max", g);
    armci_msg_group_dgop(d, 9, "*", g);
    expect_combined(i, 9, ARMCI_INT, 1, "min", ranks, count);
    expect_combined(l, 9, ARMCI_LONG, 2, "+", ranks, count);
    expect_combined(ll, 9, ARMCI_LONG_LONG, 3, "or", ranks, count);
    expect_combined(f, 9, ARMCI_FLOAT, 4, "max", ranks, count);
    expect_combined(d, 9, ARMCI_DOUBLE, 5, "*", ranks, count);
    free(i);
    free(l);
    free(ll);
    free(f);
    free(d);
}

CASE(of_a_group) {
    int list[MOST], count = 0;
    ARMCI_Group g;
    memset(&g, 0, sizeof g);
    for (int i = test_size - 1; i >= 0; i -= 2)
        list[count++] = i;
    ARMCI_Group_create(count, list, &g);
    if (g.rank >= 0)
        expect_in_group(&g, list, count);
    ARMCI_Group_free(&g);
}

/* The masters of a group are its first members on each node. */
CASE(of_parts_of_a_group) {
    int list[MOST], near[MOST], between[MOST], count = those_on_my_node(near), master = near[count - 1];
    ARMCI_Group g;
    for (int i = 0; i < test_size; i++)
        list[i] = test_size - 1 - i;
    for (int i = 0; i < test_nodes(); i++)
        between[i] = i + 1 < test_nodes() ? test_master(i + 1) - 1 : test_size - 1;
    ARMCI_Group_create(test_size, list, &g);
    void *x = own_values(5, ARMCI_LONG, 1, "+"), *y = own_values(5, ARMCI_LONG, 2, "+");
    armci_msg_group_gop_scope(SCOPE_NODE, x, 5, "+", ARMCI_LONG, &g);
    armci_msg_group_gop_scope(SCOPE_MASTERS, y, 5, "+", ARMCI_LONG, &g);
    expect_combined(x, 5, ARMCI_LONG, 1, "+", near, count);
    if (test_rank == master)
        expect_combined(y, 5, ARMCI_LONG, 2, "+", between, test_nodes());
    else
        expect_combined(y, 5, ARMCI_LONG, 2, "+", &test_rank, 1);
    free(y);
    free(x);
    ARMCI_Group_free(&g);
}

/* ---- to one rank ---- */

CASE(only_the_first_gets_the_result) {
    SKIP_IF_STOCK(); /* ends the job */
    int all[MOST], near[MOST], between[MOST];
    int count = everyone(all), here = those_on_my_node(near), nodes = masters(between);
    for (int type = 0; type < TYPES; type++) {
        void *x = own_values(33, type, 1, "+"), *y = own_values(33, type, 2, "absmax");
        void *z = own_values(33, type, 3, "min");
        armci_msg_reduce(x, 33, "+", type);
        armci_msg_reduce_scope(SCOPE_NODE, y, 33, "absmax", type);
        armci_msg_reduce_scope(SCOPE_MASTERS, z, 33, "min", type);
        if (test_rank == 0)
            expect_combined(x, 33, type, 1, "+", all, count);
        if (is_master())
            expect_combined(y, 33, type, 2, "absmax", near, here);
        if (test_rank == 0)
            expect_combined(z, 33, type, 3, "min", between, nodes);
        free(z);
        free(y);
        free(x);
    }
}

/* ---- structures ---- */

enum { LONGEST = 100000 };

struct chosen {
    union {
        int i;
        long l;
        long long ll;
        float f;
        double d;
        char first[8];
    } value;
    long owner;
    char rest[LONGEST];
};

/* The rank that is expected to win among the contributing ranks of the list, or -1. */
static int winner(const int *ranks, int count, const char *op, int version, uint64_t contributing) {
    int best = -1;
    for (int i = 0; i < count; i++) {
        long v = value_of(ranks[i], 0, version, "+"), b = best < 0 ? 0 : value_of(best, 0, version, "+");
        if (contributing >> ranks[i] & 1 && (best < 0 || (op[1] == 'a' ? v > b : v < b)))
            best = ranks[i];
    }
    return best;
}

static void fill_chosen(struct chosen *x, int rank, int type, int version, size_t bytes) {
    memset(x, 0, sizeof *x);
    store(&x->value, 0, type, value_of(rank, 0, version, "+"));
    x->owner = rank;
    test_fill(x->rest, bytes, rank, version);
}

static void expect_choice(int scope, const int *ranks, int count, char *op, int type, int version,
                          uint64_t contributing, size_t bytes) {
    static struct chosen x, want;
    int best = winner(ranks, count, op, version, contributing);
    fill_chosen(&x, test_rank, type, version, bytes);
    fill_chosen(&want, best < 0 ? test_rank : best, type, version, bytes);
    int n = (int)(offsetof(struct chosen, rest) + bytes);
    armci_msg_sel_scope(scope, &x, n, op, type, (int)(contributing >> test_rank & 1));
    expect_bytes(&x, &want, (size_t)n);
}

/* Returns whether two ranks have the same value: ARMCI-MPI may choose either of them. */
static bool is_tie(int version) {
    for (int a = 0; a < test_size; a++)
        for (int b = 0; b < a; b++)
            if (value_of(a, 0, version, "+") == value_of(b, 0, version, "+"))
                return true;
    return false;
}

CASE(the_structure_with_the_least_or_greatest_value) {
    int ranks[MOST], count = everyone(ranks);
    for (int type = 0; type < TYPES; type++)
        for (int version = 0; version < 20; version++) {
            uint64_t some = test_number(0, 1, version) | UINT64_C(1) << (version % test_size);
            if (!test_ours && is_tie(version))
                continue;
            expect_choice(SCOPE_ALL, ranks, count, "min", type, version, ~UINT64_C(0), 24);
            expect_choice(SCOPE_ALL, ranks, count, "maximum", type, version, ~UINT64_C(0), 24);
            expect_choice(SCOPE_ALL, ranks, count, "min", type, version, some, 100);
            expect_choice(SCOPE_ALL, ranks, count, "max", type, version, some, 0);
        }
}

CASE(the_structure_of_all) {
    struct {
        double value;
        long owner;
    } x = {-test_rank, test_rank};
    armci_msg_sel(&x, sizeof x, "min", ARMCI_DOUBLE, 1);
    expect_real(x.value, 1 - test_size);
    expect_eq(x.owner, test_size - 1);
}

CASE(of_equal_structures_that_of_the_lowest) {
    SKIP_IF_STOCK();
    struct {
        int value, owner;
    } x = {5, test_rank};
    armci_msg_sel(&x, sizeof x, "min", ARMCI_INT, test_rank > 0);
    expect_eq(x.owner, test_size > 1 ? 1 : 0);
    x.owner = test_rank;
    armci_msg_sel(&x, sizeof x, "max", ARMCI_INT, 1);
    expect_eq(x.owner, 0);
}

/* Without any contribution ARMCI-MPI returns uninitialized memory, and it lets MPI split long structures. */
CASE(structures_nobody_brings_and_long_ones) {
    SKIP_IF_STOCK();
    int ranks[MOST], count = everyone(ranks);
    expect_choice(SCOPE_ALL, ranks, count, "min", ARMCI_DOUBLE, 1, 0, 50);
    for (int version = 0; version < 5; version++)
        expect_choice(SCOPE_ALL, ranks, count, "max", ARMCI_LONG, version, ~UINT64_C(0), LONGEST);
}

CASE(structures_inside_nodes_and_between_masters) {
    SKIP_IF_STOCK();
    int near[MOST], between[MOST], here = those_on_my_node(near), nodes = masters(between);
    for (int version = 0; version < 10; version++) {
        expect_choice(SCOPE_NODE, near, here, "min", ARMCI_FLOAT, version, ~UINT64_C(0), 9);
        if (is_master())
            expect_choice(SCOPE_MASTERS, between, nodes, "max", ARMCI_INT, version, ~UINT64_C(0), 9);
        else
            expect_choice(SCOPE_MASTERS, &test_rank, 1, "max", ARMCI_INT, version, ~UINT64_C(0), 9);
    }
}

ON_CALL(no_such_operation) {
    int x = 1;
    armci_msg_igop(&x, 1, "median");
}

ON_CALL(bits_of_a_double) {
    double x = 1;
    armci_msg_dgop(&x, 1, "or");
}
