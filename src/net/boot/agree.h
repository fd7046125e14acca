/* agree.h: collective agreement on the status of a step. */
#ifndef HEARTH_NET_AGREE_H
#define HEARTH_NET_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/boot/boot.h"

/* Collective. Each process passes 0 or a negative errno. All get the code of the lowest rank whose code is not 0;
 * -EEXIST (after which the caller tries another address) counts only if no rank has another code. Uses only one byte
 * of stack per process, so that a process that has run out of memory can still report it. */
int net_boot_agree(const struct net_boot *boot, int status);

/* Collective. Of the ranks with equal complaints about settings, the lowest logs them: see settings_hold. If the ranks do not ask for the
 * same kind of report, none is written: see output_kind. Returns 0, or on all ranks a negative code, after an error line if a
 * setting that makes nodes is not the same on all of them. */
int net_agree_on_settings(const struct net_boot *boot);

/* Collective. `has`: this rank could allocate memory for `what`; otherwise it logs an error. Returns 0 if all could, or
 * -ENOMEM, in all ranks. */
int net_agree_on_memory(const struct net_boot *boot, bool has, const char *what);

/* Collective. Returns whether all ranks pass the same key, and none passes 0. */
bool net_agree_on_key(const struct net_boot *boot, uint64_t key);

#endif
