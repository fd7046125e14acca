/* report_record.h: the JSON sections of the report that describe the job and the recording of each process. */
#ifndef HEARTH_MPI_REPORT_RECORD_H
#define HEARTH_MPI_REPORT_RECORD_H

#include "observe/json.h"

/* Version, format, ranks, and command, start time and settings of the job, as seen by rank 0. */
void report_job_json(struct json *j, int ranks);

/* The recording of this process alone. */
void report_record_json(struct json *j, int rank);

/* The recordings of all: rank 0 writes them, or announces that it will not; all others send until rank 0 is done. */
void report_records_json(struct json *j, int ranks);
void report_records_none(void);
void report_records_send(int rank);

#endif
