/* make_types.c: one function per constructor, each with random arguments. Where the MPI has a large-count variant, a
 * random choice uses it. */
#include "make_types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "test.h"

static struct random dice;
char types_story[2000];

static int roll(int low, int high) {
    return low + (int)random_below(&dice, (uint32_t)(high - low + 1));
}

static void roll_many(int n, int *out, int low, int high) {
    for (int i = 0; i < n; i++)
        out[i] = roll(low, high);
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
    size_t used = strlen(types_story);
    va_list args;
    va_start(args, format);
    vsnprintf(types_story + used, sizeof types_story - used, format, args);
    va_end(args);
}

static struct made pick_named(void) {
    const struct {
        MPI_Datatype type;
        const char *name;
    } named[] = {{MPI_BYTE, "byte"},
                 {MPI_SHORT, "short"},
                 {MPI_INT, "int"},
                 {MPI_DOUBLE, "double"},
                 {MPI_INT, "int"},
                 {MPI_DOUBLE, "double"},
                 {MPI_CHAR, "char"},
                 {MPI_C_DOUBLE_COMPLEX, "complex"},
                 {MPI_SHORT_INT, "short_int"},
                 {MPI_DOUBLE_INT, "double_int"},
                 {MPI_LONG_INT, "long_int"},
                 {MPI_FLOAT_INT, "float_int"},
                 {MPI_2INT, "2int"},
                 {MPI_LONG_DOUBLE_INT, "long_double_int"}};
    int i = roll(0, sizeof named / sizeof named[0] - 1);
    tell(" %s", named[i].name);
    return (struct made){named[i].type, false};
}

static void tell_ints(const char *name, int n, const int *values) {
    tell(" %s", name);
    for (int i = 0; i < n; i++)
        tell("%c%d", i ? ',' : '[', values[i]);
    tell("%s", n ? "]" : "[]");
}

/* The constructors with random arguments. MPI 4 also has them with large counts. */
#if MPI_VERSION >= 4
#define BOTH_WAYS(large, small) (roll(0, 3) == 0 ? (large) : (small))
#else
#define BOTH_WAYS(large, small) (small)
#endif

static MPI_Datatype make_vector(MPI_Datatype old) {
    MPI_Datatype type;
    int n = roll(0, 4), length = roll(0, 3), stride = roll(-4, 6);
    tell(" vector %d,%d,%d", n, length, stride);
    BOTH_WAYS(MPI_Type_vector_c(n, length, stride, old, &type),
              MPI_Type_vector(n, length, stride, old, &type));
    return type;
}

static MPI_Datatype make_hvector(MPI_Datatype old) {
    MPI_Datatype type;
    int n = roll(0, 4), length = roll(0, 3), stride = roll(-60, 100);
    tell(" hvector %d,%d,%d", n, length, stride);
    BOTH_WAYS(MPI_Type_create_hvector_c(n, length, stride, old, &type),
              MPI_Type_create_hvector(n, length, stride, old, &type));
    return type;
}

static MPI_Datatype make_contiguous(MPI_Datatype old) {
    MPI_Datatype type;
    int n = roll(0, 4);
    tell(" contiguous %d", n);
    BOTH_WAYS(MPI_Type_contiguous_c(n, old, &type), MPI_Type_contiguous(n, old, &type));
    return type;
}

static MPI_Datatype make_resized(MPI_Datatype old) {
    MPI_Datatype type;
    int lb = roll(-20, 20), extent = roll(1, 80);
    tell(" resized %d,%d", lb, extent);
    BOTH_WAYS(MPI_Type_create_resized_c(old, lb, extent, &type),
              MPI_Type_create_resized(old, lb, extent, &type));
    return type;
}

static MPI_Datatype make_dup(MPI_Datatype old) {
    MPI_Datatype type;
    tell(" dup");
    MPI_Type_dup(old, &type);
    return type;
}

