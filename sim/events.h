/* events.h: a queue of events in the order of their time, in nanoseconds from 0.
 *
 * Two events of the same time are returned in the order in which they were added, so a simulation depends only
 * on its options and its seed: two runs print the same. The owner defines the meaning of `kind`, `who` and
 * `what`; the queue does not interpret them. */
#ifndef HEARTH_SIM_EVENTS_H
#define HEARTH_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint64_t at;    /* ns */
    uint64_t order; /* of insertion: set by events_add */
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

/* `at` before `now` is a bug of the simulation and ends the program. */
void events_add(struct events *q, uint64_t at, uint32_t kind, uint32_t who, uint64_t what);

/* Returns the next event and sets q->now to its time. False: the queue is empty. */
bool events_next(struct events *q, struct event *e);

#endif
