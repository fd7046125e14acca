/* output_part.h: a library's part of the job's report in JSON. */
#ifndef HEARTH_OUTPUT_PART_H
#define HEARTH_OUTPUT_PART_H

#include "observe/json.h"

/* The library that writes the report of the whole job takes parts of others, as JSON; `take` returns 0, or -1 if that report is
 * written already. */
typedef int output_part_taker(const char *name, const char *json);
void output_parts_to(output_part_taker *take);

/* A library of this process may write a part of its own. Called when the library is loaded. */
void output_part_announce(void);

/* Hands the part, an object that `write` fills, to the library that writes the report of the job. If there is none, or it has
 * written its report, writes a report that has only this part: to the file of HEARTH_REPORT, or, if another library may write
 * there, with the name of the part inserted. Call in the process that writes: rank 0, or each if output_is_apart(). */
void output_part(const char *name, int rank, int ranks, const char *mpi,
                 void (*write)(struct json *j, const void *arg), const void *arg);

#endif
