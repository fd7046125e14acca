/* address_picker.h: picks addresses that are probably free in this process and in others. */
#ifndef HEARTH_NET_ADDRESS_PICKER_H
#define HEARTH_NET_ADDRESS_PICKER_H

#include <stdbool.h>
#include <stdint.h>

enum { ADDRESS_TRIES = 16 };

/* An address for the try-th attempt (0 ... ADDRESS_TRIES - 1) to map `bytes`: aligned to a page, or to 2 MiB if
 * `bytes` is at least that. 0, with errno: the system does not give that much address space. */
uint64_t net_address_pick(uint64_t bytes, unsigned try);

/* The address was free. The next pick begins behind it. */
void net_address_took(uint64_t base, uint64_t bytes);

/* Whether address space is scarce, as under ThreadSanitizer. Callers then map no more than they need. */
bool net_address_is_scarce(void);

#endif
