/* rows.h: copies rows of equal size from one place to another. Stays inside armci/. */
#ifndef HEARTH_ARMCI_ROWS_H
#define HEARTH_ARMCI_ROWS_H

#include "armci/patch.h"

/* At least one row of at least one byte. `past`: with stores that go past the caches, if these rows are worth it;
 * call rows_fence after the last ones. */
void rows_copy(const struct patch_rows *r, bool past);

/* Whether a copy of so many bytes is better made past the caches. */
bool rows_go_past(uint64_t bytes);

/* Stores that went past the caches come before what is stored after this. */
void rows_fence(void);

#endif
