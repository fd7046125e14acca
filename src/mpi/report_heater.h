/* report_heater.h: the heaters' part of the report. */
#ifndef HEARTH_MPI_REPORT_HEATER_H
#define HEARTH_MPI_REPORT_HEATER_H

#include <stdio.h>

#include "base/base.h"

/* Brings the counters of all ranks to rank 0; ranks 1: each keeps its own. Collective, before the others. */
void report_heaters_collect(int rank, int ranks);

/* A line for each that ran; all of them as an array named "heaters". */
void report_heaters_text(FILE *file);
void report_heaters_json(struct json *j);

#endif
