/* rows.h: copies rows of equal size. Internal to armci/. */
#ifndef HEARTH_ARMCI_ROWS_H
#define HEARTH_ARMCI_ROWS_H

#include "armci/data/patch.h"

/* At least one row of at least one byte. `past`: with non-temporal stores, if that pays for these rows; call
 * rows_fence after the last ones. */
void rows_copy(const struct patch_rows *r, bool past);

/* Whether non-temporal stores pay for a copy of this many bytes. */
bool rows_go_past(uint64_t bytes);

/* Orders non-temporal stores before all later stores. */
void rows_fence(void);

#endif
