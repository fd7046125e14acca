/* supply.h: the source of an engine's memory. No other file in match/ calls the heater. */
#ifndef HEARTH_MATCH_SUPPLY_H
#define HEARTH_MATCH_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct supply {
    bool heated;
    bool told; /* lack of memory was logged */
    uint64_t bytes;
};

/* Allocates zeroed memory in whole pages. The heater, if there is one, reads the first `warm` bytes from now on, so
 * the memory must stay mapped until supply_return. Returns 0 or -ENOMEM. */
int supply_take(struct supply *supply, struct memory *memory, size_t bytes, size_t warm);
/* The same, in memory that hearth top can read. */
int supply_take_shown(struct supply *supply, struct memory *memory, size_t bytes, size_t warm);
void supply_return(struct supply *supply, struct memory *memory);

#endif
