/* gas_number.c: the operators on the built-in types, for atomic operations and reductions. Integers wrap around. */
#include "gas/memory/gas_number.h"

#include <string.h>

#define INTEGER_OPS (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR)
#define INTEGERS    (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64)
#define ALL_OPS     (GEX_OP_CAS * 2 - 1) /* that do not fetch */

size_t gas_number_type_bytes(gex_DT_t dt) {
    switch (dt) {
    case GEX_DT_I32:
    case GEX_DT_U32:
    case GEX_DT_FLT:
        return 4;
    case GEX_DT_I64:
    case GEX_DT_U64:
    case GEX_DT_DBL:
        return 8;
    default:
        return 0;
    }
}

bool gas_number_type_has(gex_DT_t dt, gex_OP_t op) {
    return op != 0 && (op & ~ALL_OPS) == 0 && (dt & INTEGERS || !(op & INTEGER_OPS));
}

/* The operators of all types. `compute` is the type in which the arithmetic is done: unsigned for integers. */
#define NUMBER_CASES(type, compute)                                                                          \
    case GEX_OP_ADD:                                                                                         \
        return (type)((compute)old + (compute)a);                                                            \
    case GEX_OP_SUB:                                                                                         \
        return (type)((compute)old - (compute)a);                                                            \
    case GEX_OP_MULT:                                                                                        \
        return (type)((compute)old * (compute)a);                                                            \
    case GEX_OP_INC:                                                                                         \
        return (type)((compute)old + 1);                                                                     \
    case GEX_OP_DEC:                                                                                         \
        return (type)((compute)old - 1);                                                                     \
    case GEX_OP_MIN:                                                                                         \
        return old < a ? old : a;                                                                            \
    case GEX_OP_MAX:                                                                                         \
        return old > a ? old : a;                                                                            \
    case GEX_OP_SET:                                                                                         \
        return a;                                                                                            \
    case GEX_OP_CAS:                                                                                         \
        return old == a ? b : old;

#define INTEGER_CASES                                                                                        \
    case GEX_OP_AND:                                                                                         \
        return old & a;                                                                                      \
    case GEX_OP_OR:                                                                                          \
        return old | a;                                                                                      \
    case GEX_OP_XOR:                                                                                         \
        return old ^ a;

#define NUMBER_TYPE(name, type, compute, more)                                                               \
    static type apply_##name(gex_OP_t op, type old, type a, type b) {                                        \
        switch (op) {                                                                                        \
            NUMBER_CASES(type, compute)                                                                      \
            more default : return old;                                                                       \
        }                                                                                                    \
    }                                                                                                        \
    static uint64_t apply_word_##name(gex_OP_t op, uint64_t old, uint64_t a, uint64_t b) {                   \
        type values[3];                                                                                      \
        uint64_t word = 0;                                                                                   \
        memcpy(&values[0], &old, sizeof(type));                                                              \
        memcpy(&values[1], &a, sizeof(type));                                                                \
        memcpy(&values[2], &b, sizeof(type));                                                                \
        values[0] = apply_##name(op, values[0], values[1], values[2]);                                       \
        memcpy(&word, &values[0], sizeof(type));                                                             \
        return word;                                                                                         \
    }                                                                                                        \
    static void combine_##name(gex_OP_t op, const type *left, type *right, size_t count) {                   \
        for (size_t i = 0; i < count; i++)                                                                   \
            right[i] = apply_##name(op, left[i], right[i], right[i]);                                        \
    }

NUMBER_TYPE(i32, int32_t, uint32_t, INTEGER_CASES)
NUMBER_TYPE(u32, uint32_t, uint32_t, INTEGER_CASES)
NUMBER_TYPE(i64, int64_t, uint64_t, INTEGER_CASES)
NUMBER_TYPE(u64, uint64_t, uint64_t, INTEGER_CASES)
NUMBER_TYPE(flt, float, float, )
NUMBER_TYPE(dbl, double, double, )

/* Words hold values at their lowest address, on big-endian machines too: they are never used as numbers. */
uint64_t gas_number_apply(gex_DT_t dt, gex_OP_t op, uint64_t old, uint64_t operand1, uint64_t operand2) {
    switch (dt) {
    case GEX_DT_I32:
        return apply_word_i32(op, old, operand1, operand2);
    case GEX_DT_U32:
        return apply_word_u32(op, old, operand1, operand2);
    case GEX_DT_I64:
        return apply_word_i64(op, old, operand1, operand2);
    case GEX_DT_U64:
        return apply_word_u64(op, old, operand1, operand2);
    case GEX_DT_FLT:
        return apply_word_flt(op, old, operand1, operand2);
    default:
        return apply_word_dbl(op, old, operand1, operand2);
    }
}

void gas_number_combine(gex_DT_t dt, gex_OP_t op, const void *left, void *right, size_t count) {
    switch (dt) {
    case GEX_DT_I32:
        combine_i32(op, left, right, count);
        return;
    case GEX_DT_U32:
        combine_u32(op, left, right, count);
        return;
    case GEX_DT_I64:
        combine_i64(op, left, right, count);
        return;
    case GEX_DT_U64:
        combine_u64(op, left, right, count);
        return;
    case GEX_DT_FLT:
        combine_flt(op, left, right, count);
        return;
    default:
        combine_dbl(op, left, right, count);
    }
}
