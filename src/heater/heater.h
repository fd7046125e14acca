/* heater.h: a thread that keeps memory in the CPU's caches by touching it repeatedly. */
#ifndef HEARTH_HEATER_H
#define HEARTH_HEATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers these bytes with the heater; the first call starts it if the settings and the machine permit. The memory
 * must stay readable until retired. A base can be added once. Any thread may call it; not for hot paths. */
void heater_add(const void *base, size_t bytes);

/* Removes a registered region: after the return the heater does not touch it any more. */
void heater_retire(const void *base);

/* Pauses the heater until resumed; the calls nest. hearth.h offers them as hearth_heater_pause and
 * hearth_heater_resume. Each costs one atomic, and a system call to wake the heater if it was paused for more than a
 * millisecond. */
void heater_pause(void);
void heater_resume(void);

/* The number of processes that share the machine, including this one; 1 until set. Unless the settings force it, the
 * heater runs only if there is a core for each process and one more. */
void heater_neighbours(unsigned processes);

struct heater_counters {
    uint64_t rounds, lines; /* lines: total number touched */
    uint64_t bytes;         /* currently registered */
    int core;               /* the heater's core; -1: not running */
};
void heater_counters(struct heater_counters *counters);

/* The core on which the heater of this process would run now if `processes` processes shared the machine; or -1. For
 * listings: takes 0.2 s, widens the affinity of the calling thread to all its cores, and must not be called by a
 * process that uses the heater. */
int heater_preview(unsigned processes);

/* heater_stop ends the thread; regions stay registered, and heater_start continues with them. */
void heater_stop(void);
void heater_start(void);

#endif
