/* collect.c: see collect.h. The bootstrap can only gather from all processes to all. If the contributions of all would take too much
 * memory, they are gathered in slices:
 *
 *      round 0: bytes 0 ... s - 1 of all ranks      round 1: bytes s ... 2 s - 1      ...
 *
 * After each round, the slices of the wanted ranks are copied into the table. */
#include "net/boot/collect.h"

#include <stdint.h>
#include <string.h>

enum { SMALLEST = 16 };                 /* bytes of a slice */
#define SCRATCH_MOST ((size_t)16 << 20) /* unless the smallest slices need more */

static size_t slice_bytes(int size, size_t bytes) {
    size_t slice = SCRATCH_MOST / (size_t)size;
    slice = slice < SMALLEST ? SMALLEST : slice;
    return slice < bytes ? slice : bytes;
}

size_t net_collect_scratch(int size, size_t bytes) {
    return (size_t)size * slice_bytes(size, bytes);
}

int net_boot_collect(const struct net_boot *boot, const void *mine, size_t bytes, void *scratch, int count,
                     int (*rank_of)(const void *arg, int i), const void *arg, void *table) {
    size_t slice = slice_bytes(boot->size, bytes);
    for (size_t from = 0; from < bytes; from += slice) {
        size_t part = bytes - from < slice ? bytes - from : slice;
        int status = net_boot_gather(boot, (const char *)mine + from, scratch, part);
        if (status != 0)
            return status;
        for (int i = 0; table && i < count; i++)
            memcpy((char *)table + (size_t)i * bytes + from,
                   (const char *)scratch + (size_t)rank_of(arg, i) * part, part);
    }
    return 0;
}
