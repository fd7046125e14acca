/* rows.h: copies rows of equal size. Internal to data/. */
#ifndef HEARTH_DATA_ROWS_H
#define HEARTH_DATA_ROWS_H

#include "data/patch.h"

/* At least one row of at least one byte. `past`: with non-temporal stores, if that pays for these rows; call
 * data_rows_fence after the last ones. */
void data_rows_copy_run(const struct patch_rows *r, bool streaming);

/* Whether non-temporal stores pay for a copy of this many bytes. */
bool data_rows_are_streamed(uint64_t bytes);

/* Orders non-temporal stores before all later stores. */
void data_rows_fence(void);

#endif
