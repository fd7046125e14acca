/* local.h: loads and stores of a rank in its own segment.
 *
 * The segment is a range of addresses without access. A load or store there faults. The handler gets the page like any
 * other (pool.h) and maps its frame there, for reading or for reading and writing. When another node needs the page,
 * the service asks the *mapper*, a thread of each rank, which removes the mapping and reports back.
 *
 *      fault -> pages_pool_pin -> map -> pages_pool_mapped -> pages_pool_unpin -> the instruction is restarted
 *      service -> frame in the mapper's list -> mapper: unmap or protect -> pages_pool_lowered -> service continues */
#ifndef HEARTH_PAGES_LOCAL_H
#define HEARTH_PAGES_LOCAL_H

#include "pages/pool/ahead.h"
#include "pages/pool/pool.h"

struct local; /* of a process; there is at most one */

struct local_options {
    uint64_t bytes;      /* of the segment, a multiple of the page size */
    uint16_t home;       /* this node */
    uint32_t first_page; /* number of the segment's first page */
    int rank;            /* in this node */
    bool userfault;
    uint64_t stay_ns;
    struct ahead *ahead;                     /* read-ahead state; may be NULL */
    unsigned ahead_most;                     /* maximum read-ahead, pages */
    _Atomic uint64_t *faults, *write_faults; /* counters to increment; may be NULL */
};

/* Returns 0 and the address, a multiple of the page size, or a negative code after an error line. */
int pages_local_open(struct pages_pool *pool, const struct local_options *options, struct local **local,
                     char **base);
void pages_local_close(struct local *l);

/* The process is about to exit while its other threads still run: their loads and stores no longer return. After this,
 * pages_local_close keeps the addresses reserved. */
void pages_local_end(struct local *l);

/* Called by the service: asks that rank's mapper to lower the mapping of this frame, now or when its minimum residency
 * is over. Never waits. */
void pages_mapper_ask(struct pages_pool *pool, uint32_t frame, enum pages_level level);

#endif
