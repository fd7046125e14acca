/* agree.h: did it work for all? */
#ifndef HEARTH_NET_AGREE_H
#define HEARTH_NET_AGREE_H

#include "net/boot.h"

/* Collective. Each brings 0 or a negative errno; all get that of the lowest rank that has one other
 * than 0, where -EEXIST, after which one tries elsewhere, counts only if no one has another. Takes no
 * memory but a byte of the stack per process, so that even who has run out of it can say so. */
int net_agree(const struct net_boot *boot, int status);

#endif
