/* bus.h: what a SIGBUS in shared memory means. */
#ifndef HEARTH_NET_BUS_H
#define HEARTH_NET_BUS_H

/* From now on a SIGBUS at an address that mapped.h lists is explained by one line before it takes its course: the
 * handler that was there before, or the end of the process. Cheap after the first call; any thread. */
void bus_watch(void);

#endif
