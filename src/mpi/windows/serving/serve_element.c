/* serve_element.c: maps MPI's datatypes and operators to the element types and operators of src/data. An accumulate uses
 * one predefined datatype throughout, or a derived one that consists of it alone. */
#include <stdlib.h>

#include "data/data.h"
#include "mpi/windows/serving/serving.h"

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

/* How the element type of a predefined datatype is determined: it is fixed, or it follows from the datatype's size, which
 * depends on the compiler. */
enum kind {
    KIND_NONE,
    KIND_FIXED,
    KIND_SIGNED,
    KIND_UNSIGNED,
    KIND_REAL,
    KIND_COMPLEX,
    KIND_LOGICAL,
    KIND_CHARACTER, /* of Fortran: no operator is defined for it, and the MPIs differ */
    KIND_PAIR
};

struct known {
    MPI_Datatype type;
    enum kind kind;
    int element; /* in the list: of KIND_FIXED and KIND_PAIR; in the table: of all kinds, or -1 */
};

/* Handles are not constants in every MPI, so the list is filled at run time. */
static int known_types(struct known *list) {
    const struct known all[] = {
#define TYPE(type, kind, element) {type, kind, element},
#include "mpi/windows/serving/element_types.def"
    };
    int n = 0;
    for (; n < (int)(sizeof all / sizeof *all); n++)
        list[n] = all[n];
    return n;
}

/* By handle: an open hash table, at most half full. */
enum { TABLE_BITS = 8, TABLE = 1 << TABLE_BITS };
static struct known known[TABLE];

static struct known *types_slot(MPI_Datatype type) {
    uint64_t at = layout_key(type) * 0x9e3779b97f4a7c15u >> (64 - TABLE_BITS);
    while (known[at].kind != KIND_NONE && known[at].type != type)
        at = (at + 1) % TABLE;
    return &known[at];
}

/* The element type, or -1. The size of fixed types and pairs is checked: Fortran's types depend on the compiler's
 * options. */
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
    case KIND_CHARACTER:
        return host_is_open_mpi() ? DATA_UINT8 : DATA_INT8;
    default:
        return (size_t)bytes == data_element_bytes((unsigned)k->element) ? k->element : -1;
    }
}

void serve_element_open(void) {
    struct known list[TABLE / 2];
    for (int i = 0, n = known_types(list); i < n; i++) {
        list[i].element = element_of(&list[i]);
        *types_slot(list[i].type) = list[i];
    }
}

int serve_element_predefined(MPI_Datatype type) {
    const struct known *k = types_slot(type);
    return k->kind == KIND_NONE ? -1 : k->element;
}

/* ---- derived types ---- */

/* How a type was made. Types made with large counts have their numbers in `counts`. */
struct recipe {
    int combiner;
    MPI_Count ints, addresses, counts, types;
};

#if HEARTH_MPI_COUNTS
static int recipe_get(MPI_Datatype type, struct recipe *r) {
    return host_Type_get_envelope_c(type, &r->ints, &r->addresses, &r->counts, &r->types, &r->combiner);
}

static int recipe_contents(MPI_Datatype type, const struct recipe *r, int *ints, MPI_Aint *addresses,
                           MPI_Count *counts, MPI_Datatype *types) {
    return host_Type_get_contents_c(type, r->ints, r->addresses, r->counts, r->types, ints, addresses, counts,
                                    types);
}
#else
static int recipe_get(MPI_Datatype type, struct recipe *r) {
    int ints, addresses, types, rc = host_Type_get_envelope(type, &ints, &addresses, &types, &r->combiner);
    r->ints = ints;
    r->addresses = addresses;
    r->counts = 0;
    r->types = types;
    return rc;
}

static int recipe_contents(MPI_Datatype type, const struct recipe *r, int *ints, MPI_Aint *addresses,
                           MPI_Count *counts, MPI_Datatype *types) {
    (void)counts;
    return host_Type_get_contents(type, (int)r->ints, (int)r->addresses, (int)r->types, ints, addresses,
                                  types);
}
#endif

