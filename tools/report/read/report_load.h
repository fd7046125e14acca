/* report_load.h: the text of a report. */
#ifndef HEARTH_TOOLS_REPORT_LOAD_H
#define HEARTH_TOOLS_REPORT_LOAD_H

#include <stddef.h>

/* Loads the report at `path`, or what the ranks of a job that has not reached its end have written (parts_read.h): `length` bytes,
 * behind which one more is writable. The caller frees it. Returns 0 or an exit code after an error line. */
int report_load(const char *path, char **text, size_t *length);

#endif
