/* segment.h: memory of one process that the others on the node map. */
#ifndef HEARTH_NET_SEGMENT_H
#define HEARTH_NET_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "net/shm/memfile.h"

/* It begins with its struct segment_token. */
struct segment {
    void *base; /* NULL: not open */
    size_t bytes;
    int file; /* the owner's descriptor; -1 in the others */
    int process;
};

/* Creates a segment with all of its memory committed, zeroed except for the token. Returns 0, or a negative code
 * after logging a warning. */
int net_segment_create(struct segment *s, size_t bytes, struct net_address *address);

/* Maps the segment of another process, which messages call `rank`. -EPERM, -EACCES, -ENOENT: the system denies
 * access; -ESTALE: it is not the segment that was announced; -ENOMEM ... */
int net_segment_attach(struct segment *s, const struct net_address *address, int rank);

/* The same for other uses: `otherwise` ends the warning, and states the consequence of the failure. */
int net_segment_create_for(const char *otherwise, struct segment *s, size_t bytes,
                           struct net_address *address);
int net_segment_attach_for(const char *otherwise, struct segment *s, const struct net_address *address,
                           int rank);

/* All have attached: closes the owner's descriptor. */
void net_segment_settle(struct segment *s);

void net_segment_close(struct segment *s);

#endif
