/* unit_data_element.c: compares every operation on every type of element, at any alignment, with scalar code. */
#include "test.h"

#include "base/random.h"
#include "data_help.h"

static struct random dice;

TEST(sizes_are_packed)
{
    for (int type = 0; type < DATA_TYPES; type++)
        expect_eq(data_element_bytes((unsigned)type), kinds[type].bytes);
    expect_eq(data_element_bytes(DATA_TYPES), 0);
    expect_eq(data_element_bytes(~0u), 0);
}

TEST(operations_are_those_of_the_standard)
{
    for (int op = 0; op < DATA_OPS; op++)
        for (int type = 0; type < DATA_TYPES; type++)
            expect_eq(data_element_allows((unsigned)op, (unsigned)type), naive_allows(op, type));
    expect(!data_element_allows(DATA_OPS, DATA_INT8));
    expect(!data_element_allows(DATA_SUM, DATA_TYPES));
    expect(!data_element_allows(~0u, ~0u));
}

enum { FEW = 41, MOST = 700 /* elements: a long row of any type (data/vectors.h) */, MARGIN = 64 };
static char to[MARGIN + MOST * DATA_ELEMENT_MOST + MARGIN], from[sizeof to], model[sizeof to];

/* Compares the bytes around the elements as well: they must not change. */
static void compare_combined(int op, int type, size_t to_shift, size_t from_shift, size_t count) {
    size_t bytes = kinds[type].bytes;
    memset(to, 0x5a, sizeof to);
    random_elements(type, &dice, to + to_shift, count);
    random_elements(type, &dice, from + from_shift, count);
    memcpy(model, to, sizeof to);
    for (size_t i = 0; i < count; i++)
        naive_combine(op, type, model + to_shift + i * bytes, from + from_shift + i * bytes);
    data_element_combine((enum data_op)op, (enum data_type)type, to + to_shift, from + from_shift, count);
    if (memcmp(to, model, sizeof to) && test_failed(__FILE__, __LINE__))
        printf("operation %d of %zu elements of type %d, at %zu and %zu\n", op, count, type, to_shift,
               from_shift);
}

TEST(all_operations_on_all_types_at_all_places)
{
    random_seed(&dice, 1);
    for (int op = 0; op < DATA_OPS; op++)
        for (int type = 0; type < DATA_TYPES; type++)
            for (size_t round = 0; round < 20 && naive_allows(op, type); round++)
                compare_combined(op, type, round % 17, random_below(&dice, 17),
                                 round < 10 ? round : random_below(&dice, round < 15 ? FEW : MOST));
}

/* Target rows with gaps between them, with positive and negative strides. */
TEST(rows)
{
    enum { ROWS = 5, GAP = 3 };
    random_seed(&dice, 2);
    for (int op = 0; op < DATA_NO_OP; op++)
        for (int type = 0; type < DATA_TYPES; type++) {
            if (!naive_allows(op, type))
                continue;
            for (size_t count = 1; count < 6; count++) {
                size_t bytes = kinds[type].bytes, row = count * bytes;
                int64_t stride = (int64_t)(row + GAP) * (count % 2 ? -1 : 1);
                char *first = to + (stride < 0 ? (ROWS - 1) * (row + GAP) : 0);
                memset(to, 0x5a, sizeof to);
                for (int i = 0; i < ROWS; i++)
                    random_elements(type, &dice, first + i * stride, count);
                random_elements(type, &dice, from + 1, ROWS * count);
                memcpy(model, to, sizeof to);
                for (size_t i = 0; i < ROWS * count; i++)
                    naive_combine(op, type,
                                  model + (first - to) + (int64_t)(i / count) * stride + i % count * bytes,
                                  from + 1 + i * bytes);
                data_element_kernel((enum data_op)op, (enum data_type)type)(first, stride, from + 1, ROWS,
                                                                            row);
                expect(!memcmp(to, model, sizeof to));
            }
        }
    expect(!data_element_kernel(DATA_NO_OP, DATA_INT8));
}

TEST(integers_wrap)
{
    int32_t a = INT32_MAX, b = 2, c = INT32_MIN, d = -1;
    uint16_t e = 65535, f = 65535;
    data_element_combine(DATA_SUM, DATA_INT32, &a, &b, 1);
    expect_eq(a, INT32_MIN + 1);
    data_element_combine(DATA_PROD, DATA_INT32, &c, &d, 1);
    expect_eq(c, INT32_MIN);
    data_element_combine(DATA_PROD, DATA_UINT16, &e, &f, 1);
    expect_eq(e, 1);
}

/* As `operand > target ? operand : target`: a NaN in the target stays, and a NaN in the operand is ignored. */
TEST(not_a_number)
{
    const double nan = __builtin_nan(""), one = 1;
    for (int op = DATA_MAX; op <= DATA_MIN; op++) {
        double target = 1;
        data_element_combine((enum data_op)op, DATA_DOUBLE, &target, &nan, 1);
        expect(target == 1);
        target = nan;
        data_element_combine((enum data_op)op, DATA_DOUBLE, &target, &one, 1);
        expect(target != target);
    }
    struct {
        double value;
        int index;
    } __attribute__((packed)) pair = {1, 7}, other = {nan, 3};
    data_element_combine(DATA_MAXLOC, DATA_DOUBLE_INT, &pair, &other, 1);
    expect(pair.value == 1 && pair.index == 7);
}

TEST(ties_go_to_the_lower_index)
{
    int target[2] = {5, 7}, same[2] = {5, 3}, later[2] = {5, 9}, less[2] = {4, 100};
    data_element_combine(DATA_MAXLOC, DATA_INT_INT, target, later, 1);
    expect(target[0] == 5 && target[1] == 7);
    data_element_combine(DATA_MAXLOC, DATA_INT_INT, target, same, 1);
    expect(target[0] == 5 && target[1] == 3);
    data_element_combine(DATA_MAXLOC, DATA_INT_INT, target, less, 1);
    expect(target[0] == 5 && target[1] == 3);
    data_element_combine(DATA_MINLOC, DATA_INT_INT, target, less, 1);
    expect(target[0] == 4 && target[1] == 100);
}

/* Any nonzero operand counts as true. */
TEST(true_is_stored_as_one)
{
    uint8_t flag = 0xff, two = 2;
    int32_t logical = -1, other = 2;
    data_element_combine(DATA_LAND, DATA_BOOL, &flag, &two, 1);
    expect_eq(flag, 1);
    data_element_combine(DATA_LAND, DATA_LOGICAL4, &logical, &other, 1);
    expect_eq(logical, 1);
    data_element_combine(DATA_LXOR, DATA_LOGICAL4, &logical, &other, 1);
    expect_eq(logical, 0);
}
