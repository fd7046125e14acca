/* slices.h: short scheduler slices for a thread that wakes to do little. */
#ifndef HEARTH_NET_SLICES_H
#define HEARTH_NET_SLICES_H

/* Linux 6.12 and later let a thread request short slices. When such a thread wakes, it preempts a thread with long
 * slices at once, instead of milliseconds later when that slice ends. Its share of the core stays the same. No
 * effect on other systems. */
void slices_make_short(void);

#endif
