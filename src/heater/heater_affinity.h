/* heater_affinity.h: whether the heater runs, on which core, and how much it touches. */
#ifndef HEARTH_HEATER_AFFINITY_H
#define HEARTH_HEATER_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

struct heater_place {
    bool insist;         /* runs at any load; bound to a core if possible */
    int core;            /* the core it is bound to; -1: none */
    uint64_t used, when; /* CPU time used until the last choice, in ns, and the time of that choice */
};

/* Called by the heater's thread. heater_affinity_open: detects the cores; 0 or a negative code. heater_affinity_level:
 * the cache level that it keeps warm. heater_affinity_choose: whether to heat; binds the thread to a core.
 * heater_affinity_most: the bytes to touch. */
int heater_affinity_open(void);
unsigned heater_affinity_level(void);
bool heater_affinity_choose(struct heater_place *p);
uint64_t heater_affinity_most(void);

/* Records the core of the calling thread, which will need the data: the heater runs near it. */
void heater_affinity_note_caller(void);

/* Processes on this machine, including this one. */
unsigned heater_affinity_neighbours(void);

/* Fork handlers, called with the heater's lock held. */
void heater_affinity_before_fork(void);
void heater_affinity_after_fork(void);

#endif
