/* element_types.h: MPI's predefined datatypes and operators, for tests that try all of them. */
#ifndef HEARTH_TEST_ELEMENT_TYPES_H
#define HEARTH_TEST_ELEMENT_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { TYPES_MOST = 80 };

enum value_kind { VALUE_INTEGER, VALUE_REAL, VALUE_TRUTH, VALUE_PAIR };

struct element_type {
    const char *name;
    MPI_Datatype type;
    enum value_kind kind;
    size_t part; /* bytes of a number in it: half of a complex one; of a pair, those of its value */
};

/* Those that this MPI has. */
int element_types(struct element_type *list);

/* MPI_SUM to MPI_MINLOC, then MPI_REPLACE and MPI_NO_OP. */
enum { OPS = 14 };
MPI_Op element_op(int index);
const char *element_op_name(int index);

/* `count` elements whose values depend on `seed`: small numbers, so that no operator overflows. */
void fill_elements(const struct element_type *t, void *to, int count, unsigned seed);

#endif
