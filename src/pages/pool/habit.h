/* habit.h: fetch policy: whether a small operation fetches the page or is executed as a remote operation.
 *
 * Consulted when the page of a small operation is not in the pool, or cannot be written there. A table of recent pages,
 * for all threads of a process. Entries may be lost, and two pages may share one: collisions cost time, not
 * correctness. */
#ifndef HEARTH_PAGES_HABIT_H
#define HEARTH_PAGES_HABIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pages/pages.h"

enum {
    HABIT_PAGES = 1024,
    HABIT_LEAST = 4,             /* remote operations before a page is fetched */
    HABIT_MOST = 65536,          /* the same, if the page is always taken away again */
    HABIT_SOON_NS = 10000000,    /* missing again so soon after its fetch: contended */
    HABIT_LONG_NS = 100000000,   /* after each such period without a loss, the threshold is halved */
    HABIT_ON_ITS_WAY_NS = 50000, /* a page missing so soon has not arrived yet */
};

struct habit {
    _Atomic uint64_t pages[HABIT_PAGES]; /* zeroed: nothing is known */
};

/* True: execute a remote operation. False: fetch the page; the policy assumes that the caller does so. */
bool habit_is_small(struct habit *h, uint16_t home, uint32_t page, bool write, enum pages_hint hint,
                    uint64_t now_ns);

#endif
