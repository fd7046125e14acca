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
    /* Bytes of each number in a VALUE_REAL of two numbers, or of the real value in a VALUE_PAIR. 1: the value of the
     * VALUE_PAIR is an integer. 0: the element is one number. */
    size_t part;
};

/* Lists the types that this MPI supports; returns their number. */
int element_types(struct element_type *list);

/* In the order MPI_SUM ... MPI_MINLOC, MPI_REPLACE, MPI_NO_OP. */
enum { OPS = 14 };
MPI_Op element_op(int index);
const char *element_op_name(int index);

/* Writes `count` elements that depend on `seed`: small numbers, so that no operator overflows. */
void fill_elements(const struct element_type *t, void *to, int count, unsigned seed);

#endif
