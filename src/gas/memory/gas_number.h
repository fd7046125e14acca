/* gas_number.h: the operators on the built-in types, for atomic operations and reductions. */
#ifndef HEARTH_GAS_NUMBER_H
#define HEARTH_GAS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gas/process/process.h"
#include "hearth/gasnet/gasnetex.h"

#define EX_FETCHING_OPS GEX_OP_TO_FETCHING(GEX_OP_CAS * 2 - 1)

/* The bytes of a built-in type; 0: it is none. */
size_t gas_number_type_bytes(gex_DT_t dt);
/* Whether a non-fetching operator is defined for the type. */
bool gas_number_type_has(gex_DT_t dt, gex_OP_t op);
/* What an operator that does not fetch makes of `old`. Words hold a value of the type at their lowest address. */
uint64_t gas_number_apply(gex_DT_t dt, gex_OP_t op, uint64_t old, uint64_t operand1, uint64_t operand2);
/* right[i] = left[i] (op) right[i] */
void gas_number_combine(gex_DT_t dt, gex_OP_t op, const void *left, void *right, size_t count);

#endif
