/* local.h: loads and stores of a rank in its own segment.
 *
 * The segment is a range of addresses without access. A load or store there faults; the page is got like any other
 * (pool.h), and its frame is mapped over it, to read or to read and write. When the page is wanted elsewhere, the
 * service asks the *mapper*, a thread of each rank, which takes the mapping back and says so.
 *
 *      fault -> pool_pin -> map -> pool_mapped -> pool_unpin -> the instruction again
 *      service -> frame in the mapper's list -> mapper: unmap or protect -> pool_lowered -> service goes on
 */
#ifndef HEARTH_PAGES_LOCAL_H
#define HEARTH_PAGES_LOCAL_H

#include "pages/ahead.h"
#include "pages/pool.h"

struct local; /* of a process; there is one at most */

struct local_options {
    uint64_t bytes;      /* of the segment, a multiple of the page */
    uint16_t home;       /* this node */
    uint32_t first_page; /* number of the segment's first page */
    int rank;            /* in this node */
    bool userfault;
    uint64_t stay_ns;
    struct ahead *ahead;                     /* who walks through it finds the next pages on their way; */
    unsigned ahead_most;                     /* so many, at most */
    _Atomic uint64_t *faults, *write_faults; /* counted there */
};

/* 0 and the address, a multiple of the page, or a negative code after a line. */
int local_open(struct pool *pool, const struct local_options *options, struct local **local, char **base);
void local_close(struct local *l);

/* The process is about to end, whatever its other threads do: their loads and stores do not return any more. After that, local_close
 * leaves the addresses as they are. */
void local_end(struct local *l);

/* For the service: asks that rank's mapper to lower the mapping of this frame, now or when it has stayed long enough.
 * Never waits. */
void local_ask(struct pool *pool, uint32_t frame, enum pages_level level);

#endif
