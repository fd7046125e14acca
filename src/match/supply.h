/* supply.h: where an engine's memory comes from. The one place that knows of the heater. */
#ifndef HEARTH_MATCH_SUPPLY_H
#define HEARTH_MATCH_SUPPLY_H

#include "base/base.h"

struct supply {
    bool heated;
    bool told; /* that there was none */
    uint64_t bytes;
};

/* Zeroed memory, whole pages of it. The heater, if there is one, reads the first `warm` bytes from now on:
 * it must not go before supply_return. 0 or -ENOMEM. */
int supply_take(struct supply *supply, struct memory *memory, size_t bytes, size_t warm);
/* The same, where hearth top can see it. */
int supply_take_shown(struct supply *supply, struct memory *memory, size_t bytes, size_t warm);
void supply_return(struct supply *supply, struct memory *memory);

#endif
