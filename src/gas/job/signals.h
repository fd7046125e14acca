/* signals.h: signals at the end of a job; makes gasnet_exit safe in signal handlers. */
#ifndef HEARTH_GAS_SIGNALS_H
#define HEARTH_GAS_SIGNALS_H

#include "gas/process/process.h"

/* After gas_box_open. */
void gas_signals_open(void);
/* The program continues without GASNet. */
void gas_signals_close(void);

/* Called by the thread that ends the process: blocks these signals, and makes other ranks stop sending them. Returns whether
 * SIGQUIT was blocked before, as it is in a handler of it. */
bool gas_signals_hold(void);
/* If the caller is a signal handler, of this library or one that has interrupted a call of it, or if the program's handler of
 * SIGQUIT leaves alone: ends the process with this code if it still exists after some seconds. */
void gas_signals_guard(int code, bool in_quit);
/* The other ranks have arrived, and closing may take longer. */
void gas_signals_guard_longer(void);

#endif
