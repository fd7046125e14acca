/* signals.h: SIGQUIT to those whose job ends, and ends in signal handlers. */
#ifndef HEARTH_GAS_SIGNALS_H
#define HEARTH_GAS_SIGNALS_H

#include "gas/inside.h"

/* When the boxes are there. */
void signals_open(void);
/* The program goes on without GASNet. */
void signals_close(void);

/* That rank of this node is told by SIGQUIT that another one leaves with this code. Any thread, any process of the node. */
void signals_quit(int local, int code);

/* This thread ends the process, and is not to be interrupted by such signals; nobody sends any more. */
void signals_hold(void);
/* If this thread has interrupted itself inside of a call: ends the process with this code after some seconds, if it is still there. */
void signals_guard(int code);

#endif
