/* report_record.h: the part of the report in JSON that tells of the job, and of each process what was recorded there. */
#ifndef HEARTH_MPI_REPORT_RECORD_H
#define HEARTH_MPI_REPORT_RECORD_H

#include "base/base.h"

/* What was started when and with which settings, as rank 0 knows it. */
void report_job_json(struct json *j);

/* Of this process alone. */
void report_record_json(struct json *j, int rank);

/* Of all: rank 0 writes, or says that it will not; all others send, until either is done. */
void report_records_json(struct json *j, int ranks);
void report_records_none(void);
void report_records_send(int rank);

#endif
