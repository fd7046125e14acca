/* rows.h: copies rows of equal size. Internal to data/. */
#ifndef HEARTH_DATA_ROWS_H
#define HEARTH_DATA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patch_rows;

/* Copies rows of `bytes` bytes; those of the two sides do not overlap. */
void data_rows_copy(char *to, int64_t to_stride, const char *from, int64_t from_stride, uint64_t rows,
                    size_t bytes);

/* At least one row of at least one byte. `streaming`: with non-temporal stores, if that pays for these rows; call
 * data_rows_fence after the last ones. */
void data_rows_copy_run(const struct patch_rows *r, bool streaming);

/* Whether non-temporal stores pay for a copy of this many bytes. */
bool data_rows_are_streamed(uint64_t bytes);

/* Orders non-temporal stores before all later stores. */
void data_rows_fence(void);

#endif
