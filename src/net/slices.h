/* slices.h: short slices of time for a thread that wakes to do little. */
#ifndef HEARTH_NET_SLICES_H
#define HEARTH_NET_SLICES_H

/* Linux from 6.12 on lets a thread ask for short slices; one that wakes then takes the core from a thread with long
 * ones at once, instead of when that one's slice is over, milliseconds later. Its share of the core stays the same.
 * Other systems ignore it. */
void slices_make_short(void);

#endif
