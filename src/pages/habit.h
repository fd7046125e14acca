/* habit.h: shall a small operation fetch the page, or be done where the page is?
 *
 * Asked when the page of a small operation is not in the pool, or cannot be written there. A table of recent
 * pages, for all threads of a process; entries may be lost, and two pages may share one: an answer is never
 * wrong, only dear. */
#ifndef HEARTH_PAGES_HABIT_H
#define HEARTH_PAGES_HABIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pages/pages.h"

enum {
    HABIT_PAGES = 1024,
    HABIT_LEAST = 4,             /* small operations before a page is fetched */
    HABIT_MOST = 65536,          /* the same, if it is always taken away again */
    HABIT_SOON_NS = 10000000,    /* missing again so soon after it was fetched: others want it */
    HABIT_LONG_NS = 100000000,   /* after each such time without this, half as many small operations */
    HABIT_ON_ITS_WAY_NS = 50000, /* so soon it is not missing again, but not here yet */
};

struct habit {
    _Atomic uint64_t pages[HABIT_PAGES]; /* zeroed: nothing is known */
};

/* True: a small operation. False: the page is fetched, and it is taken as read that the caller does so. */
bool habit_is_small(struct habit *h, uint16_t home, uint32_t page, bool write, enum pages_hint hint,
                    uint64_t now_ns);

#endif
