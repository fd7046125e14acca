/* serve_element.c: MPI's predefined datatypes and operators as those of src/data. An accumulate uses one predefined
 * datatype throughout, or a derived one that consists of it alone. */
#include <stdlib.h>

#include "data/data.h"
#include "mpi/serve/served.h"

static int signed_of(size_t bytes) {
    return bytes == 1 ? DATA_INT8 : bytes == 2 ? DATA_INT16 : bytes == 4 ? DATA_INT32 : DATA_INT64;
}

static int unsigned_of(size_t bytes) {
    return signed_of(bytes) - DATA_INT8 + DATA_UINT8;
}

static int logical_of(int bytes) {
    return bytes == 1   ? DATA_LOGICAL1
           : bytes == 2 ? DATA_LOGICAL2
           : bytes == 4 ? DATA_LOGICAL4
                        : DATA_LOGICAL8;
}

static int real_of(int bytes) {
    return bytes == 4 ? DATA_FLOAT : bytes == 8 ? DATA_DOUBLE : DATA_LONG_DOUBLE;
}

static int complex_of(int bytes) {
    return real_of(bytes / 2) - DATA_FLOAT + DATA_FLOAT_COMPLEX;
}

/* How a predefined type is found: of a fixed kind, or by its size, which depends on the compiler. */
enum kind {
    KIND_NONE,
    KIND_FIXED,
    KIND_SIGNED,
    KIND_UNSIGNED,
    KIND_REAL,
    KIND_COMPLEX,
    KIND_LOGICAL,
    KIND_PAIR
};

struct known {
    MPI_Datatype type;
    enum kind kind;
    int element; /* KIND_FIXED */
};

/* Not constants in every MPI, so the table is filled at run time. */
static int known_types(struct known *list) {
    const struct known all[] = {
        {MPI_SIGNED_CHAR, KIND_SIGNED, 0},
        {MPI_CHAR, KIND_SIGNED, 0},
        {MPI_SHORT, KIND_SIGNED, 0},
        {MPI_INT, KIND_SIGNED, 0},
        {MPI_LONG, KIND_SIGNED, 0},
        {MPI_LONG_LONG, KIND_SIGNED, 0},
        {MPI_INT8_T, KIND_SIGNED, 0},
        {MPI_INT16_T, KIND_SIGNED, 0},
        {MPI_INT32_T, KIND_SIGNED, 0},
        {MPI_INT64_T, KIND_SIGNED, 0},
        {MPI_AINT, KIND_SIGNED, 0},
        {MPI_OFFSET, KIND_SIGNED, 0},
        {MPI_COUNT, KIND_SIGNED, 0},
        {MPI_WCHAR, KIND_SIGNED, 0},
        {MPI_UNSIGNED_CHAR, KIND_UNSIGNED, 0},
        {MPI_UNSIGNED_SHORT, KIND_UNSIGNED, 0},
        {MPI_UNSIGNED, KIND_UNSIGNED, 0},
        {MPI_UNSIGNED_LONG, KIND_UNSIGNED, 0},
        {MPI_UNSIGNED_LONG_LONG, KIND_UNSIGNED, 0},
        {MPI_UINT8_T, KIND_UNSIGNED, 0},
        {MPI_UINT16_T, KIND_UNSIGNED, 0},
        {MPI_UINT32_T, KIND_UNSIGNED, 0},
        {MPI_UINT64_T, KIND_UNSIGNED, 0},
        {MPI_FLOAT, KIND_REAL, 0},
        {MPI_DOUBLE, KIND_REAL, 0},
        {MPI_LONG_DOUBLE, KIND_FIXED, DATA_LONG_DOUBLE},
        {MPI_C_FLOAT_COMPLEX, KIND_COMPLEX, 0},
        {MPI_C_DOUBLE_COMPLEX, KIND_COMPLEX, 0},
        {MPI_C_LONG_DOUBLE_COMPLEX, KIND_FIXED, DATA_LONG_DOUBLE_COMPLEX},
        {MPI_CXX_FLOAT_COMPLEX, KIND_COMPLEX, 0},
        {MPI_CXX_DOUBLE_COMPLEX, KIND_COMPLEX, 0},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, KIND_FIXED, DATA_LONG_DOUBLE_COMPLEX},
        {MPI_C_BOOL, KIND_FIXED, DATA_BOOL},
        {MPI_CXX_BOOL, KIND_FIXED, DATA_BOOL},
        {MPI_BYTE, KIND_FIXED, DATA_BYTE},
        {MPI_LOGICAL, KIND_LOGICAL, 0},
        {MPI_INTEGER, KIND_SIGNED, 0},
        {MPI_REAL, KIND_REAL, 0},
        {MPI_DOUBLE_PRECISION, KIND_REAL, 0},
        {MPI_COMPLEX, KIND_COMPLEX, 0},
        {MPI_DOUBLE_COMPLEX, KIND_COMPLEX, 0},
        {MPI_CHARACTER, KIND_SIGNED, 0},
        {MPI_INTEGER1, KIND_SIGNED, 0},
        {MPI_INTEGER2, KIND_SIGNED, 0},
        {MPI_INTEGER4, KIND_SIGNED, 0},
        {MPI_INTEGER8, KIND_SIGNED, 0},
        {MPI_REAL4, KIND_REAL, 0},
        {MPI_REAL8, KIND_REAL, 0},
        {MPI_COMPLEX8, KIND_COMPLEX, 0},
        {MPI_COMPLEX16, KIND_COMPLEX, 0},
        {MPI_FLOAT_INT, KIND_FIXED, DATA_FLOAT_INT},
        {MPI_DOUBLE_INT, KIND_FIXED, DATA_DOUBLE_INT},
        {MPI_LONG_INT, KIND_FIXED, DATA_LONG_INT},
        {MPI_SHORT_INT, KIND_FIXED, DATA_SHORT_INT},
        {MPI_2INT, KIND_FIXED, DATA_INT_INT},
        {MPI_LONG_DOUBLE_INT, KIND_FIXED, DATA_LONG_DOUBLE_INT},
        {MPI_2INTEGER, KIND_PAIR, DATA_INT_INT},
        {MPI_2REAL, KIND_PAIR, DATA_FLOAT_FLOAT},
        {MPI_2DOUBLE_PRECISION, KIND_PAIR, DATA_DOUBLE_DOUBLE},
    };
    int n = 0;
    for (; n < (int)(sizeof all / sizeof *all); n++)
        list[n] = all[n];
    return n;
}

