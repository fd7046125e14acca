/* rows.h: copies rows of equal size. Internal to armci/. */
#ifndef HEARTH_ARMCI_ROWS_H
#define HEARTH_ARMCI_ROWS_H

#include "armci/data/patch.h"

/* At least one row of at least one byte. `past`: with non-temporal stores, if that pays for these rows; call
 * armci_rows_fence after the last ones. */
void armci_rows_copy(const struct patch_rows *r, bool streaming);

/* Whether non-temporal stores pay for a copy of this many bytes. */
bool armci_rows_are_streamed(uint64_t bytes);

/* Orders non-temporal stores before all later stores. */
void armci_rows_fence(void);

#endif
