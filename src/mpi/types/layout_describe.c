/* layout_describe.c: describes a type by decomposing it recursively, down to named types.
 *
 * MPI reports how a type was made: the constructor ("combiner") and its arguments. The arguments come in arrays of
 * integers, addresses and types. Where types can be made with large counts there is also an array of counts; such
 * types have all their numbers there, addresses last.
 *
 *      contents:   ints | addresses | counts | types          on the stack if small, else in one allocation
 *
 * Extents are always taken from MPI, which handles padding and MPI_LB/UB. Only the order and position of bytes is
 * derived here. MPI returns the inner types as new references, which must be freed unless they are predefined. */
#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/log.h"
#include "mpi/types/layout_build.h"
#include "mpi/types/layout_constants.h"
#include "tables/shape.h"

enum { DEPTH_MAX = 64 }; /* of nested types */

struct contents {
    int combiner;
    MPI_Count int_count, address_count, count_count, type_count;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
    void *heap; /* NULL if everything fits in `room` */
    _Alignas(16) char room[512];
};

static int describe_type(MPI_Datatype type, int depth, struct layout_element *out);

#if HEARTH_MPI_COUNTS
static int get_envelope(MPI_Datatype type, struct contents *c) {
    return host_Type_get_envelope_c(type, &c->int_count, &c->address_count, &c->count_count, &c->type_count,
                                    &c->combiner);
}

static int get_contents(MPI_Datatype type, struct contents *c) {
    return host_Type_get_contents_c(type, c->int_count, c->address_count, c->count_count, c->type_count,
                                    c->ints, c->addresses, c->counts, c->types);
}
#else
static int get_envelope(MPI_Datatype type, struct contents *c) {
    int ints, addresses, types;
    int rc = host_Type_get_envelope(type, &ints, &addresses, &types, &c->combiner);
    c->int_count = ints;
    c->address_count = addresses;
    c->count_count = 0;
    c->type_count = types;
    return rc;
}

static int get_contents(MPI_Datatype type, struct contents *c) {
    return host_Type_get_contents(type, (int)c->int_count, (int)c->address_count, (int)c->type_count, c->ints,
                                  c->addresses, c->types);
}
#endif

/* Types that may not be freed, and whose contents do not describe their bytes. */
static bool has_name(const struct contents *c) {
    return c->combiner == MPI_COMBINER_NAMED || c->combiner == MPI_COMBINER_F90_REAL ||
           c->combiner == MPI_COMBINER_F90_COMPLEX || c->combiner == MPI_COMBINER_F90_INTEGER;
}

static bool is_predefined(MPI_Datatype type) {
    struct contents c;
    return get_envelope(type, &c) || has_name(&c); /* a type that cannot be queried is not freed either */
}

static bool describe_make_room(struct contents *c) {
    size_t addresses = (size_t)c->address_count * sizeof *c->addresses;
    size_t counts = (size_t)c->count_count * sizeof *c->counts;
    size_t types = round_up((size_t)c->type_count * sizeof *c->types, 8);
    size_t all = addresses + counts + types + (size_t)c->int_count * sizeof *c->ints;
    c->heap = all <= sizeof c->room ? NULL : malloc(all);
    if (all > sizeof c->room && !c->heap)
        return false;
    char *at = c->heap ? c->heap : c->room;
    c->addresses = (MPI_Aint *)at;
    c->counts = (MPI_Count *)(at + addresses);
    c->types = (MPI_Datatype *)(at + addresses + counts);
    c->ints = (int *)(at + addresses + counts + types);
    return true;
}

/* Call after get_envelope. */
static int open_contents(MPI_Datatype type, struct contents *c) {
    if (!describe_make_room(c))
        return -ENOMEM;
    if (!get_contents(type, c))
        return 0;
    free(c->heap);
    return -ENOTSUP;
}

static void close_contents(struct contents *c) {
    for (MPI_Count i = 0; i < c->type_count; i++)
        if (!is_predefined(c->types[i]))
            host_Type_free(&c->types[i]);
    free(c->heap);
}

static int64_t number(const struct contents *c, int64_t i) {
    return c->count_count ? c->counts[i] : c->ints[i];
}

/* Displacement i of n, in bytes. */
static int64_t place(const struct contents *c, int64_t i, int64_t n) {
    return c->count_count ? c->counts[c->count_count - n + i] : c->addresses[i];
}

