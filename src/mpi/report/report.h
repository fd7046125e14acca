/* report.h: the report at the end of the job. */
#ifndef HEARTH_MPI_REPORT_H
#define HEARTH_MPI_REPORT_H

/* In MPI_Finalize, collective: writes the report, if one is wanted. */
void report_at_end(void);

#endif
