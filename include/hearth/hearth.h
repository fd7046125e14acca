/* hearth.h: calls that concern Hearth as a whole. Link with -lhearth-mpi. */
#ifndef HEARTH_H
#define HEARTH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Invalidates the cached data of windows in acquire mode; in transparent mode, later gets share no get that is in flight
 * now. For a process that has learned outside MPI (through a file, a socket, shared memory) that others may have written.
 * Constant time, from any thread. */
void hearth_acquire(void);

/* Pauses and resumes the heater, a thread that keeps Hearth's own data in the CPU's caches (HEARTH_HEATER). For
 * phases in which the program needs the caches and the memory bandwidth for itself. Resume it shortly before the next
 * communication. The calls nest. From any thread; a few nanoseconds each, and a microsecond to wake the heater after
 * a long pause. */
void hearth_heater_pause(void);
void hearth_heater_resume(void);

/* Adds a part to the report of the job in JSON (HEARTH_REPORT=FILE.json), under this name among its `parts`; a part of the
 * same name is replaced. `json` is one JSON value, which is copied. The report of the job has the parts of rank 0; if each
 * rank writes its own, it has those of the rank. Call before MPI_Finalize, from any thread. Returns 0, or -1 if no such
 * report will be written, or the value is not JSON. */
int hearth_report_part(const char *name, const char *json);

#ifdef __cplusplus
}
#endif
#endif
