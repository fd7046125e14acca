/* output_part.h: a library's part of the job's report in JSON. */
#ifndef HEARTH_OUTPUT_PART_H
#define HEARTH_OUTPUT_PART_H

#include "base/json.h"

/* Hands the part, an object that `write` fills, to libhearth-mpi if it is loaded and has not written its report yet. Otherwise
 * writes a report that has only this part: to the file of HEARTH_REPORT, or, if another library may write there, with the
 * name of the part inserted. Call in the process that writes: rank 0, or each if output_is_apart(). */
void output_part(const char *name, int rank, int ranks, const char *mpi,
                 void (*write)(struct json *j, const void *arg), const void *arg);

#endif