/* Fortran types by range and precision (MPI_Type_create_f90_*) are predefined, but have no name. -1: not one of them. */
static int unnamed_element(MPI_Datatype type, int combiner) {
    int bytes = 0;
    if (host_Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return -1;
    switch (combiner) {
    case MPI_COMBINER_F90_INTEGER:
        return signed_of((size_t)bytes);
    case MPI_COMBINER_F90_REAL:
        return real_of(bytes);
    case MPI_COMBINER_F90_COMPLEX:
        return complex_of(bytes);
    default:
        return -1;
    }
}

static bool is_derived(MPI_Datatype type) {
    struct recipe r;
    return recipe_get(type, &r) == MPI_SUCCESS && r.types > 0;
}

/* The element type of all parts that are not empty; -1: they have several. For a struct, `numbers` or `counts` begins with the
 * number of parts, followed by the number of elements of each. */
static int parts_element(const struct recipe *r, const int *numbers, const MPI_Count *counts,
                         const MPI_Datatype *parts) {
    int found = -1;
    for (MPI_Count i = 0; i < r->types; i++) {
        int bytes = 0;
        MPI_Count elements = r->combiner != MPI_COMBINER_STRUCT ? 1
                             : r->counts                        ? counts[1 + i]
                                                                : numbers[1 + i];
        if (elements <= 0 || host_Type_size(parts[i], &bytes) != MPI_SUCCESS || bytes == 0)
            continue;
        int element = serve_element_type(parts[i]);
        if (element < 0 || (found >= 0 && element != found))
            return -1;
        found = element;
    }
    return found;
}

static int derived_element(MPI_Datatype type, const struct recipe *r) {
    int found = -1;
    int *numbers = malloc(((size_t)r->ints + 1) * sizeof *numbers);
    MPI_Aint *places = malloc(((size_t)r->addresses + 1) * sizeof *places);
    MPI_Count *counts = malloc(((size_t)r->counts + 1) * sizeof *counts);
    MPI_Datatype *parts = malloc((size_t)r->types * sizeof *parts);
    if (numbers && places && counts && parts &&
        recipe_contents(type, r, numbers, places, counts, parts) == MPI_SUCCESS) {
        found = parts_element(r, numbers, counts, parts);
        for (MPI_Count i = 0; i < r->types; i++) /* the contents are new references */
            if (is_derived(parts[i]))
                serve_host.Type_free(&parts[i]);
    }
    free(numbers);
    free(places);
    free(counts);
    free(parts);
    return found;
}

int serve_element_type(MPI_Datatype type) {
    struct recipe r;
    int found = serve_element_predefined(type);
    if (found >= 0 || !layout_is_handle(type) || recipe_get(type, &r) != MPI_SUCCESS ||
        r.combiner == MPI_COMBINER_NAMED)
        return found;
    return r.types > 0 ? derived_element(type, &r) : unnamed_element(type, r.combiner);
}

/* Handles are not constants in every MPI, so this is no switch. The most frequent come first. */
int serve_element_op(MPI_Op op) {
    if (op == MPI_SUM)
        return DATA_SUM;
    if (op == MPI_REPLACE)
        return DATA_REPLACE;
    if (op == MPI_NO_OP)
        return DATA_NO_OP;
    if (op == MPI_MAX)
        return DATA_MAX;
    if (op == MPI_MIN)
        return DATA_MIN;
    if (op == MPI_PROD)
        return DATA_PROD;
    if (op == MPI_LAND)
        return DATA_LAND;
    if (op == MPI_LOR)
        return DATA_LOR;
    if (op == MPI_LXOR)
        return DATA_LXOR;
    if (op == MPI_BAND)
        return DATA_BAND;
    if (op == MPI_BOR)
        return DATA_BOR;
    if (op == MPI_BXOR)
        return DATA_BXOR;
    if (op == MPI_MAXLOC)
        return DATA_MAXLOC;
    if (op == MPI_MINLOC)
        return DATA_MINLOC;
    return -1;
}

/* MPI defines no arithmetic on bytes and truth values. The MPIs have some: Open MPI takes bytes as unsigned numbers, MPICH takes
 * both as signed ones. */
static int integer_of(unsigned type) {
    size_t bytes = data_element_bytes(type);
    if (host_is_open_mpi())
        return type == DATA_BYTE ? unsigned_of(bytes) : -1;
    return type == DATA_BYTE || (type >= DATA_BOOL && type <= DATA_LOGICAL8) ? signed_of(bytes) : -1;
}

int serve_element_for(int op, int type) {
    if (op < 0 || type < 0 || data_element_allows((unsigned)op, (unsigned)type))
        return op < 0 ? -1 : type;
    int integer = integer_of((unsigned)type);
    return integer >= 0 && data_element_allows((unsigned)op, (unsigned)integer) ? integer : -1;
}
