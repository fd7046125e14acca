/* element.h: the elements that MPI's predefined datatypes consist of, and MPI's predefined operations on them.
 *
 * Elements are in packed form and need no alignment. A pair is a value and its index without padding between or after
 * them; in memory the two may be apart, which is a matter of shapes. */
#ifndef HEARTH_DATA_ELEMENT_H
#define HEARTH_DATA_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The nodes of a job send each other these values. */
enum data_type {
    DATA_INT8,
    DATA_INT16,
    DATA_INT32,
    DATA_INT64,
    DATA_UINT8,
    DATA_UINT16,
    DATA_UINT32,
    DATA_UINT64,
    DATA_FLOAT,
    DATA_DOUBLE,
    DATA_LONG_DOUBLE,
    DATA_FLOAT_COMPLEX, /* real part, imaginary part */
    DATA_DOUBLE_COMPLEX,
    DATA_LONG_DOUBLE_COMPLEX,
    DATA_BOOL, /* of C and C++: one byte */
    DATA_LOGICAL1,
    DATA_LOGICAL2,
    DATA_LOGICAL4,
    DATA_LOGICAL8,
    DATA_BYTE,
    DATA_FLOAT_INT, /* pairs, for MAXLOC and MINLOC: value, index */
    DATA_DOUBLE_INT,
    DATA_LONG_INT,
    DATA_SHORT_INT,
    DATA_INT_INT,
    DATA_LONG_DOUBLE_INT,
    DATA_FLOAT_FLOAT, /* Fortran's pairs: the index has the type of the value */
    DATA_DOUBLE_DOUBLE,
    DATA_INT64_INT64,
    DATA_TYPES
};

enum data_op {
    DATA_SUM,
    DATA_PROD,
    DATA_MAX,
    DATA_MIN,
    DATA_LAND,
    DATA_LOR,
    DATA_LXOR,
    DATA_BAND,
    DATA_BOR,
    DATA_BXOR,
    DATA_MAXLOC,
    DATA_MINLOC,
    DATA_REPLACE,
    DATA_NO_OP,
    DATA_OPS
};

enum { DATA_ELEMENT_MOST = 2 * sizeof(long double) }; /* bytes of the largest element */

/* Bytes of an element in packed form: of a short and an int 6, of a double and an int 12. 0 if there is no such type. */
size_t data_element_bytes(unsigned type);

/* Whether MPI defines the operation for this kind of element (MPI 4.0, 6.9.2). C and Fortran integers are not distinguished,
 * so that logical operations on Fortran's integers are allowed too. MPI_CHAR and MPI_WCHAR are not for arithmetic: callers
 * map them to an integer of their size, and allow REPLACE and NO_OP only. False if there is no such type or operation. */
bool data_element_allows(unsigned op, unsigned type);

/* to[i] = from[i] OP to[i], for an operation that the type allows. `to` and `from` do not overlap. No lock.
 *
 * Integers wrap. Nothing is fused: sums and products have the same bits on all processors. A complex product is the
 * textbook's, (ac - bd) + (ad + bc)i. MAX and MIN replace the target if the operand compares greater or less, so a NaN in the
 * target stays and a NaN operand is ignored. MAXLOC and MINLOC replace it if the operand's value compares greater or less, or
 * is equal and its index is lower. Logical values are true if they are not 0; logical operations store 1 or 0, also
 * to LOGICAL, whose true is then 1 as in gfortran. */
void data_element_combine(enum data_op op, enum data_type type, void *to, const void *from, size_t count);

/* The same for rows of `bytes` bytes each, those of the target `stride` apart, the operands one after the other. NULL for
 * NO_OP. */
typedef void data_kernel(char *to, int64_t stride, const char *from, uint64_t rows, size_t bytes);
data_kernel *data_element_kernel(enum data_op op, enum data_type type);

#endif
