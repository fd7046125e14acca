/* gas_update.c: read-modify-writes of words, as compare-and-swap loops of the processor.
 *
 *      what     number of the type << 8 | number of the operator, each the position of its bit in gasnetex.h
 *
 * **Atomicity.** All updates of a word use the processor's atomic instructions on the same memory: in memory, the one copy
 * that all processes of a node share; in pages, the frame of the only copy that may be written, which the rank that owns
 * the segment maps. If that rank's own update finds the page not mapped, or not writable, the instruction faults without
 * effect and is repeated when the page is there. */
#include "gas/memory/gas_update.h"

#include <string.h>

#include "gas/memory/gas_number.h"

static unsigned update_bit_of(uint32_t flag) {
    return (unsigned)__builtin_ctz(flag);
}

static gex_DT_t update_type(const struct pages_update *u) {
    return (gex_DT_t)1 << (u->what >> 8 & 31);
}

static gex_OP_t update_op(const struct pages_update *u) {
    return (gex_OP_t)1 << (u->what & 31);
}

struct pages_update gas_update_of(uint32_t type, uint32_t op, uint64_t operand1, uint64_t operand2) {
    return (struct pages_update){.what = update_bit_of(type) << 8 | update_bit_of(op),
                                 .bytes = (uint32_t)gas_number_type_bytes(type),
                                 .operands = {operand1, operand2}};
}

bool gas_update_is_sound(uint64_t address, const struct pages_update *u) {
    return u->bytes > 0 && u->bytes == gas_number_type_bytes(update_type(u)) && address % u->bytes == 0;
}

/* Words hold a value at their lowest address. */
static uint64_t word_of_32(uint32_t bits) {
    uint64_t word = 0;
    memcpy(&word, &bits, sizeof bits);
    return word;
}

static uint32_t bits_of_word(uint64_t word) {
    uint32_t bits;
    memcpy(&bits, &word, sizeof bits);
    return bits;
}

static uint64_t update_32(uint32_t *at, gex_OP_t op, const struct pages_update *u) {
    uint32_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    if (op != GEX_OP_GET)
        while (!__atomic_compare_exchange_n(at, &old,
                                            bits_of_word(gas_number_apply(update_type(u), op, word_of_32(old),
                                                                          u->operands[0], u->operands[1])),
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    return word_of_32(old);
}

static uint64_t update_64(uint64_t *at, gex_OP_t op, const struct pages_update *u) {
    uint64_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    if (op != GEX_OP_GET)
        while (!__atomic_compare_exchange_n(
            at, &old, gas_number_apply(update_type(u), op, old, u->operands[0], u->operands[1]), false,
            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    return old;
}

uint64_t gas_update_apply(void *word, const struct pages_update *u) {
    gex_OP_t op = update_op(u), plain = op & EX_FETCHING_OPS ? GEX_OP_TO_NONFETCHING(op) : op;
    return u->bytes == 4 ? update_32(word, plain, u) : update_64(word, plain, u);
}