/* MPI_SHORT_INT has a gap between its parts; all other pairs have at most a gap at their end. */
static int describe_pair(MPI_Datatype type, struct layout_build *b) {
    if (type != MPI_SHORT_INT)
        return -ENOTSUP;
    struct {
        short value;
        int index;
    } pair;
    struct layout value = {.shape = shape_contiguous(sizeof pair.value)};
    struct layout index = {.shape = shape_contiguous(sizeof pair.index)};
    layout_add(b, &value, 0, 1, 0);
    layout_add(b, &index, (char *)&pair.index - (char *)&pair, 1, 0);
    return 0;
}

static int describe_named(MPI_Datatype type, struct layout *out) {
    int size;
    MPI_Aint lb, extent;
    if (host_Type_size(type, &size) || host_Type_get_true_extent(type, &lb, &extent) || size < 0)
        return -ENOTSUP;
    struct layout_build b = {0};
    struct layout whole = {.shape = shape_contiguous((uint64_t)size)};
    if (size && extent != size) {
        if (describe_pair(type, &b))
            return -ENOTSUP;
    } else
        layout_add(&b, &whole, lb, 1, 0);
    return layout_finish(&b, out);
}

static int describe_vector(const struct contents *c, const struct layout_element *e, int64_t stride,
                           struct layout *out) {
    *out = layout_share(&e->layout);
    int rc = layout_repeat(out, number(c, 1), e->extent, LAYOUT_BLOCKS_MAX);
    return rc ? rc : layout_repeat(out, number(c, 0), stride, LAYOUT_BLOCKS_MAX);
}

/* Blocks listed individually: of `equal` length or not, with displacements in bytes or in elements. */
static int describe_indexed(const struct contents *c, const struct layout_element *e, bool equal,
                            bool in_bytes, struct layout *out) {
    struct layout_build b = {0};
    int64_t n = number(c, 0), places = equal ? 2 : 1 + n;
    for (int64_t i = 0; i < n && !b.error; i++) {
        int64_t at = in_bytes ? place(c, i, n) : layout_times(&b, number(c, places + i), e->extent);
        layout_add(&b, &e->layout, at, number(c, equal ? 1 : 1 + i), e->extent);
    }
    return layout_finish(&b, out);
}

/* Adds one dimension of an array: `count` copies of the faster dimensions, from index `from` on, `stride` bytes
 * apart. */
static int add_dimension(struct layout *l, int64_t from, int64_t count, int64_t stride) {
    struct layout_build check = {0};
    int64_t shift = layout_times(&check, from, stride);
    int rc = check.error ? check.error : layout_repeat(l, count, stride, LAYOUT_BLOCKS_MAX);
    l->offset += l->shape.bytes ? shift : 0;
    return rc;
}

/* Arguments: dimensions, sizes, sub-sizes, starts, order. With large counts: dimensions, order; sizes etc. as counts. */
static int describe_subarray(const struct contents *c, const struct layout_element *e, struct layout *out) {
    int dims = c->ints[0], rc = 0;
    bool large = c->count_count > 0,
         fortran = c->ints[large ? 1 : 1 + 3 * dims] == layout_constants()->order_fortran;
    int64_t stride = e->extent;
    *out = layout_share(&e->layout);
    for (int i = 0; i < dims && !rc; i++) {
        int dim = fortran ? i : dims - 1 - i, at = large ? dim : 1 + dim;
        rc = add_dimension(out, number(c, at + 2 * dims), number(c, at + dims), stride);
        if (__builtin_mul_overflow(stride, number(c, at), &stride))
            rc = -ENOTSUP;
    }
    return rc;
}

/* One dimension of a distributed array: `grid` processes share `size` indices; this process is number `me`. */
struct share {
    int64_t size;
    int kind, argument, grid, me;
};

static int add_cyclic(struct layout *l, struct share s, int64_t stride) {
    int64_t length = s.argument == layout_constants()->distribute_default ? 1 : s.argument;
    int64_t from = s.me * length, round = s.grid * length, left = s.size - from;
    int64_t full = left < length ? 0 : (left - length) / round + 1;
    int64_t rest = left - full * round;
    rest = rest < 0 ? 0 : rest;
    struct layout_build b = {0};
    struct layout block = layout_share(l);
    int64_t round_bytes = layout_times(&b, round, stride),
            rest_at = layout_times(&b, from + full * round, stride);
    int rc = b.error ? b.error : layout_repeat(&block, length, stride, LAYOUT_BLOCKS_MAX);
    if (!rc) {
        layout_add(&b, &block, layout_times(&b, from, stride), full, round_bytes);
        layout_add(&b, l, rest_at, rest, stride);
    }
    layout_free(&block);
    layout_free(l);
    return rc ? rc : layout_finish(&b, l);
}

