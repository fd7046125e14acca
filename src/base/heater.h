/* heater.h: a thread that keeps memory in the CPU's caches by touching it again and again. */
#ifndef HEARTH_HEATER_H
#define HEARTH_HEATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on these bytes are kept warm, where a heater runs; starts it at the first call, if the settings
 * and the machine allow. The memory must stay readable until retired. A base can be added once. Any thread;
 * not on a hot path. */
void heater_add(const void *base, size_t bytes);

/* No longer: after the return the heater does not touch it any more. The base is one that was added. */
void heater_retire(const void *base);

/* The heater rests until resumed; the calls nest. hearth_heater_pause() and _resume() of hearth.h. One
 * atomic each, and a system call to wake it if it rested for more than a millisecond. */
void heater_pause(void);
void heater_resume(void);

/* So many processes share the machine, this one among them: 1 until said. Without a core for each and one
 * more there is no heater, unless the settings insist. */
void heater_neighbours(unsigned processes);

struct heater_counters {
    uint64_t rounds, lines; /* lines: touched in all */
    uint64_t bytes;         /* registered now */
    int core;               /* where it runs; -1: it does not */
};
void heater_counters(struct heater_counters *counters);

/* Where a heater would run just now, for a process like this one of so many: its core, or -1. For listings:
 * takes 0.2 s, widens the calling thread to all its cores, and is not for a process that heats. */
int heater_preview(unsigned processes);

/* Ends the thread. Regions stay registered; heater_start goes on with them. */
void heater_stop(void);
void heater_start(void);

#endif
