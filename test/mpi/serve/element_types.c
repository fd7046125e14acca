/* element_types.c: the lists of element_types.h. */
#include "element_types.h"

#include <stdint.h>
#include <string.h>

#define ENTRY(type, kind, part)                                                                              \
    { #type, type, kind, part }

/* The list is filled at run time: handles are not constants in every MPI. part 0: the element is one number. */
static const struct element_type *all_types(int *count) {
    static struct element_type all[TYPES_MOST];
    const struct element_type list[] = {
        ENTRY(MPI_CHAR, VALUE_INTEGER, 0),
        ENTRY(MPI_SIGNED_CHAR, VALUE_INTEGER, 0),
        ENTRY(MPI_UNSIGNED_CHAR, VALUE_INTEGER, 0),
        ENTRY(MPI_BYTE, VALUE_INTEGER, 0),
        ENTRY(MPI_WCHAR, VALUE_INTEGER, 0),
        ENTRY(MPI_SHORT, VALUE_INTEGER, 0),
        ENTRY(MPI_UNSIGNED_SHORT, VALUE_INTEGER, 0),
        ENTRY(MPI_INT, VALUE_INTEGER, 0),
        ENTRY(MPI_UNSIGNED, VALUE_INTEGER, 0),
        ENTRY(MPI_LONG, VALUE_INTEGER, 0),
        ENTRY(MPI_UNSIGNED_LONG, VALUE_INTEGER, 0),
        ENTRY(MPI_LONG_LONG, VALUE_INTEGER, 0),
        ENTRY(MPI_UNSIGNED_LONG_LONG, VALUE_INTEGER, 0),
        ENTRY(MPI_INT8_T, VALUE_INTEGER, 0),
        ENTRY(MPI_INT16_T, VALUE_INTEGER, 0),
        ENTRY(MPI_INT32_T, VALUE_INTEGER, 0),
        ENTRY(MPI_INT64_T, VALUE_INTEGER, 0),
        ENTRY(MPI_UINT8_T, VALUE_INTEGER, 0),
        ENTRY(MPI_UINT16_T, VALUE_INTEGER, 0),
        ENTRY(MPI_UINT32_T, VALUE_INTEGER, 0),
        ENTRY(MPI_UINT64_T, VALUE_INTEGER, 0),
        ENTRY(MPI_AINT, VALUE_INTEGER, 0),
        ENTRY(MPI_OFFSET, VALUE_INTEGER, 0),
        ENTRY(MPI_COUNT, VALUE_INTEGER, 0),
        ENTRY(MPI_FLOAT, VALUE_REAL, 0),
        ENTRY(MPI_DOUBLE, VALUE_REAL, 0),
        ENTRY(MPI_LONG_DOUBLE, VALUE_REAL, 0),
        ENTRY(MPI_C_FLOAT_COMPLEX, VALUE_REAL, sizeof(float)),
        ENTRY(MPI_C_DOUBLE_COMPLEX, VALUE_REAL, sizeof(double)),
        ENTRY(MPI_C_LONG_DOUBLE_COMPLEX, VALUE_REAL, sizeof(long double)),
        ENTRY(MPI_CXX_FLOAT_COMPLEX, VALUE_REAL, sizeof(float)),
        ENTRY(MPI_CXX_DOUBLE_COMPLEX, VALUE_REAL, sizeof(double)),
        ENTRY(MPI_CXX_LONG_DOUBLE_COMPLEX, VALUE_REAL, sizeof(long double)),
        ENTRY(MPI_C_BOOL, VALUE_TRUTH, 0),
        ENTRY(MPI_CXX_BOOL, VALUE_TRUTH, 0),
        ENTRY(MPI_LOGICAL, VALUE_TRUTH, 0),
        ENTRY(MPI_CHARACTER, VALUE_INTEGER, 0),
        ENTRY(MPI_INTEGER, VALUE_INTEGER, 0),
#ifdef MPI_INTEGER1
        ENTRY(MPI_INTEGER1, VALUE_INTEGER, 0),
#endif
#ifdef MPI_INTEGER2
        ENTRY(MPI_INTEGER2, VALUE_INTEGER, 0),
#endif
#ifdef MPI_INTEGER4
        ENTRY(MPI_INTEGER4, VALUE_INTEGER, 0),
#endif
#ifdef MPI_INTEGER8
        ENTRY(MPI_INTEGER8, VALUE_INTEGER, 0),
#endif
        ENTRY(MPI_REAL, VALUE_REAL, 0),
#ifdef MPI_REAL4
        ENTRY(MPI_REAL4, VALUE_REAL, 0),
#endif
#ifdef MPI_REAL8
        ENTRY(MPI_REAL8, VALUE_REAL, 0),
#endif
        ENTRY(MPI_DOUBLE_PRECISION, VALUE_REAL, 0),
        ENTRY(MPI_COMPLEX, VALUE_REAL, 4),
#ifdef MPI_COMPLEX8
        ENTRY(MPI_COMPLEX8, VALUE_REAL, 4),
#endif
#ifdef MPI_COMPLEX16
        ENTRY(MPI_COMPLEX16, VALUE_REAL, 8),
#endif
        ENTRY(MPI_DOUBLE_COMPLEX, VALUE_REAL, 8),
        ENTRY(MPI_FLOAT_INT, VALUE_PAIR, sizeof(float)),
        ENTRY(MPI_DOUBLE_INT, VALUE_PAIR, sizeof(double)),
        ENTRY(MPI_LONG_INT, VALUE_PAIR, 1),
        ENTRY(MPI_SHORT_INT, VALUE_PAIR, 1),
        ENTRY(MPI_2INT, VALUE_PAIR, 1),
        ENTRY(MPI_LONG_DOUBLE_INT, VALUE_PAIR, sizeof(long double)),
        ENTRY(MPI_2INTEGER, VALUE_PAIR, 1),
        ENTRY(MPI_2REAL, VALUE_REAL, 4),
        ENTRY(MPI_2DOUBLE_PRECISION, VALUE_REAL, 8),
    };
    *count = (int)(sizeof list / sizeof *list);
    memcpy(all, list, sizeof list);
    return all;
}

int element_types(struct element_type *list) {
    int all, count = 0, size;
    const struct element_type *types = all_types(&all);
    for (int i = 0; i < all; i++)
        if (types[i].type != MPI_DATATYPE_NULL && MPI_Type_size(types[i].type, &size) == MPI_SUCCESS &&
            size > 0)
            list[count++] = types[i];
    return count;
}

MPI_Op element_op(int index) {
    const MPI_Op ops[OPS] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,   MPI_LOR,     MPI_LXOR,
                             MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    return ops[index];
}

const char *element_op_name(int index) {
    const char *names[OPS] = {"SUM",  "PROD", "MAX",  "MIN",    "LAND",   "LOR",     "LXOR",
                              "BAND", "BOR",  "BXOR", "MAXLOC", "MINLOC", "REPLACE", "NO_OP"};
    return names[index];
}

static void store_real(char *to, size_t bytes, double value) {
    if (bytes == sizeof(float))
        memcpy(to, &(float){(float)value}, bytes);
    else if (bytes == sizeof(double))
        memcpy(to, &value, bytes);
    else
        memcpy(to, &(long double){value}, bytes);
}

static void store_integer(char *to, size_t bytes, int64_t value) {
    memcpy(to, &value, bytes); /* little-endian */
}

static unsigned next_number(unsigned *seed, unsigned below) {
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* C's pair types are structures: the int follows the value, with its alignment. */
static void fill_pair(const struct element_type *t, char *to, size_t extent, unsigned *seed) {
    int size, value = (int)next_number(seed, 3), index = (int)next_number(seed, 4);
    MPI_Type_size(t->type, &size);
    if (t->part > 1)
        store_real(to, t->part, value);
    else
        store_integer(to, (size_t)size - sizeof(int), value);
    size_t first = t->part > 1 ? t->part : (size_t)size - sizeof(int);
    memcpy(to + (first + sizeof(int) - 1) / sizeof(int) * sizeof(int), &index, sizeof index);
    (void)extent;
}

void fill_elements(const struct element_type *t, void *to, int count, unsigned seed) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(t->type, &lower, &extent);
    size_t part = t->part && t->kind != VALUE_PAIR ? t->part : (size_t)extent;
    memset(to, 0, (size_t)count * (size_t)extent);
    for (char *at = to, *end = at + count * extent; at < end; at += extent) {
        if (t->kind == VALUE_PAIR)
            fill_pair(t, at, (size_t)extent, &seed);
        for (size_t i = 0; t->kind != VALUE_PAIR && i < (size_t)extent; i += part)
            if (t->kind == VALUE_REAL)
                store_real(at + i, part, next_number(&seed, 7));
            else
                store_integer(at + i, part, next_number(&seed, t->kind == VALUE_TRUTH ? 2 : 11));
    }
}
