/* fetch_policy.h: fetch policy: whether a small operation fetches the page or is executed as a remote operation.
 *
 * Consulted when the page of a small operation is not in the pool, or cannot be written there. A table of recent pages,
 * for all threads of a process. Entries may be lost, and two pages may share one: collisions cost time, not
 * correctness. */
#ifndef HEARTH_PAGES_FETCH_POLICY_H
#define HEARTH_PAGES_FETCH_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pages/pages.h"

enum {
    POLICY_PAGES = 1024,
    POLICY_LEAST = 4,             /* remote operations before a page is fetched */
    POLICY_MOST = 65536,          /* the same, if the page is always taken away again */
    POLICY_SOON_NS = 10000000,    /* missing again so soon after its fetch: contended */
    POLICY_LONG_NS = 100000000,   /* after each such period without a loss, the threshold is halved */
    POLICY_ON_ITS_WAY_NS = 50000, /* a page missing so soon has not arrived yet */
};

struct fetch_policy {
    _Atomic uint64_t pages[POLICY_PAGES]; /* zeroed: nothing is known */
};

/* True: execute a remote operation. False: fetch the page; the policy assumes that the caller does so. */
bool pages_policy_is_small(struct fetch_policy *h, uint16_t home, uint32_t page, bool write,
                           enum pages_hint hint, uint64_t now_ns);

#endif