/* By handle: an open hash table, at most half full. */
enum { TABLE_BITS = 8, TABLE = 1 << TABLE_BITS };
static struct known types[TABLE];

static struct known *types_slot(MPI_Datatype type) {
    uint64_t at = layout_key(type) * 0x9e3779b97f4a7c15u >> (64 - TABLE_BITS);
    while (types[at].kind != KIND_NONE && types[at].type != type)
        at = (at + 1) % TABLE;
    return &types[at];
}

/* Checks that a pair is as large as its kind: Fortran's types depend on the compiler's options. */
static int element_of(const struct known *k) {
    int bytes = 0;
    if (k->type == MPI_DATATYPE_NULL || host_Type_size(k->type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return -1;
    switch (k->kind) {
    case KIND_SIGNED:
        return signed_of((size_t)bytes);
    case KIND_UNSIGNED:
        return unsigned_of((size_t)bytes);
    case KIND_REAL:
        return real_of(bytes);
    case KIND_COMPLEX:
        return complex_of(bytes);
    case KIND_LOGICAL:
        return logical_of(bytes);
    default:
        return (size_t)bytes == data_element_bytes((unsigned)k->element) ? k->element : -1;
    }
}

static void fill_types(void) {
    struct known list[TABLE / 2];
    for (int i = 0, n = known_types(list); i < n; i++) {
        list[i].element = element_of(&list[i]);
        *types_slot(list[i].type) = list[i];
    }
}

static int predefined_element(MPI_Datatype type) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_types);
    const struct known *k = types_slot(type);
    return k->kind == KIND_NONE ? -1 : k->element;
}

/* The first type that a derived one consists of; the caller frees it if it is derived, too. */
static MPI_Datatype inner_type(MPI_Datatype type, int integers, int addresses, int count) {
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    int *numbers = malloc(((size_t)integers + 1) * sizeof *numbers);
    MPI_Aint *places = malloc(((size_t)addresses + 1) * sizeof *places);
    MPI_Datatype *parts = malloc((size_t)count * sizeof *parts);
    if (numbers && places && parts &&
        host_Type_get_contents(type, integers, addresses, count, numbers, places, parts) == MPI_SUCCESS) {
        inner = parts[0];
        for (int i = 1; i < count; i++) { /* contents are references: those of derived types are freed */
            int n, a, d, combiner;
            if (host_Type_get_envelope(parts[i], &n, &a, &d, &combiner) == MPI_SUCCESS &&
                combiner != MPI_COMBINER_NAMED)
                serve_host.Type_free(&parts[i]);
        }
    }
    free(numbers);
    free(places);
    free(parts);
    return inner;
}

int serve_element_type(MPI_Datatype type) {
    int integers, addresses, count, combiner;
    int found = predefined_element(type);
    if (found >= 0 || host_Type_get_envelope(type, &integers, &addresses, &count, &combiner) != MPI_SUCCESS ||
        combiner == MPI_COMBINER_NAMED || count < 1)
        return found;
    MPI_Datatype inner = inner_type(type, integers, addresses, count);
    if (inner == MPI_DATATYPE_NULL)
        return -1;
    found = serve_element_type(inner);
    if (host_Type_get_envelope(inner, &integers, &addresses, &count, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED)
        serve_host.Type_free(&inner);
    return found;
}

int serve_element_op(MPI_Op op) {
    const struct {
        MPI_Op op;
        int is;
    } all[] = {
        {MPI_SUM, DATA_SUM},       {MPI_REPLACE, DATA_REPLACE}, {MPI_NO_OP, DATA_NO_OP},
        {MPI_MAX, DATA_MAX},       {MPI_MIN, DATA_MIN},         {MPI_PROD, DATA_PROD},
        {MPI_LAND, DATA_LAND},     {MPI_LOR, DATA_LOR},         {MPI_LXOR, DATA_LXOR},
        {MPI_BAND, DATA_BAND},     {MPI_BOR, DATA_BOR},         {MPI_BXOR, DATA_BXOR},
        {MPI_MAXLOC, DATA_MAXLOC}, {MPI_MINLOC, DATA_MINLOC},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].op == op)
            return all[i].is;
    return -1;
}
