/* collect.h: gathers the contributions of some ranks without memory for those of all. */
#ifndef HEARTH_NET_COLLECT_H
#define HEARTH_NET_COLLECT_H

#include <stddef.h>

#include "net/boot/boot.h"

/* Bytes of memory that net_boot_collect needs meanwhile. */
size_t net_collect_scratch(int size, size_t bytes);

/* Collective. Each process contributes `bytes` bytes. table[i], unless table is NULL, gets those of rank_of(arg, i), for
 * i < count. Returns 0, or a code as net_boot_gather. */
int net_boot_collect(const struct net_boot *boot, const void *mine, size_t bytes, void *scratch, int count,
                     int (*rank_of)(const void *arg, int i), const void *arg, void *table);

#endif
