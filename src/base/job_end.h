/* job_end.h: the one way in which Hearth ends a job that cannot continue. The caller has logged why. */
#ifndef HEARTH_JOB_END_H
#define HEARTH_JOB_END_H

/* Ends the job, once all lines have reached their reader. On a thread of the program as the interface above does it, which is MPI_Abort;
 * on a thread of Hearth's own, or where no MPI is at work, the process exits, and the launcher ends the job. The exit status is never
 * 0, which would report success to a batch system: it is the code, or EXIT_FAILURE if that is a multiple of 256. */
_Noreturn void job_end(int code);

/* How the interface ends the job. `end` may return if it has no job to end: before MPI_Init, and after MPI_Finalize. The last one
 * that registers counts. */
void job_end_register(void (*end)(int code));

/* This thread is one of Hearth's own, so job_end makes no call of the interface on it, such as one of MPI. */
void job_end_by_exit(void);

#endif
