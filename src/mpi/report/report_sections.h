/* report_sections.h: the sections of the report that other files than report.c write. */
#ifndef HEARTH_MPI_REPORT_SECTIONS_H
#define HEARTH_MPI_REPORT_SECTIONS_H

#include <stdio.h>

#include "observe/json.h"

/* ---- report_record.c: the job, and the recording of each process ---- */

/* Version, format, ranks, and command, start time and settings of the job, as seen by rank 0. */
void report_job_json(struct json *j, int ranks);

/* The recording of this process alone. */
void report_record_json(struct json *j, int rank);

/* The recordings of all: rank 0 writes them, or announces that it will not; all others send until rank 0 is done. */
void report_records_json(struct json *j, int ranks);
void report_records_none(void);
void report_records_send(int rank);

/* ---- report_heater.c: the heaters of all processes ---- */

/* Gathers the counters of all ranks at rank 0; with ranks == 1 each rank keeps its own. Collective; call it first. */
void report_heaters_collect(int rank, int ranks);

/* All of them, as a JSON array named "heaters". */
void report_heaters_json(struct json *j);

/* ---- report_part.c: what other libraries of the process, or the program, hand over (hearth_report_part) ---- */

/* Writes the member "parts", if there are any. */
void report_parts_json(struct json *j);

/* The last report is written: further parts are refused. */
void report_parts_close(void);

#endif