/* The arguments of the indexed constructors, in all widths. */
struct blocks {
    int n, lengths[6], places[6];
    MPI_Aint addresses[6];
    MPI_Count large_lengths[6], large_places[6];
};

static struct blocks roll_blocks(int low, int high) {
    struct blocks b;
    b.n = roll(0, 6);
    roll_many(b.n, b.lengths, 0, 3);
    roll_many(b.n, b.places, low, high);
    for (int i = 0; i < b.n; i++) {
        b.addresses[i] = b.large_places[i] = b.places[i];
        b.large_lengths[i] = b.lengths[i];
    }
    tell_ints("lengths", b.n, b.lengths);
    tell_ints("places", b.n, b.places);
    return b;
}

static MPI_Datatype make_indexed(MPI_Datatype old) {
    MPI_Datatype type;
    tell(" indexed");
    struct blocks b = roll_blocks(-4, 8);
    BOTH_WAYS(MPI_Type_indexed_c(b.n, b.large_lengths, b.large_places, old, &type),
              MPI_Type_indexed(b.n, b.lengths, b.places, old, &type));
    return type;
}

static MPI_Datatype make_hindexed(MPI_Datatype old) {
    MPI_Datatype type;
    tell(" hindexed");
    struct blocks b = roll_blocks(-100, 200);
    BOTH_WAYS(MPI_Type_create_hindexed_c(b.n, b.large_lengths, b.large_places, old, &type),
              MPI_Type_create_hindexed(b.n, b.lengths, b.addresses, old, &type));
    return type;
}

static MPI_Datatype make_indexed_block(MPI_Datatype old) {
    MPI_Datatype type;
    int length = roll(0, 3);
    tell(" indexed_block %d", length);
    struct blocks b = roll_blocks(-4, 8);
    BOTH_WAYS(MPI_Type_create_indexed_block_c(b.n, length, b.large_places, old, &type),
              MPI_Type_create_indexed_block(b.n, length, b.places, old, &type));
    return type;
}

static MPI_Datatype make_hindexed_block(MPI_Datatype old) {
    MPI_Datatype type;
    int length = roll(0, 3);
    tell(" hindexed_block %d", length);
    struct blocks b = roll_blocks(-100, 200);
    BOTH_WAYS(MPI_Type_create_hindexed_block_c(b.n, length, b.large_places, old, &type),
              MPI_Type_create_hindexed_block(b.n, length, b.addresses, old, &type));
    return type;
}

static MPI_Datatype make_subarray(MPI_Datatype old) {
    MPI_Datatype type;
    int dims = roll(1, 4), sizes[4], subsizes[4], starts[4],
        order = roll(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Count large[3][4];
    for (int i = 0; i < dims; i++) {
        large[0][i] = sizes[i] = roll(1, 5);
        large[1][i] = subsizes[i] = roll(1, sizes[i]);
        large[2][i] = starts[i] = roll(0, sizes[i] - subsizes[i]);
    }
    tell(" subarray %s", order == MPI_ORDER_C ? "c" : "fortran");
    tell_ints("sizes", dims, sizes);
    tell_ints("subsizes", dims, subsizes);
    tell_ints("starts", dims, starts);
    (void)large;
    BOTH_WAYS(MPI_Type_create_subarray_c(dims, large[0], large[1], large[2], order, old, &type),
              MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, old, &type));
    return type;
}

static int roll_distribution(int size, int grid, int *argument) {
    int kind = roll(0, grid == 1 ? 2 : 1);
    *argument = MPI_DISTRIBUTE_DFLT_DARG;
    if (kind == 2)
        return MPI_DISTRIBUTE_NONE;
    if (roll(0, 1))
        *argument = kind ? roll(1, 3) : (size + grid - 1) / grid + roll(0, 1);
    return kind ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
}

