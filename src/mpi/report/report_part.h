/* report_part.h: parts of the report that other libraries of the process, or the program, hand over (hearth_report_part). */
#ifndef HEARTH_MPI_REPORT_PART_H
#define HEARTH_MPI_REPORT_PART_H

#include "observe/json.h"

/* Writes the member "parts", if there are any. */
void report_parts_json(struct json *j);

/* The last report is written: further parts are refused. */
void report_parts_close(void);

#endif
