/* events.h: what happens next. A queue of events in the order of their time, in nanoseconds from 0.
 *
 * Two events of one time come in the order in which they were added, so a simulation is a function of its
 * options and its seed alone: two runs print the same. What an event means is its owner's: `kind`, `who` and
 * `what` are not looked at. */
#ifndef HEARTH_SIM_EVENTS_H
#define HEARTH_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint64_t at;    /* ns */
    uint64_t order; /* of adding: set by events_add */
    uint32_t kind, who;
    uint64_t what;
};

struct events {
    struct event *heap; /* heap[0] is next; none of [2i + 1], [2i + 2] comes before [i] */
    size_t count, room;
    uint64_t added, taken, now;
};

void events_open(struct events *q);
void events_close(struct events *q);

/* Not before `now`, which would be a fault of the simulation: it ends the program. */
void events_add(struct events *q, uint64_t at, uint32_t kind, uint32_t who, uint64_t what);

/* The next one, and q->now is its time. False: nothing is left. */
bool events_next(struct events *q, struct event *e);

#endif
