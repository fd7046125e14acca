/* ahead.h: who walks through a segment page by page finds the next ones on their way.
 *
 * Pure: it says which pages to ask for, from those that it is told of. A few walks at a time, of any threads
 * of a process; lossy where they meet: a walk may be forgotten, and is noticed again two pages later. */
#ifndef HEARTH_PAGES_AHEAD_H
#define HEARTH_PAGES_AHEAD_H

#include <stdatomic.h>
#include <stdint.h>

enum { AHEAD_STREAMS = 8, AHEAD_MOST = 64 /* pages */ };

struct ahead {
    _Alignas(64) _Atomic uint64_t streams[AHEAD_STREAMS]; /* zeroed: none */
    _Atomic uint32_t hand;
};

/* Pages first, first + step, ...; none of them is asked for twice in a walk. */
struct ahead_pages {
    uint32_t first, count;
    int32_t step; /* 1 or -1 */
};

/* Of each page that was missed, or that was fetched ahead and is used for the first time: what to ask for
 * now. At most `most` pages are ahead of the walk. Page numbers do not overflow; the end of the segment is
 * the caller's. */
struct ahead_pages ahead_after(struct ahead *a, uint16_t home, uint32_t page, unsigned most);

#endif