static int add_share(struct layout *l, struct share s, int64_t stride) {
    const struct layout_constants *is = layout_constants();
    if (s.kind == is->distribute_none)
        return add_dimension(l, 0, s.size, stride);
    if (s.kind == is->distribute_cyclic)
        return add_cyclic(l, s, stride);
    int64_t length = s.argument == is->distribute_default ? (s.size + s.grid - 1) / s.grid : s.argument;
    int64_t from = s.me * length, left = s.size - from;
    return add_dimension(l, from, left < length ? left : length, stride);
}

/* Arguments: size, rank, dimensions, sizes (with large counts: as counts), distributions, their arguments, grid,
 * order. Ranks are laid out on the grid in C order, whatever the order of the array. */
static int describe_darray(const struct contents *c, const struct layout_element *e, struct layout *out) {
    int dims = c->ints[2], rc = 0;
    const int *kinds = c->ints + 3 + (c->count_count ? 0 : dims), *arguments = kinds + dims,
              *grid = arguments + dims;
    bool fortran = grid[dims] == layout_constants()->order_fortran;
    int64_t stride = e->extent;
    *out = layout_share(&e->layout);
    for (int i = 0; i < dims && !rc; i++) {
        int dim = fortran ? i : dims - 1 - i, faster = 1;
        for (int j = dim + 1; j < dims; j++)
            faster *= grid[j];
        int64_t size = c->count_count ? c->counts[dim] : c->ints[3 + dim];
        struct share s = {size, kinds[dim], arguments[dim], grid[dim], c->ints[1] / faster % grid[dim]};
        rc = add_share(out, s, stride);
        if (__builtin_mul_overflow(stride, size, &stride))
            rc = -ENOTSUP;
    }
    return rc;
}

/* Uses the table if it has the type. Adds predefined types to it, because they cannot be freed. */
static int describe_part(MPI_Datatype type, int depth, struct layout_element *out) {
    if (layout_copy_known(type, out))
        return out->error;
    int rc = describe_type(type, depth + 1, out);
    if (!rc && out->predefined)
        layout_keep(type, out);
    return rc;
}

/* A part of a struct without bytes that still moves the struct's bounds. Open MPI 4.1 reports an extent that includes
 * it, but moves data without it. */
static bool has_bounds_only(const struct layout_element *e) {
    return !e->layout.shape.bytes && !e->predefined;
}

static int describe_struct(const struct contents *c, int depth, struct layout *out) {
    struct layout_build b = {0};
    struct layout_element e = {.error = 0};
    int64_t n = number(c, 0);
    bool bounds = false;
    for (int64_t i = 0; i < n && !b.error; i++) {
        if (i == 0 || c->types[i] != c->types[i - 1]) {
            layout_free(&e.layout);
            b.error = describe_part(c->types[i], depth, &e);
        }
        bounds |= has_bounds_only(&e) && number(c, 1 + i);
        layout_add(&b, &e.layout, place(c, i, n), number(c, 1 + i), e.extent);
    }
    layout_free(&e.layout);
    if (bounds && b.bytes && !b.error)
        b.error = -ENOTSUP;
    return layout_finish(&b, out);
}

