/* agree.h: collective agreement on the status of a step. */
#ifndef HEARTH_NET_AGREE_H
#define HEARTH_NET_AGREE_H

#include <stdbool.h>

#include "net/boot/boot.h"

/* Collective. Each process passes 0 or a negative errno. All get the code of the lowest rank whose code is not 0;
 * -EEXIST (after which the caller tries another address) counts only if no rank has another code. Uses only one byte
 * of stack per process, so that a process that has run out of memory can still report it. */
int net_boot_agree(const struct net_boot *boot, int status);

/* Collective: whether all have the memory for `what`; a rank that has not logs a line. 0 or -ENOMEM, everywhere. */
int net_agree_on_memory(const struct net_boot *boot, bool has, const char *what);

#endif
