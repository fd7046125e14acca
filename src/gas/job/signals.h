/* signals.h: SIGQUIT to ranks whose job ends, and gasnet_exit in signal handlers. */
#ifndef HEARTH_GAS_SIGNALS_H
#define HEARTH_GAS_SIGNALS_H

#include "gas/gas_internal.h"

/* After gas_box_open. */
void gas_signals_open(void);
/* The program continues without GASNet. */
void gas_signals_close(void);

/* Sends SIGQUIT to that rank of this node, as another one leaves with this code. Any thread of any process of the
 * node. */
void gas_signals_quit(int local, int code);

/* This thread ends the process: blocks such signals, and makes other ranks stop sending them. */
void gas_signals_hold(void);
/* If this thread has interrupted itself inside a call: ends the process with this code if it still exists after some
 * seconds. */
void gas_signals_guard(int code);

#endif