static MPI_Datatype make_darray(MPI_Datatype old) {
    MPI_Datatype type;
    int dims = roll(1, 3), sizes[3], kinds[3], arguments[3], grid[3], processes = 1;
    int order = roll(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, bytes;
    MPI_Count large[3];
    MPI_Type_size(old, &bytes);
    if (!bytes) /* refused by Open MPI 4.1 */
        return make_dup(old);
    for (int i = 0; i < dims; i++) {
        large[i] = sizes[i] = roll(1, 9);
        grid[i] = roll(1, 3);
        kinds[i] = roll_distribution(sizes[i], grid[i], &arguments[i]);
        processes *= grid[i];
    }
    int rank = roll(0, processes - 1);
    tell(" darray %s rank %d of %d", order == MPI_ORDER_C ? "c" : "fortran", rank, processes);
    tell_ints("sizes", dims, sizes);
    tell_ints("kinds", dims, kinds);
    tell_ints("arguments", dims, arguments);
    tell_ints("grid", dims, grid);
    (void)large;
    BOTH_WAYS(
        MPI_Type_create_darray_c(processes, rank, dims, large, kinds, arguments, grid, order, old, &type),
        MPI_Type_create_darray(processes, rank, dims, sizes, kinds, arguments, grid, order, old, &type));
    return type;
}

static struct made make_nested(int depth);

static MPI_Datatype make_struct(int depth) {
    MPI_Datatype type, parts[6];
    struct made all[6];
    tell(" struct {");
    struct blocks b = roll_blocks(-100, 200);
    for (int i = 0; i < b.n; i++) {
        bool again = i && !all[i - 1].derived && roll(0, 1);
        tell(";%s", again ? " same" : "");
        all[i] = again ? all[i - 1] : make_nested(depth);
        parts[i] = all[i].type;
    }
    tell(" }");
    BOTH_WAYS(MPI_Type_create_struct_c(b.n, b.large_lengths, b.large_places, parts, &type),
              MPI_Type_create_struct(b.n, b.lengths, b.addresses, parts, &type));
    for (int i = 0; i < b.n; i++)
        if (all[i].derived)
            MPI_Type_free(&all[i].type);
    return type;
}

bool is_small_type(MPI_Datatype type, int count) {
    MPI_Count size, lb, extent, true_lb, true_extent;
    TEST_LARGE(Type_size)(type, &size);
    TEST_LARGE(Type_get_extent)(type, &lb, &extent);
    TEST_LARGE(Type_get_true_extent)(type, &true_lb, &true_extent);
    if (!size) /* Open MPI sets its true bounds to the ends of the address space */
        return true;
    MPI_Count last = true_lb + (count - 1) * extent;
    MPI_Count low = last < true_lb ? last : true_lb, high = (last < true_lb ? true_lb : last) + true_extent;
    return size * count < TYPE_BYTES && low > -TYPE_REACH && high < TYPE_REACH;
}

static MPI_Datatype make_derived(int depth) {
    static MPI_Datatype (*const make[])(MPI_Datatype) = {
        make_vector,        make_hvector,        make_contiguous, make_resized, make_dup,      make_indexed,
        make_indexed_block, make_hindexed_block, make_hindexed,   make_darray,  make_subarray, make_subarray};
    int i = roll(0, sizeof make / sizeof make[0]);
    if (i == sizeof make / sizeof make[0])
        return make_struct(depth - 1);
    tell(" (");
    struct made old = make_nested(depth - 1);
    tell(")");
    MPI_Datatype type = make[i](old.type);
    if (old.derived)
        MPI_Type_free(&old.type);
    return type;
}

static struct made make_nested(int depth) {
    if (depth == 0 || roll(0, 9) == 0)
        return pick_named();
    MPI_Datatype type = make_derived(depth);
    if (is_small_type(type, 1))
        return (struct made){type, true};
    MPI_Type_free(&type);
    tell(" too large, instead:");
    return pick_named();
}

struct made make_random_type(struct random *r, int depth) {
    types_story[0] = 0;
    dice = *r;
    struct made m = make_nested(depth);
    *r = dice;
    return m;
}
