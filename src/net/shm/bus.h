/* bus.h: explains a SIGBUS in shared memory. */
#ifndef HEARTH_NET_BUS_H
#define HEARTH_NET_BUS_H

/* Installs a SIGBUS handler. For an address that is listed in mapped.h, it logs one line that explains the fault,
 * and then lets the signal take its course: the previous handler, or the end of the process. Cheap after the first
 * call. Thread-safe. */
void net_bus_watch(void);

#endif
