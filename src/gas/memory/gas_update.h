/* gas_update.h: updates of words in segments: the read-modify-writes of GASNet-EX.
 *
 * They are executed by a rank that has the word mapped, or by the thread that serves the node of the word (batch.c, pages/):
 * without any action of the program there. */
#ifndef HEARTH_GAS_UPDATE_H
#define HEARTH_GAS_UPDATE_H

#include "gas/process/process.h"

/* The `what` of an update: a type and one operator of it, both as in gasnetex.h. */
struct pages_update gas_update_of(uint32_t type, uint32_t op, uint64_t operand1, uint64_t operand2);

/* Whether the word is one that gas_update_apply may access: aligned, and of the size of its type. */
bool gas_update_is_sound(uint64_t address, const struct pages_update *u);

/* Executes it by the processor's atomic instructions, sequentially consistent. Returns the previous value of the word, at its
 * lowest address. An operator that does not exist changes nothing. */
uint64_t gas_update_apply(void *word, const struct pages_update *u);

#endif
