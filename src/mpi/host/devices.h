/* devices.h: hardware whose memory `auto` leaves to the MPI. */
#ifndef HEARTH_MPI_DEVICES_H
#define HEARTH_MPI_DEVICES_H

#include <stdbool.h>

/* Whether this process has loaded the runtime of a GPU, so that buffers may lie in its memory. A process may load one at any time. */
bool devices_have_gpu(void);

#endif
