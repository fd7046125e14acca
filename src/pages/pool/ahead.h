/* ahead.h: read-ahead: detects sequential page accesses and selects the pages to prefetch.
 *
 * Pure: it computes pages to prefetch from the accesses that are reported to it. It tracks a few streams at a time,
 * from any threads of a process. Concurrent updates are lossy: a stream may be forgotten, and is detected again two
 * pages later. */
#ifndef HEARTH_PAGES_AHEAD_H
#define HEARTH_PAGES_AHEAD_H

#include <stdatomic.h>
#include <stdint.h>

enum { AHEAD_STREAMS = 8, AHEAD_MOST = 64 /* pages */ };

struct ahead {
    _Alignas(64) _Atomic uint64_t streams[AHEAD_STREAMS]; /* zeroed: none */
    _Atomic uint32_t hand;
};

/* Pages first, first + step, ...; a stream requests no page twice. */
struct ahead_pages {
    uint32_t first, count;
    int32_t step; /* 1 or -1 */
};

/* Called for each page that was missed, or was prefetched and is used for the first time. Returns the pages to prefetch
 * now. At most `most` pages are ahead of the stream. Page numbers do not overflow; the caller checks the end of the
 * segment. */
struct ahead_pages pages_ahead_after(struct ahead *a, uint16_t home, uint32_t page, unsigned most);

#endif
