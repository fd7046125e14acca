/* sched_slice.h: short scheduler slices for a thread that wakes to do little. */
#ifndef HEARTH_NET_SCHED_SLICE_H
#define HEARTH_NET_SCHED_SLICE_H

/* Linux 6.12 and later let a thread request short slices. When such a thread wakes, it preempts a thread with long
 * slices at once, instead of milliseconds later when that slice ends. Its share of the core stays the same. No
 * effect on other systems. */
void net_sched_slice_shorten(void);

#endif