static int describe_one(const struct contents *c, const struct layout_element *e, struct layout *out) {
    struct layout_build check = {0};
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        *out = layout_share(&e->layout);
        return 0;
    case MPI_COMBINER_CONTIGUOUS:
        *out = layout_share(&e->layout);
        return layout_repeat(out, number(c, 0), e->extent, LAYOUT_BLOCKS_MAX);
    case MPI_COMBINER_VECTOR: {
        int64_t stride = layout_times(&check, number(c, 2), e->extent);
        return check.error ? check.error : describe_vector(c, e, stride, out);
    }
    case MPI_COMBINER_HVECTOR:
        return describe_vector(c, e, place(c, 0, 1), out);
    case MPI_COMBINER_INDEXED:
        return describe_indexed(c, e, false, false, out);
    case MPI_COMBINER_HINDEXED:
        return describe_indexed(c, e, false, true, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return describe_indexed(c, e, true, false, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return describe_indexed(c, e, true, true, out);
    case MPI_COMBINER_SUBARRAY:
        return describe_subarray(c, e, out);
    case MPI_COMBINER_DARRAY:
        return describe_darray(c, e, out);
    default:
        log_debug(LOG_WINDOWS, "datatype: unknown combiner %d; accesses with it are left to MPI",
                  c->combiner);
        return -ENOTSUP;
    }
}

static int describe_derived(const struct contents *c, int depth, struct layout *out) {
    if (c->combiner == MPI_COMBINER_STRUCT)
        return describe_struct(c, depth, out);
    if (c->type_count != 1)
        return -ENOTSUP;
    struct layout_element e;
    int rc = describe_part(c->types[0], depth, &e);
    if (rc)
        return rc;
    rc = describe_one(c, &e, out);
    layout_free(&e.layout);
    return rc;
}

/* ---- partial elements ---- */

static uint64_t size_of(MPI_Datatype type) {
    MPI_Count size = 0;
    return host_Type_size_x(type, &size) || size < 0 ? 0 : (uint64_t)size;
}

/* The part of a struct that holds byte *rest; *rest becomes its number within that part. Returns type_count if there is none. */
static MPI_Count part_at(const struct contents *c, uint64_t *rest) {
    MPI_Count i = 0;
    for (; i < c->type_count; i++) {
        uint64_t bytes = (uint64_t)number(c, i + 1) * size_of(c->types[i]);
        if (*rest < bytes)
            break;
        *rest -= bytes;
    }
    return i;
}

static bool ends_inside(MPI_Datatype type, uint64_t bytes, int depth) {
    struct contents c;
    uint64_t size = size_of(type), rest = size ? bytes % size : 0;
    if (!rest || get_envelope(type, &c))
        return false;
    if (has_name(&c))
        return true;
    if (depth == 0 || open_contents(type, &c))
        return false;
    MPI_Count i = c.combiner == MPI_COMBINER_STRUCT ? part_at(&c, &rest) : 0;
    bool inside = i < c.type_count && ends_inside(c.types[i], rest, depth - 1);
    close_contents(&c);
    return inside;
}

/* All constructors but that of structs repeat one type, so the remainder of its size decides. MPI_Get_elements is of no use: MPICH 4.0 counts
 * partial structs wrongly. */
bool layout_ends_inside(MPI_Datatype type, uint64_t bytes) {
    return ends_inside(type, bytes, DEPTH_MAX);
}

/* Whether MPI's description covers the same bytes. Open MPI 4.1, for example, treats a stride of -1 byte as no
 * stride: the data that it then fetches would be cached under the wrong description. */
static bool agrees(MPI_Datatype type, const struct layout *l) {
    MPI_Count size;
    MPI_Aint lb, extent;
    int64_t low, high;
    if (host_Type_size_x(type, &size) || host_Type_get_true_extent(type, &lb, &extent))
        return false;
    shape_hull(&l->shape, &low, &high);
    low += l->offset;
    high += l->offset;
    bool same = size == (MPI_Count)l->shape.bytes && (!size || (lb <= low && high <= lb + extent));
    if (!same)
        log_debug(
            LOG_WINDOWS,
            "datatype: its parts have %llu bytes in an extent of %lld, MPI says %lld in %lld; accesses with "
            "it are left to MPI",
            (unsigned long long)l->shape.bytes, (long long)(high - low), (long long)size, (long long)extent);
    return same;
}

static int describe_type(MPI_Datatype type, int depth, struct layout_element *out) {
    struct contents c;
    MPI_Aint lb, extent;
    *out = (struct layout_element){.error = -ENOTSUP};
    if (depth > DEPTH_MAX || get_envelope(type, &c) || host_Type_get_extent(type, &lb, &extent))
        return out->error;
    out->extent = extent;
    out->predefined = has_name(&c);
    if (out->predefined)
        return out->error = describe_named(type, &out->layout);
    out->error = open_contents(type, &c);
    if (out->error)
        return out->error;
    out->error = describe_derived(&c, depth, &out->layout);
    if (!out->error && !agrees(type, &out->layout))
        out->error = -ENOTSUP;
    if (out->error)
        layout_free(&out->layout);
    close_contents(&c);
    return out->error;
}

int layout_describe(MPI_Datatype type, struct layout_element *out) {
    return describe_type(type, 0, out);
}
