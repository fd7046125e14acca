/* job.h: what this process is a part of, for reports. */
#ifndef HEARTH_JOB_H
#define HEARTH_JOB_H

#include "observe/json.h"

/* Seconds since this library was loaded. */
double job_seconds(void);

/* Writes the first members of a report: version, format, number of ranks, and how the job was started. `mpi`: the MPI's
 * version; of several lines the first, without control characters.
 *
 * The format number changes when a reader of the old format would misread the new one: see tools/report/read/report_read.c. */
void job_json(struct json *j, int ranks, const char *mpi);

#endif
