/* report_heater.h: the heater section of the report. */
#ifndef HEARTH_MPI_REPORT_HEATER_H
#define HEARTH_MPI_REPORT_HEATER_H

#include <stdio.h>

#include "observe/json.h"

/* Gathers the counters of all ranks at rank 0; with ranks == 1 each rank keeps its own. Collective; call it first. */
void report_heaters_collect(int rank, int ranks);

/* One line for each heater that ran; all of them as a JSON array named "heaters". */
void report_heaters_text(FILE *file);
void report_heaters_json(struct json *j);

#endif
