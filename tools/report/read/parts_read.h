/* parts_read.h: the report of a job that has not reached its end, from the parts of its ranks (observe/parts.h). */
#ifndef HEARTH_TOOLS_PARTS_READ_H
#define HEARTH_TOOLS_PARTS_READ_H

#include <stddef.h>

/* Merges the parts beside this report into one report, which the caller frees: lists are joined in the order of the ranks, other
 * values are those of the lowest rank, and "partial" says why it is partial. NULL if there are none, or if the report itself is
 * newer: then the job has reached its end. */
char *parts_read(const char *report, size_t *length);

#endif
